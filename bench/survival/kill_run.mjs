// A proxy with a log in files under load, killed at random moments and started again, again and again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startLoad } from "./load.mjs";
import { openProxy } from "./proxies.mjs";
import { randomFrom } from "./random.mjs";
import { writeRecordings } from "./recordings.mjs";
import { tally } from "./tally.mjs";
import { openUpstream } from "./upstream.mjs";

// So many of all kills come while the process starts, which takes about so long.
const whileStarting = 0.15;
const startMs = 60;

/**
 * `kills` of them; each comes up to `aliveMs` after readers have got something again, or while the process starts: `seed` says when.
 * `sync` is the log's policy, `tokens` the pieces of an answer's text, one every `interval` ms. Resolves to what tally() gives, and
 * `downMs` from a kill until the next process listened.
 */
export async function killRun({ kills, seed, sync = "never", atOnce = 40, tokens = 150, interval = 20, aliveMs = 700, answers = 20, onKill }) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-kills-"));
  const recordings = writeRecordings(folder, answers, tokens, seed);
  const random = randomFrom(seed);
  const running = [];
  let clean = false;
  try {
    const upstream = await openUpstream(recordings, interval);
    running.push(upstream.close);
    const proxy = await openProxy(folder, "proxy", {
      upstreams: [{ name: "simulated", base_url: upstream.address, continuation: ["prefix"] }],
      log: `file:${join(folder, "log")}`,
      log_file: { sync },
    });
    running.push(() => proxy.end("SIGKILL"));
    const killed = [];
    const downMs = [];
    const begun = performance.now();
    const load = startLoad({ atOnce, recordings, address: proxy.address });
    running.push(() => void load.end());
    while (killed.length < kills) {
      const starting = random() < whileStarting;
      const moment = random();
      if (!starting) {
        await proxy.listens();
        if (killed.length > 0) downMs.push(Date.now() - killed.at(-1));
        await load.progress();
      }
      await setTimeout(moment * (starting ? startMs : aliveMs));
      killed.push(Date.now());
      await proxy.end("SIGKILL");
      proxy.begin();
      onKill?.(killed.length, load.streams.length);
    }
    await proxy.listens();
    await load.end();
    const result = tally(load.streams, await upstream.requests(), killed);
    result.faults.push(...proxy.ownEnds);
    clean = result.faults.length === 0;
    return { ...result, kills, downMs: downMs.sort((a, b) => a - b), seconds: (performance.now() - begun) / 1000, folder };
  } finally {
    for (const close of running.reverse()) await close();
    // What a fault can be looked for in stays.
    if (clean) rmSync(folder, { recursive: true, force: true });
  }
}
