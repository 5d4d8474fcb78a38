// Two servers each of what is compared: proxies that share a Redis, and servers that use resumable-stream.
import { fileURLToPath } from "node:url";
import { start } from "../../tests/e2e/start.mjs";
import { openProxy } from "./proxies.mjs";

const body = JSON.stringify({ model: "recorded", stream: true, messages: [{ role: "user", content: "What moves the tides?" }] });
const headers = { "Content-Type": "application/json", Authorization: "Bearer reader" };

/**
 * `begin` and `resume` give a request's address and settings, `kept` is what of a body that was cut counts for the latter.
 */
export async function openTidemark(folder, upstream, redis) {
  const config = { upstreams: [{ name: "simulated", base_url: upstream, continuation: ["prefix"] }], log: `${redis.url}/0` };
  const servers = [];
  for (const name of ["tidemark-one", "tidemark-two"]) servers.push(await openProxy(folder, name, config));
  return {
    servers: servers.map(({ address, end }) => ({ address, kill: () => end("SIGKILL") })),
    begin: (address, id) => [`${address}/v1/chat/completions`, { method: "POST", body, headers: { ...headers, "Idempotency-Key": id } }],
    resume: (address, id, kept) => [
      `${address}/tidemark/streams/${id}`,
      { headers: { ...headers, Accept: "text/event-stream", "Last-Event-ID": kept.match(/^id: (.*)$/gm).at(-1).slice(4) } },
    ],
    kept: (cut) => cut.slice(0, cut.lastIndexOf("\n\n") + 2),
  };
}

export async function openRival(folder, upstream, redis) {
  const file = fileURLToPath(new URL("beside_rival.mjs", import.meta.url));
  const servers = [];
  for (let i = 0; i < 2; ++i) servers.push(await start("env", `REDIS_URL=${redis.url}/1`, process.execPath, file, upstream));
  return {
    servers: servers.map(({ address, kill }) => ({ address, kill })),
    begin: (address, id) => [`${address}/v1/chat/completions?stream=${id}`, { method: "POST", body, headers }],
    resume: (address, id, kept) => [`${address}/streams/${id}?skip=${kept.length}`, { headers }],
    kept: (cut) => cut,
  };
}
