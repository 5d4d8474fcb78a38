// Replicas behind nginx that share a Redis, under load: one of them is killed and started again every few seconds, and Redis, too.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startLoad } from "./load.mjs";
import { openNginx } from "./nginx.mjs";
import { secondsOf } from "./processor_time.mjs";
import { openProxy } from "./proxies.mjs";
import { randomFrom } from "./random.mjs";
import { writeRecordings } from "./recordings.mjs";
import { openRedis } from "./redis.mjs";
import { tally } from "./tally.mjs";
import { openUpstream } from "./upstream.mjs";

/**
 * `streams` at once for `seconds`; every `everyMs` one of `replicas` is killed, or stands still for `pauseMs`; 0: none. In between
 * Redis is ended `redisRestarts` times by `redisSignal` and is away for `redisAwayMs`; SIGSTOP: it stands still for so long. Unless
 * it `persists` it comes back empty. `log` undefined: that Redis. nginx goes round, or `byName` (nginx.mjs). Resolves to what tally()
 * gives, and `processor`: time in percent of a core, by program.
 */
export async function replicaRun(options) {
  const { streams, seconds, everyMs = 2000, replicas = 3, seed, tokens = 150, interval = 200, answers = 20 } = options;
  const { redisRestarts = 0, redisSignal = "SIGTERM", redisAwayMs = 500, pauseMs = 0, byName = false, persists = true, log, level = "warning", onKill } = options;
  const folder = mkdtempSync(join(tmpdir(), "tidemark-replicas-"));
  const recordings = writeRecordings(folder, answers, tokens, seed);
  const random = randomFrom(seed);
  const running = [];
  let clean = false;
  try {
    const upstream = await openUpstream(recordings, interval);
    running.push(upstream.close);
    const redis = await openRedis(folder, { persists });
    running.push(() => redis.end("SIGKILL"));
    const shared = {
      upstreams: [{ name: "simulated", base_url: upstream.address, continuation: ["prefix"] }],
      log: log ?? `${redis.url}/0`,
    };
    const proxies = [];
    for (let i = 0; i < replicas; ++i) {
      const proxy = await openProxy(folder, `replica-${i}`, shared, level);
      proxies.push(proxy);
      running.push(() => proxy.end("SIGKILL"));
    }
    const nginx = await openNginx(folder, proxies.map(({ port }) => port), { byName });
    running.push(() => nginx.end("SIGTERM"));

    const killed = [];
    const outages = [];
    const begun = performance.now();
    const elapsed = () => performance.now() - begun;
    const self = secondsOf(process.pid);
    const load = startLoad({ atOnce: streams, recordings, address: nginx.address });
    running.push(() => void load.end());
    const over = seconds * 1000;

    const killReplicas = async () => {
      for (let at = everyMs; everyMs > 0 && at < over; at += everyMs) {
        await setTimeout(Math.max(0, at - elapsed()));
        const victim = Math.floor(random() * replicas);
        killed.push(Date.now());
        onKill?.({ at: elapsed() / 1000, victim: `replica ${victim}`, streams: load.streams.length });
        if (pauseMs > 0) await proxies[victim].pause(pauseMs);
        else await proxies[victim].restart("SIGKILL");
      }
    };
    const restartRedis = async () => {
      for (let i = 1; i <= redisRestarts; ++i) {
        await setTimeout(Math.max(0, (over * i) / (redisRestarts + 1) - elapsed()));
        onKill?.({ at: elapsed() / 1000, victim: `Redis, ${redisSignal}`, streams: load.streams.length });
        const outage = { from: Date.now(), to: Infinity, empty: !persists };
        outages.push(outage);
        if (redisSignal === "SIGSTOP") await redis.pause(redisAwayMs);
        else await redis.restart(redisSignal, redisAwayMs);
        // Until all replicas are connected again, and have written what it lacks.
        outage.to = Date.now() + 5000;
      }
    };
    await Promise.all([killReplicas(), restartRedis(), setTimeout(over)]);
    await load.end();
    const took = elapsed() / 1000;
    const percent = (used) => Math.round((used / took) * 100);
    const processor = {
      replicas: percent(proxies.reduce((sum, proxy) => sum + proxy.processorSeconds(), 0)),
      redis: percent(redis.processorSeconds()),
      nginx: percent(nginx.processorSeconds()),
      upstream: percent(upstream.processorSeconds()),
      readers: percent(secondsOf(process.pid) - self),
    };
    const result = tally(load.streams, await upstream.requests(), killed, outages);
    for (const server of [...proxies, redis, nginx]) result.faults.push(...server.ownEnds);
    clean = result.faults.length === 0;
    return { ...result, kills: killed.length, seconds: took, processor, folder };
  } finally {
    for (const close of running.reverse()) await close();
    // What a fault can be looked for in stays.
    if (clean) rmSync(folder, { recursive: true, force: true });
  }
}
