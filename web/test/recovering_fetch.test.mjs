// createRecoveringFetch() over real sockets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { atRest, endComment } from "./flaky_server.mjs";
import { events, fast, proxied, whole, withServer } from "./tides.mjs";
import { createRecoveringFetch, SseParser, TidemarkError } from "tidemark";

const all = events.join("");
const post = (extra) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ stream: true }),
  ...extra,
});
const cut = (answer) => answer.head(200, { ...proxied, "X-Leg": "first" }).send(events.slice(0, 3).join("")).reset();
const rest = (answer, request) =>
  answer.head(200, { ...proxied, "X-Leg": "second" }).send(events.slice(Number(request.headers["x-resume-seq"]) + 1).join("") + endComment).end();

for (const [name, request] of Object.entries({
  "a string body": (url) => [url, post()],
  "a URL and bytes": (url) => [new URL(url), post({ body: new TextEncoder().encode(post().body) })],
  "a Request": (url) => [new Request(url, post())],
  "a Request and an init": (url) => [new Request(url, post({ body: "{}" })), { body: post().body }],
})) {
  test(`one unbroken body out of two legs: ${name}`, () =>
    withServer([cut, rest], async ({ url, seen }) => {
      const response = await createRecoveringFetch(fast)(...request(`${url}/v1/chat/completions`));
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("X-Leg"), "first");
      assert.equal(response.url, `${url}/v1/chat/completions`);
      assert.equal(await response.text(), all);
      assert.equal(seen.length, 2);
      assert.equal(seen[0].headers["idempotency-key"], seen[1].headers["idempotency-key"]);
      assert.ok(seen[0].headers["idempotency-key"].length >= 20);
      assert.equal(seen[0].body, seen[1].body);
    }));
}

test("the page's own Idempotency-Key is kept", () =>
  withServer([whole], async ({ url, seen }) => {
    await (await createRecoveringFetch()(url, post({ headers: { "idempotency-key": "mine" } }))).text();
    assert.equal(seen[0].headers["idempotency-key"], "mine");
  }));

test("Gemini's path is a stream; so is an event stream that answers any other POST", () =>
  withServer([cut, rest, cut, rest], async ({ url, seen }) => {
    const recovering = createRecoveringFetch(fast);
    const gemini = await recovering(`${url}/v1beta/models/m:streamGenerateContent?alt=sse`, post({ body: "{}" }));
    assert.equal(await gemini.text(), all);
    const other = await recovering(`${url}/ask`, post({ body: "question=1" }));
    assert.equal(await other.text(), all);
    assert.equal(seen.length, 4);
    assert.equal(seen[2].headers["idempotency-key"], undefined);
  }));

test("a refusal that passes is repeated before there is a response", () =>
  withServer([(answer) => answer.head(503).end(), (answer) => answer.reset(), whole], async ({ url, seen }) => {
    const response = await createRecoveringFetch(fast)(url, post());
    assert.equal(response.status, 200);
    assert.equal(await response.text(), all);
    assert.equal(seen.length, 3);
  }));

test("the final failure before a response is the response itself, or what fetch threw", () =>
  withServer(
    [
      (answer) => answer.head(401, { "Content-Type": "application/json" }).send('{"error":1}').end(),
      (answer) => answer.head(503).send("first").end(),
      (answer) => answer.head(503, { "Retry-After": "0" }).send("second").end(),
      (answer) => answer.head(200, { "Content-Type": "application/json" }).send('{"whole":1}').end(),
      (answer) => answer.reset(),
    ],
    async ({ url }) => {
      const recovering = createRecoveringFetch({ ...fast, maxRetries: 1 });
      const refused = await recovering(url, post());
      assert.equal(refused.status, 401);
      assert.deepEqual(await refused.json(), { error: 1 });
      const busy = await recovering(url, post());
      assert.equal(busy.status, 503);
      assert.equal(await busy.text(), "second");
      const noStream = await recovering(url, post());
      assert.deepEqual(await noStream.json(), { whole: 1 });
      await assert.rejects(createRecoveringFetch({ maxRetries: 0 })(url, post()), { name: "TypeError" });
    },
  ));

test("after the response the final failure errors the body", () =>
  withServer([cut, (answer) => answer.head(410, { "Content-Type": "application/json" }).send("{}").end()], async ({ url }) => {
    const response = await createRecoveringFetch(fast)(url, post());
    await assert.rejects(response.text(), (error) => {
      assert.ok(error instanceof TidemarkError);
      assert.equal(error.status, 410);
      assert.equal(error.attempts, 2);
      return true;
    });
  }));

test("and only when all that came before it is read, however late", () =>
  withServer([(answer) => answer.head(200).send(events.slice(0, 3).join("")).reset()], async ({ url }) => {
    let response;
    await new Promise((over) => {
      const recovering = createRecoveringFetch({ ...fast, maxRetries: 0, onState: (state) => state === "finalized" && over() });
      response = recovering(`${url}/v1/chat/completions`, post());
    });
    const got = [];
    await assert.rejects(
      async () => {
        for await (const bytes of (await response).body) got.push(bytes);
      },
      { name: "TidemarkError", code: "stream_interrupted" },
    );
    assert.equal(Buffer.concat(got).toString(), events.slice(0, 3).join(""));
  }));

test("an error event of the stream ends the body as it came", () => {
  const stream = `data: {"error":{"message":"m","type":"server_error","code":"boom","param":null}}\n\n`;
  return withServer([(answer) => answer.head().send(stream).end()], async ({ url }) => {
    const response = await createRecoveringFetch(fast)(`${url}/v1/chat/completions`, post());
    assert.equal(await response.text(), stream);
  });
});

test("all else passes through untouched", () =>
  withServer(
    [
      (answer) => answer.head(200, { "Content-Type": "text/event-stream" }).send(events[0]).end(),
      (answer) => answer.head(200, { "Content-Type": "application/json" }).send("{}").end(),
      (answer) => answer.head(503).end(),
      (answer) => answer.head(200, { "Content-Type": "application/json" }).send("{}").end(),
      (answer) => answer.reset(),
      (answer) => answer.head(200, { "Content-Type": "application/json", "Content-Length": 9 }).send("{").reset(),
    ],
    async ({ url, seen }) => {
      const recovering = createRecoveringFetch(fast);
      assert.equal(await (await recovering(url)).text(), events[0]);
      const plain = await recovering(url, post({ body: '{"stream":false}' }));
      assert.equal(await plain.text(), "{}");
      assert.equal((await recovering(url, post({ body: "{}" }))).status, 503);
      const once = new Response("once").body;
      await recovering(url, post({ headers: { "Content-Type": "text/plain" }, body: once, duplex: "half" }));
      assert.equal(seen[3].body.includes("once"), true);
      await assert.rejects(recovering(url, post({ body: "{}" })), { name: "TypeError", message: "fetch failed" });
      await assert.rejects((await recovering(url, post({ body: "{}" }))).text(), TypeError);
      assert.equal(seen.length, 6);
    },
  ));

test("a POST that may be answered by a stream has a name, so that it attaches", () =>
  withServer([cut, rest, cut, rest, cut, rest, cut], async ({ url, seen }) => {
    const recovering = createRecoveringFetch(fast);
    const json = { "Content-Type": "application/json" };
    for (const init of [
      { body: '{"messages":[]}', headers: json },
      { body: "a=b", headers: { Accept: "application/json, text/event-stream" } },
      { body: "a=b", headers: { Accept: "text/event-stream" } },
    ]) {
      const response = await recovering(`${url}/api/chat`, { method: "POST", ...init });
      assert.equal(await response.text(), all);
      const [first, second] = seen.slice(-2).map(({ headers }) => headers["idempotency-key"]);
      assert.ok(first.length >= 20);
      assert.equal(first, second);
    }
    assert.equal(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size, 3);
    const nameless = createRecoveringFetch({ ...fast, sendIdempotencyKey: false });
    await (await nameless(`${url}/api/chat`, post())).body.cancel();
    assert.equal(seen.at(-1).headers["idempotency-key"], undefined);
  }));

test("what asks for a stream by Accept alone is repeated before there is a response; what may get JSON is not", () =>
  withServer([(answer) => answer.head(503).end(), whole, (answer) => answer.head(503).end()], async ({ url, seen }) => {
    const ask = (Accept) => createRecoveringFetch(fast)(url, { method: "POST", body: "a=b", headers: { Accept } });
    assert.equal(await (await ask("text/event-stream")).text(), all);
    assert.equal((await ask("text/event-stream, application/json")).status, 503);
    assert.equal(seen.length, 3);
  }));

const json = JSON.stringify({ stream: true, "é": 1 });
for (const [name, request] of Object.entries({
  "a Blob": (url) => [url, post({ body: new Blob([json]) })],
  "a Blob that says its type": (url) => [url, { method: "POST", body: new Blob([json], { type: "application/json" }) }],
  "a stream": (url) => [url, post({ body: new Blob([json]).stream(), duplex: "half" })],
  "a Request with a stream": (url) => [new Request(url, post({ body: new Blob([json]).stream(), duplex: "half" }))],
  "an ArrayBuffer": (url) => [url, post({ body: new TextEncoder().encode(json).buffer })],
  "a view in the middle of a buffer": (url) => [url, post({ body: new TextEncoder().encode(`..${json}..`).subarray(2, -2) })],
})) {
  test(`a JSON body is repeated whatever holds it: ${name}`, () =>
    withServer([(answer) => answer.head(503).end(), cut, rest], async ({ url, seen }) => {
      const response = await createRecoveringFetch(fast)(...request(`${url}/v1/chat/completions`));
      assert.equal(await response.text(), all);
      assert.deepEqual(seen.map(({ body, headers }) => [body, headers["content-type"]]), Array(3).fill([json, "application/json"]));
    }));
}

test("bytes may be used again while the answer runs, and are given no type of their own", () =>
  withServer([(answer) => answer.head(503).end(), whole], async ({ url, seen }) => {
    const body = new TextEncoder().encode(json);
    const answer = createRecoveringFetch(fast)(url, { method: "POST", body });
    body.fill(0);
    await (await answer).text();
    assert.deepEqual(seen.map((request) => [request.body, request.headers["content-type"]]), Array(2).fill([json, undefined]));
  }));

for (const [name, request] of Object.entries({
  "a Blob": (url, large) => [url, post({ body: new Blob([large]) })],
  "a stream": (url, large) => [url, post({ body: new Blob([large]).stream(), duplex: "half" })],
  "a Request": (url, large) => [new Request(url, post({ body: large }))],
})) {
  test(`a large JSON body passes through whole, and is not repeated: ${name}`, () =>
    withServer([(answer) => answer.head(503).end()], async ({ url, seen }) => {
      const large = JSON.stringify({ stream: true, text: "x".repeat(1 << 20) });
      assert.equal((await createRecoveringFetch(fast)(...request(url, large))).status, 503);
      assert.equal(seen.length, 1);
      assert.equal(seen[0].body.match(/x{100}x+/g).join("").length, 1 << 20);
    }));
}

test("the body can be read into buffers of the reader's own, as fetch's can", () =>
  withServer([cut, rest], async ({ url }) => {
    const response = await createRecoveringFetch(fast)(url, post());
    const reader = response.body.getReader({ mode: "byob" });
    const decoder = new TextDecoder();
    let got = "";
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(7));
      if (done) break;
      got += decoder.decode(value, { stream: true });
    }
    assert.equal(got, all);
  }));

test("an address that fetch refuses is refused by fetch, at once", async () => {
  const recovering = createRecoveringFetch(fast);
  for (const wrong of ["nope", "http://", "ftp://h/", "http://name:word@127.0.0.1/", undefined]) {
    const error = await fetch(wrong, post()).catch((thrown) => thrown);
    await assert.rejects(recovering(wrong, post()), { name: "TypeError", message: error.message });
  }
});

test("aborting by signal errors the body with its reason, and closes the connection", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0])], async ({ url, sockets }) => {
    const controller = new AbortController();
    const response = await createRecoveringFetch()(url, post({ signal: controller.signal }));
    const reader = response.body.getReader();
    await reader.read();
    const reason = new Error("enough");
    controller.abort(reason);
    await assert.rejects(reader.read(), reason);
    await once([...sockets][0], "close");
    await assert.rejects(createRecoveringFetch()(url, post({ signal: controller.signal })), reason);
  }));

test("cancelling the reader closes the connection", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0])], async ({ url, sockets }) => {
    const response = await createRecoveringFetch()(url, post());
    const reader = response.body.getReader();
    await reader.read();
    await reader.cancel();
    await once([...sockets][0], "close");
  }));

test("clone() gives both the same unbroken body", () =>
  withServer([cut, rest], async ({ url }) => {
    const response = await createRecoveringFetch(fast)(url, post());
    const copy = response.clone();
    assert.deepEqual(await Promise.all([response.text(), copy.text()]), [all, all]);
  }));

test("back-pressure: what the reader does not take stays in the network", () => {
  // More than the system's buffers hold.
  const data = `data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(60000)}"}}]}\n\n`;
  const many = Array.from({ length: 1000 }, (_, seq) => `id: e1-${seq}\n${data}`);
  let upstream;
  return withServer(
    [
      async (answer) => {
        upstream = answer.head(200, proxied);
        await answer.pour(many);
      },
    ],
    async ({ url }) => {
      const response = await createRecoveringFetch()(url, post());
      const reader = response.body.getReader();
      await reader.read();
      await atRest(url, () => upstream.poured);
      assert.ok(upstream.poured < many.length, "all was taken");
      await reader.cancel();
    },
  );
});

test("options are checked at the call", () => {
  assert.throws(() => createRecoveringFetch({ maxRetries: "4" }), { name: "TypeError", message: /maxRetries is "4"/ });
});

test("SseParser: misuse is told at the call", async () => {
  for (const maxEventBytes of [0, -1, 1.5, NaN, Infinity, 2 ** 33, "10", null, {}]) {
    await assert.rejects(SseParser.create({ maxEventBytes }), { name: "TypeError", message: /maxEventBytes is .*; allowed: a whole number from 1 to/ });
  }
  await assert.rejects(SseParser.create({ maxEventByte: 1 }), { name: "TypeError", message: /unknown option maxEventByte; allowed: maxEventBytes/ });
  for (const options of [null, 5, "x"]) await assert.rejects(SseParser.create(options), { name: "TypeError", message: /options is/ });
  const parser = await SseParser.create();
  for (const bytes of ["data: a\n\n", [100], null, undefined, 5, {}]) {
    assert.throws(() => parser.feed(bytes), { name: "TypeError", message: /bytes is .*; allowed: an ArrayBuffer or a view/ });
  }
  const { buffer } = new TextEncoder().encode("data: a\n\n");
  for (const bytes of [buffer, new DataView(buffer), Buffer.from(buffer), new Uint8ClampedArray(buffer)]) {
    assert.deepEqual([...parser.feed(bytes)].map(({ data }) => data), ["a"]);
  }
  parser.free();
});

test("SseParser: events, retry, last id, and the bound", async () => {
  const bytes = (text) => new TextEncoder().encode(text);
  const parser = await SseParser.create({ maxEventBytes: 64 });
  const got = [...parser.feed(bytes("retry: 5\nid: 7\nevent: x\ndata: a\ndata: b\n\ndata: c\r\n"))];
  got.push(...parser.feed(bytes("\r\n")));
  assert.deepEqual(got, [{ event: "x", data: "a\nb", id: "7" }, { event: undefined, data: "c", id: "7" }]);
  assert.equal(parser.retry, 5);
  assert.equal(parser.lastEventId, "7");
  assert.throws(() => [...parser.feed(bytes(`data: ${"x".repeat(100)}\n\n`))], { name: "TidemarkError", code: "event_too_large" });
  parser.end();
  parser.free();
  await assert.rejects(SseParser.create({ maxEventBytes: 0 }), /maxEventBytes is 0/);
});
