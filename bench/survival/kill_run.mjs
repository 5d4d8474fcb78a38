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

/**
 * `kills` of them; between a start and the kill after it lie up to `aliveMs`, `seed` says how long each time. `sync` is the log's
 * policy, `tokens` the pieces of an answer's text, one every `interval` ms. Resolves to what tally() gives, and `downMs` from a
 * kill until the next process answered. `onFault` is told at once of each fault of a stream.
 */
export async function killRun({ kills, seed, sync = "never", atOnce = 40, tokens = 150, interval = 20, aliveMs = 700, answers = 20, onFault, onKill }) {
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
    const load = startLoad({ atOnce, recordings, address: proxy.address, onFault });
    running.push(() => void load.end());
    while (killed.length < kills) {
      await setTimeout(random() * aliveMs);
      killed.push(Date.now());
      downMs.push(await proxy.restart("SIGKILL"));
      onKill?.(killed.length, load.streams.length);
    }
    await load.end();
    const result = tally(load.streams, await upstream.requests(), killed);
    result.faults.push(...proxy.ownEnds);
    clean = result.faulty === 0 && result.faults.length === 0;
    return { ...result, kills, downMs: downMs.sort((a, b) => a - b), seconds: (performance.now() - begun) / 1000, folder };
  } finally {
    for (const close of running.reverse()) await close();
    // What a fault can be looked for in stays.
    if (clean) rmSync(folder, { recursive: true, force: true });
  }
}
