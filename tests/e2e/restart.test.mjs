// A proxy with a log in files is killed in the middle of answers and started again: what its readers get, through the package
// and by name.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort, openLine } from "./line.mjs";
import { recordedText } from "./stage.mjs";
import { program, start } from "./start.mjs";

const { recoverStream } = await import(new URL("../../web/dist/index.js", import.meta.url));

const token = "sk-not-to-be-written-anywhere";
const headers = { Authorization: `Bearer ${token}`, Cookie: "session=not-to-be-written-either" };
const body = { model: "simulated", stream: true, messages: [{ role: "user", content: "What moves the tides?" }] };

// Of an answer's 50 kB, and more than 200 characters of its text.
const midwayBytes = 12000;

let upstream;
let flow;
let recorded;
before(async () => {
  upstream = await start(program, "simulate", "--listen", "127.0.0.1:0", "--interval", "2");
  [recorded, flow] = await Promise.all([recordedText(upstream.address), openLine(upstream.address)]);
});
after(async () => {
  flow?.close();
  await upstream?.stop();
});

/** A proxy that can be killed and comes back under its address, with the same folder. */
async function withProxy(config, run) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-restart-"));
  const file = join(folder, "config.json");
  const log = join(folder, "log");
  writeFileSync(
    file,
    JSON.stringify({
      listen: `127.0.0.1:${await freePort()}`,
      upstreams: [{ name: "simulated", base_url: flow.address, continuation: ["prefix"] }],
      log: `file:${log}`,
      drain_seconds: 0,
      ...config,
    }),
  );
  const serve = () => start(program, "serve", "--config", file, "--log-level", "warning");
  let proxy = await serve();
  const { address } = proxy;
  const requests = async () => (await (await fetch(`${address}/tidemark/status`)).json()).upstreams[0].attempts;
  try {
    await run({
      address,
      log,
      requests,
      kill: () => proxy.kill(),
      restart: async ({ gently = false } = {}) => {
        await (gently ? proxy.stop() : proxy.kill());
        flow.go();
        proxy = await serve();
      },
    });
  } finally {
    flow.go();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the middle of an answer, where it stays: until restart(), or flow.go(). `rest` is over when the answer is. */
async function midway(proxy, options) {
  const held = flow.holdAfter(midwayBytes);
  const answer = ask(proxy, options);
  const rest = (async () => {
    for await (const event of answer) assert.ok(event);
  })();
  rest.catch(() => {});
  await held;
  while (answer.text.length < 200) await new Promise(setImmediate);
  return { answer, rest };
}

const ask = ({ address }, options) => recoverStream(`${address}/v1/chat/completions`, { body, headers, ...options });
const page = async ({ address }, stream, more = headers) =>
  fetch(`${address}/tidemark/streams/${stream}`, { headers: { ...more, Accept: "application/json" } });

test("killed in the middle, the answer goes on: the same stream, one seam, each character once", () =>
  withProxy({}, async (proxy) => {
    const { answer, rest } = await midway(proxy);
    await proxy.restart();
    await rest;
    assert.equal(answer.text, recorded);
    assert.equal(answer.end, "complete");
    assert.equal(await proxy.requests(), 1);
    const { state, seams, attempts } = await (await page(proxy, answer.stream)).json();
    assert.deepEqual([state, seams, attempts], ["complete", 1, 2]);
  }));

test("told to stop, it leaves what it can't finish to the next one", () =>
  withProxy({}, async (proxy) => {
    const { answer, rest } = await midway(proxy);
    await proxy.restart({ gently: true });
    await rest;
    assert.equal(answer.text, recorded);
    assert.equal(answer.end, "complete");
  }));

test("killed three times", () =>
  withProxy({}, async (proxy) => {
    const { answer, rest } = await midway(proxy);
    for (let i = 0; i < 2; ++i) {
      const held = flow.holdAfter(midwayBytes);
      await proxy.restart();
      await held;
    }
    await proxy.restart();
    await rest;
    assert.equal(answer.text, recorded);
    // Those of the processes before are told, too, and what became of them.
    const told = await (await page(proxy, answer.stream)).json();
    assert.equal(told.attempts, 4);
    assert.deepEqual(
      told.seam_list.map(({ attempt, verdict }) => `${attempt} ${verdict}`),
      ["2 joined", "3 joined", "4 joined"],
    );
    await proxy.restart();
    assert.deepEqual((await (await page(proxy, answer.stream)).json()).seam_list, told.seam_list);
  }));

test("who wants what isn't there is refused, and nothing is asked of the model for them", () =>
  withProxy({}, async (proxy) => {
    const leaving = new AbortController();
    const { answer } = await midway(proxy, { signal: leaving.signal });
    leaving.abort();
    await proxy.restart();
    const follow = await fetch(`${proxy.address}/tidemark/streams/${answer.stream}?after=100000`, { headers: { ...headers, Accept: "text/event-stream" } });
    assert.equal(follow.status, 409);
    assert.equal((await (await page(proxy, answer.stream)).json()).state, "running");
    assert.equal(await proxy.requests(), 0);
  }));

test("where it may not be continued it ends truncated, with all that had come", () =>
  withProxy({ upstreams: [{ name: "simulated", base_url: flow.address }] }, async (proxy) => {
    const { answer, rest } = await midway(proxy);
    await proxy.restart();
    await rest;
    assert.equal(answer.end, "truncated");
    assert.ok(answer.text.length >= 200 && recorded.startsWith(answer.text), answer.text.slice(-80));
    assert.equal(await proxy.requests(), 0);
  }));

test("one that was over is there as it was, byte for byte", () =>
  withProxy({}, async (proxy) => {
    const answer = ask(proxy);
    for await (const event of answer) assert.ok(event);
    const follow = async () => (await fetch(`${proxy.address}/tidemark/streams/${answer.stream}`, { headers: { ...headers, Accept: "text/event-stream" } })).text();
    const before = await follow();
    await proxy.restart();
    assert.equal(await follow(), before);
    const again = ask(proxy, { headers: { ...headers, "Idempotency-Key": answer.stream } });
    for await (const event of again) assert.ok(event);
    assert.equal(again.text, recorded);
    assert.equal(await proxy.requests(), 0);
  }));

test("who comes by its name alone makes it go on, too", () =>
  withProxy({}, async (proxy) => {
    const { answer, rest } = await midway(proxy);
    const { stream } = answer;
    await proxy.kill();
    await proxy.restart();
    const follower = recoverStream(`${proxy.address}/tidemark/streams/${stream}`, { headers });
    for await (const event of follower) assert.ok(event);
    assert.equal(follower.text, recorded);
    await rest;
    assert.equal(answer.text, recorded);
    assert.equal(await proxy.requests(), 1);
  }));

test("a stop ends what nobody feeds any more", () =>
  withProxy({}, async (proxy) => {
    const leaving = new AbortController();
    const { answer } = await midway(proxy, { signal: leaving.signal });
    leaving.abort();
    await proxy.restart();
    const response = await fetch(`${proxy.address}/tidemark/streams/${answer.stream}`, { method: "DELETE", headers });
    assert.equal(response.status, 200);
    assert.equal((await response.json()).state, "stopped");
    assert.equal(await proxy.requests(), 0);
  }));

test("nobody comes: it ends, and says so", () =>
  withProxy({ disconnect: { policy: "linger", linger_seconds: 1 } }, async (proxy) => {
    const leaving = new AbortController();
    const { answer } = await midway(proxy, { signal: leaving.signal });
    leaving.abort();
    await proxy.restart();
    let told;
    do told = await (await page(proxy, answer.stream)).json();
    while (told.state === "running");
    assert.deepEqual([told.state, told.end_reason], ["truncated", "shutdown"]);
  }));

test("where the files may not grow, answers go on from memory, and readyz says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-restart-"));
  const limited = ["-c", 'ulimit -f 16 && exec "$0" "$@"', program, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream.address];
  const proxy = await start("bash", ...limited, "--log", `file:${folder}/log`, "--log-level", "error");
  try {
    const answer = ask(proxy);
    for await (const event of answer) assert.ok(event);
    assert.equal(answer.text, recorded);
    assert.equal((await fetch(`${proxy.address}/tidemark/readyz`)).status, 503);
    assert.match(await (await fetch(`${proxy.address}/tidemark/metrics`)).text(), /^tidemark_log_reachable 0$/m);
  } finally {
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("it stays its owner's, and no credential is in the files", () =>
  withProxy({}, async (proxy) => {
    const { answer, rest } = await midway(proxy);
    await proxy.kill();
    const files = readdirSync(proxy.log, { recursive: true }).map((name) => join(proxy.log, name)).filter((name) => statSync(name).isFile());
    const written = Buffer.concat(files.map((name) => readFileSync(name)));
    assert.ok(written.includes("What moves the tides?"), "the request is there, to be continued by");
    for (const secret of [token, "not-to-be-written"]) assert.ok(!written.includes(secret), secret);
    await proxy.restart();
    assert.equal((await page(proxy, answer.stream, { Authorization: "Bearer another" })).status, 404);
    await rest;
    assert.equal(answer.text, recorded);
  }));
