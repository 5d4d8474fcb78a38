// Two proxies that share a Redis beside two servers that use the npm package resumable-stream, with the same Redis and the same
// recording: what a stream costs there, how soon a reader who comes back is served, and what is left when the producer is killed.
//   npm ci --prefix bench/survival && node bench/survival/beside.mjs [--streams 50] [--tokens 150] [--interval 20] [--only NAME]
// Needs redis-server on the PATH.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { textOfEvents } from "../../tests/e2e/stage.mjs";
import { program, start } from "../../tests/e2e/start.mjs";
import { openRival, openTidemark } from "./beside_contestants.mjs";
import { writeRecordings } from "./recordings.mjs";
import { openRedis } from "./redis.mjs";

const { values: given } = parseArgs({
  options: {
    streams: { type: "string", default: "50" },
    tokens: { type: "string", default: "150" },
    interval: { type: "string", default: "20" },
    only: { type: "string" },
  },
});
const streams = Number(given.streams);

// What the measuring itself asks.
const ownCommands = /^cmdstat_(info|memory|client|command|scan|flushall|dbsize)/;

/** What Redis has done since it began. */
async function work(redis) {
  const info = await redis.info("commandstats", "stats");
  let commands = 0;
  for (const [name, value] of info) if (name.startsWith("cmdstat_") && !ownCommands.test(name)) commands += Number(/calls=(\d+)/.exec(value)[1]);
  return { at: performance.now(), commands, received: Number(info.get("total_net_input_bytes")), sent: Number(info.get("total_net_output_bytes")) };
}

function between(before, after) {
  const seconds = (after.at - before.at) / 1000;
  return { seconds, commands: after.commands - before.commands, received: after.received - before.received, sent: after.sent - before.sent };
}

/** Of one stream, what idle servers do taken off. */
function perStream(spent, idle) {
  const of = (what) => (spent[what] - (idle[what] / idle.seconds) * spent.seconds) / streams;
  return { commands: of("commands"), received: of("received"), sent: of("sent") };
}

/** What Redis does while `run` does, without the cost of asking for that. */
async function measured(redis, run) {
  const [earlier, before] = [await work(redis), await work(redis)];
  const result = await run();
  const spent = between(before, await work(redis));
  const asking = between(earlier, before);
  return { result, spent: { ...spent, received: spent.received - asking.received, sent: spent.sent - asking.sent } };
}

/** Bytes of all keys that are there. */
async function keysMemory(redis) {
  let bytes = 0;
  for (const db of ["0", "1"]) {
    for (const key of (await redis.ask("-n", db, "--scan")).split("\n").filter(Boolean)) {
      bytes += Number(await redis.ask("-n", db, "MEMORY", "USAGE", key, "SAMPLES", "0"));
    }
  }
  return bytes;
}

// A reader does not wait for longer.
const patienceMs = 30_000;

const eventsIn = (body) => body.split("\n").filter((line) => line.startsWith("data:")).length;

/**
 * Reads a body; after `until` events it leaves. Resolves to { body, status, firstMs, silentMs, error }: from the request to the
 * first event or a part of one, and the longest time without any.
 */
async function read([url, settings], until = Infinity) {
  const leaving = new AbortController();
  const late = setTimeout(() => leaving.abort(new Error("no answer")), patienceMs);
  const begun = performance.now();
  let last = begun;
  const result = { body: "", firstMs: undefined, silentMs: 0, status: undefined };
  try {
    const response = await fetch(url, { ...settings, signal: leaving.signal });
    result.status = response.status;
    if (response.status !== 200) return result;
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const now = performance.now();
      if (!/^(:.*\n\n)*$/.test(chunk)) {
        result.firstMs ??= now - begun;
        result.silentMs = Math.max(result.silentMs, now - last);
        last = now;
      }
      result.body += chunk;
      if (eventsIn(result.body) >= until) break;
    }
  } catch (error) {
    result.error = error;
  } finally {
    clearTimeout(late);
    leaving.abort();
  }
  return result;
}

/** One after the other, but all of them at a time: nobody waits for what another one asks. */
const several = (task) =>
  Promise.all(
    Array.from({ length: streams }, async (_, i) => {
      await wait((i * Number(given.interval) * Number(given.tokens)) / 3 / streams);
      return task(randomUUID());
    }),
  );
/** The text of its whole events. */
const textIn = (body) => textOfEvents(body.slice(0, body.lastIndexOf("\n\n") + 2));
const whole = (expected) => (bodies) => bodies.filter((body) => textIn(body) === expected).length;
/** In ms, of those that were at all. */
function spread(times) {
  const sorted = times.filter((ms) => ms !== undefined).sort((a, b) => a - b);
  const at = (q) => sorted[Math.floor(q * sorted.length)]?.toFixed(1) ?? "-";
  return `median ${at(0.5)}, 99 % ${at(0.99)}`;
}

async function compare(name, open, folder, upstream, redis, expected) {
  const of = whole(expected);
  await redis.ask("FLUSHALL");
  const contestant = await open(folder, upstream, redis);
  const { begin, resume, kept } = contestant;
  const [one, two] = contestant.servers;
  const third = Math.floor(Number(given.tokens) / 3);
  try {
    await read(begin(one.address, randomUUID()));
    const { spent: idle } = await measured(redis, () => wait(5000));

    const memoryBefore = await keysMemory(redis);
    const plain = await measured(redis, () => several((id) => read(begin(one.address, id))));
    const memory = (await keysMemory(redis)) - memoryBefore;

    const resumed = await measured(redis, () =>
      several(async (id) => {
        const cut = kept((await read(begin(one.address, id), third)).body);
        // So that there is something to be sent at once.
        await wait(10 * Number(given.interval));
        const rest = await read(resume(two.address, id, cut));
        return { body: cut + rest.body, firstMs: rest.firstMs };
      }),
    );

    const halves = await several(async (id) => ({ id, cut: kept((await read(begin(one.address, id), third)).body) }));
    await one.kill();
    const died = performance.now();
    const survived = await Promise.all(
      halves.map(async ({ id, cut }) => {
        let body = cut;
        let answered;
        let firstMs;
        let silentMs;
        // As a reader would: again after a second, for half a minute.
        while (performance.now() - died < patienceMs && !body.includes("[DONE]")) {
          const asked = performance.now() - died;
          const rest = await read(resume(two.address, id, body));
          answered ??= rest.error?.message ?? rest.status;
          if (rest.firstMs !== undefined) {
            firstMs ??= asked + rest.firstMs;
            silentMs ??= rest.silentMs;
          }
          body = kept(body + rest.body);
          if (!body.includes("[DONE]")) await wait(1000);
        }
        return { body, answered, firstMs, silentMs };
      }),
    );
    return {
      name,
      idle: { commands: idle.commands / idle.seconds, received: idle.received / idle.seconds, sent: idle.sent / idle.seconds },
      plain: { ...perStream(plain.spent, idle), whole: of(plain.result.map(({ body }) => body)) },
      memory: memory / streams,
      resumed: { ...perStream(resumed.spent, idle), whole: of(resumed.result.map(({ body }) => body)), first: spread(resumed.result.map(({ firstMs }) => firstMs)) },
      killed: {
        whole: of(survived.map(({ body }) => body)),
        answered: [...new Set(survived.map(({ answered }) => answered))].join(", "),
        characters: survived.reduce((sum, { body }) => sum + textIn(body).length, 0) / streams,
        first: spread(survived.map(({ firstMs }) => firstMs)),
        silent: spread(survived.map(({ silentMs }) => silentMs)),
      },
    };
  } finally {
    for (const server of contestant.servers) await server.kill();
  }
}

const folder = mkdtempSync(join(tmpdir(), "tidemark-beside-"));
const [{ file, text }] = writeRecordings(folder, 1, Number(given.tokens), 1);
const upstream = await start(program, "simulate", "--listen", "127.0.0.1:0", "--recording", file, "--interval", given.interval);
const redis = await openRedis(folder, { persists: false });
try {
  for (const [name, open] of Object.entries({ "resumable-stream": openRival, tidemark: openTidemark })) {
    if (given.only === undefined || given.only === name) console.log(await compare(name, open, folder, upstream.address, redis, text));
  }
} finally {
  await redis.end("SIGKILL");
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}
