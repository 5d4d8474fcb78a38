// Proxies in front of one simulated upstream, each for one request at a time, so that the upstream's requests can be
// counted while many requests are under way.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { program, start } from "../e2e/start.mjs";

const recording = fileURLToPath(new URL("answer.jsonl", import.meta.url));

/** What is the same in all tests: repeating takes no time, nothing is silent for too long, no breaker opens. */
const common = {
  listen: "127.0.0.1:0",
  stream_first_byte_timeout_ms: 60000,
  stream_idle_timeout_ms: 60000,
  commit_hold_ms: 60000,
  hold_max_ms: 60000,
  retry: { attempts: 3, base_ms: 5, factor: 1, jitter_ms: 0, max_ms: 5 },
  breaker: { open_seconds: 0 },
  drain_seconds: 1,
};

/** A proxy before another upstream than the simulated one. */
export async function openProxy(upstream) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-sdk-"));
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify({ ...common, upstreams: [{ name: "other", base_url: upstream }] }));
  const proxy = await start(program, "serve", "--config", file, "--log-level", "warning");
  return {
    address: proxy.address,
    async close() {
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `interval`: between the upstream's events, in ms. `upstream`: further keys of the proxies' upstream. */
export async function openStage({ proxies = 1, config = {}, keys, upstream: more, interval = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-sdk-"));
  const running = [];
  const close = async () => {
    await Promise.all(running.map((each) => each.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const flags = ["--listen", "127.0.0.1:0", "--interval", String(interval), "--recording", recording];
    const upstream = await start(program, "simulate", ...flags);
    running.push(upstream);
    const file = join(folder, "config.json");
    const upstreams = [{ name: "simulated", base_url: upstream.address, ...(keys && { api_keys: keys }), ...more }];
    writeFileSync(file, JSON.stringify({ ...common, ...config, upstreams }));
    const serve = () => start(program, "serve", "--config", file, "--log-level", "warning");
    const free = await Promise.all(Array.from({ length: proxies }, serve));
    running.push(...free);
    const waiting = [];
    return {
      upstream: upstream.address,
      addresses: free.map(({ address }) => address),
      close,
      /** Calls `use` with the address of a proxy that nobody else uses; adds how many attempts it made meanwhile. */
      async alone(use, { fresh } = {}) {
        const lent = free.pop() ?? (await new Promise((resolve) => waiting.push(resolve)));
        const proxy = fresh ? await serve() : lent;
        try {
          const before = await attempts(proxy.address);
          const result = await use(proxy.address);
          return { ...result, upstream: (await attempts(proxy.address)) - before };
        } finally {
          if (fresh) await proxy.stop();
          const next = waiting.shift();
          if (next) next(lent);
          else free.push(lent);
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function attempts(proxy) {
  const page = await (await fetch(`${proxy}/tidemark/status`)).json();
  return page.upstreams[0].attempts;
}
