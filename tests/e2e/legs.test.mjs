// The package's legs through the real proxy: given up while the upstream thinks, or cut in answers that nobody asked to
// be streams. However often that happens, the upstream is asked once.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { createRecoveringFetch, recoverStream } from "../../web/dist/index.js";
import { program, start } from "./start.mjs";

const heartbeatTimeoutMs = 300;
const data = (value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const answer = data({ choices: [{ index: 0, delta: { content: "tide" } }] }) + data("[DONE]");

const chat = [
  { type: "start", messageId: "m" },
  { type: "text-start", id: "t" },
  ...["Tides ", "rise ", "and ", "fall."].map((delta) => ({ type: "text-delta", id: "t", delta })),
  { type: "text-end", id: "t" },
  { type: "finish" },
].map(data);
chat.push(data("[DONE]"));

// /v1/…: it says nothing, not even a head, before release() is called. /api/chat: a stream that was not asked for.
let release;
const asked = [];
let upstream;
let proxy;
before(async () => {
  upstream = createServer((request, response) => {
    asked.push(request.url);
    request.resume();
    if (request.url === "/api/json") return response.writeHead(200, { "Content-Type": "application/json" }).end('{"a":1}');
    if (request.url === "/api/chat") return response.writeHead(200, { "Content-Type": "text/event-stream" }).end(chat.join(""));
    release = () => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(answer);
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  proxy = await start(program, "serve", "--listen", "127.0.0.1:0", "--log-level", "warning", "--upstream", `http://127.0.0.1:${upstream.address().port}`);
});
after(async () => {
  await proxy?.stop();
  upstream?.closeAllConnections();
  upstream?.close();
});

// It thinks through two heartbeats: till the third request is made.
function options() {
  asked.length = 0;
  const causes = [];
  return {
    causes,
    heartbeatTimeoutMs,
    baseDelayMs: 20,
    jitterMs: 0,
    maxRetries: 3,
    onRetry: ({ cause, attempt }) => {
      causes.push(cause);
      if (attempt === 3) release();
    },
  };
}

test("a request given up before its head attaches, and the upstream is asked once", async () => {
  const { causes, ...rest } = options();
  const said = recoverStream(`${proxy.address}/v1/chat/completions`, { body: { stream: true }, ...rest });
  for await (const _ of said);
  assert.equal(said.text, "tide");
  assert.equal(said.end, "complete");
  assert.deepEqual(causes, ["heartbeat_timeout", "heartbeat_timeout"]);
  assert.equal(said.attempts, 3);
  assert.equal(asked.length, 1);
});

test("the same by the drop-in fetch", async () => {
  const { causes, ...rest } = options();
  const init = { method: "POST", body: '{"stream":true}', headers: { "Content-Type": "application/json" } };
  const response = await createRecoveringFetch(rest)(`${proxy.address}/v1/chat/completions`, init);
  assert.equal((await response.text()).replaceAll(/^id: .*\n/gm, ""), answer);
  assert.equal(response.headers.get("Tidemark-Resumed"), "true");
  assert.equal(causes.length, 2);
  assert.equal(asked.length, 1);
});

test("retries run out only after maxRetries heartbeats more", async () => {
  const { causes, ...rest } = options();
  const said = recoverStream(`${proxy.address}/v1/chat/completions`, { body: { stream: true }, ...rest, maxRetries: 1 });
  await assert.rejects(async () => {
    for await (const _ of said);
  }, { code: "heartbeat_timeout", attempts: 2 });
  assert.equal(asked.length, 1);
  assert.deepEqual(causes, ["heartbeat_timeout"]);
  release();
});

// The first so many legs are cut after their first piece.
function cutting(times) {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (times-- <= 0) return response;
    const first = (await response.body.getReader().read()).value;
    const size = new TextDecoder().decode(first).indexOf("\n\n", 300) + 2;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(first.subarray(0, size)),
      pull: (controller) => controller.error(new TypeError("terminated")),
    });
    return new Response(body, response);
  };
}

test("an answer that turns out to be a stream is healed as one that was asked for", async () => {
  for (const headers of [{ "Content-Type": "application/json" }, { Accept: "application/json, text/event-stream" }]) {
    asked.length = 0;
    const recovering = createRecoveringFetch({ fetch: cutting(2) });
    const response = await recovering(`${proxy.address}/api/chat`, { method: "POST", body: '{"messages":[]}', headers });
    assert.equal((await response.text()).replaceAll(/^id: .*\n/gm, ""), chat.join(""));
    assert.deepEqual(asked, ["/api/chat"]);
  }
});

test("and one that is not passes through", async () => {
  asked.length = 0;
  const init = { method: "POST", body: '{"messages":[]}', headers: { "Content-Type": "application/json" } };
  const response = await createRecoveringFetch()(`${proxy.address}/api/json`, init);
  assert.equal(await response.text(), '{"a":1}');
  assert.deepEqual(asked, ["/api/json"]);
});
