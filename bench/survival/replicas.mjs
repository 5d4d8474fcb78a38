// Three replicas, Redis and nginx; streams read through the package; every two seconds a replica killed and started again.
//   node bench/survival/replicas.mjs [--streams 500] [--seconds 120] [--every 2000] [--replicas 3] [--redis-restarts 0]
//     [--redis-signal SIGTERM] [--redis-away 500] [--forgetful] [--pause 0] [--by-name] [--seed 1] [--tokens 150] [--interval 200]
//     [--log URL] [--level warning]
// Prints what became of the streams; exit status 1 where one of them was not what it should be, or the model was asked too often.
// Needs nginx and redis-server on the PATH.
import { parseArgs } from "node:util";
import { replicaRun } from "./replica_run.mjs";

const { values: given } = parseArgs({
  options: {
    streams: { type: "string", default: "500" },
    seconds: { type: "string", default: "120" },
    every: { type: "string", default: "2000" },
    replicas: { type: "string", default: "3" },
    "redis-restarts": { type: "string", default: "0" },
    "redis-signal": { type: "string", default: "SIGTERM" },
    pause: { type: "string", default: "0" },
    forgetful: { type: "boolean", default: false },
    "by-name": { type: "boolean", default: false },
    "redis-away": { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    tokens: { type: "string", default: "150" },
    interval: { type: "string", default: "200" },
    log: { type: "string" },
    level: { type: "string", default: "warning" },
  },
});
console.log(Object.entries(given).map(([name, value]) => `${name} ${value}`).join(", "));
const { faults, folder, ...sum } = await replicaRun({
  streams: Number(given.streams),
  seconds: Number(given.seconds),
  everyMs: Number(given.every),
  replicas: Number(given.replicas),
  redisRestarts: Number(given["redis-restarts"]),
  redisSignal: given["redis-signal"],
  redisAwayMs: Number(given["redis-away"]),
  seed: Number(given.seed),
  tokens: Number(given.tokens),
  interval: Number(given.interval),
  pauseMs: Number(given.pause),
  byName: given["by-name"],
  persists: !given.forgetful,
  log: given.log,
  level: given.level,
  onKill: ({ at, victim, streams }) => console.log(`${at.toFixed(1)} s: ${victim}, ${streams} streams so far`),
});
console.log(sum);
for (const fault of faults) console.log(`FAULT ${fault}`);
if (faults.length > 0) {
  console.log(`left to look at: ${folder}`);
  process.exitCode = 1;
}
