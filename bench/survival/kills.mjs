// 1,000 times `kill -9` on a proxy with a log in files, under load, each followed by a restart and a resume of all its readers.
//   node bench/survival/kills.mjs [--kills 1000] [--seed 1] [--sync never] [--at-once 40] [--tokens 150] [--interval 20] [--alive 700]
// Prints what became of the streams; exit status 1 where one of them was not what it should be.
import { parseArgs } from "node:util";
import { killRun } from "./kill_run.mjs";

const { values: given } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    sync: { type: "string", default: "never" },
    "at-once": { type: "string", default: "40" },
    tokens: { type: "string", default: "150" },
    interval: { type: "string", default: "20" },
    alive: { type: "string", default: "700" },
  },
});
const { kills, seed, sync, "at-once": atOnce, tokens, interval, alive } = given;
console.log(`seed ${seed}, sync ${sync}, ${kills} kills, ${atOnce} streams at once of ${tokens} pieces, one every ${interval} ms`);
const { faults, downMs, folder, ...sum } = await killRun({
  kills: Number(kills),
  seed: Number(seed),
  sync,
  atOnce: Number(atOnce),
  tokens: Number(tokens),
  interval: Number(interval),
  aliveMs: Number(alive),
  onKill: (count, streams) => count % 100 === 0 && console.log(`${count} kills, ${streams} streams`),
});
console.log(sum);
const quantile = (q) => downMs[Math.floor(q * downMs.length)].toFixed(0);
console.log(`from a kill until the next process listens: median ${quantile(0.5)} ms, 99 % ${quantile(0.99)} ms`);
for (const fault of faults) console.log(`FAULT ${fault}`);
if (faults.length > 0) {
  console.log(`left to look at: ${folder}`);
  process.exitCode = 1;
}
