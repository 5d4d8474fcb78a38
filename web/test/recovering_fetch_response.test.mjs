// What createRecoveringFetch() resolves with is a Response as fetch's own: read, cloned, cancelled and aborted like one.
// And what it has nothing to do with goes out and comes back as it is.
import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { test } from "node:test";
import { events, fast, proxied, whole, withServer } from "./tides.mjs";
import { endComment } from "./flaky_server.mjs";
import { createRecoveringFetch, TidemarkError } from "tidemark";

const all = events.join("");
const json = { "Content-Type": "application/json" };
const post = (extra) => ({ method: "POST", headers: json, body: '{"stream":true}', ...extra });
const cut = (answer) => answer.head(200, proxied).send(events.slice(0, 3).join("")).reset();
const rest = (answer, { headers }) =>
  answer.head(200, proxied).send(events.slice(Number(headers["x-resume-seq"]) + 1).join("") + endComment).end();
async function blocksOf(body) {
  const blocks = [];
  for await (const block of body) blocks.push(block);
  return blocks;
}
const says = (type, body) => (answer) => answer.head(200, { "Content-Type": type, "Content-Length": body.length }).send(body).end();

test("its head is that of the first good leg, without what spoke of that leg's body", () => {
  const told = { ...proxied, "X-Leg": "good", "Set-Cookie": "a=1", "Content-Length": all.length };
  return withServer([(answer) => answer.head(503, { "X-Leg": "bad" }).end(), (answer) => answer.head(203, told).send(all).end()], async ({ url }) => {
    const response = await createRecoveringFetch(fast)(`${url}/v1/chat/completions?q=1`, post());
    assert.ok(response instanceof Response);
    const { status, statusText, ok, redirected, bodyUsed } = response;
    assert.deepEqual({ status, statusText, ok, redirected, bodyUsed }, { status: 203, statusText: "Status", ok: true, redirected: false, bodyUsed: false });
    assert.equal(response.url, `${url}/v1/chat/completions?q=1`);
    assert.equal(response.headers.get("X-Leg"), "good");
    assert.deepEqual(response.headers.getSetCookie(), ["a=1"]);
    assert.equal(response.headers.get("Content-Length"), null);
    assert.equal(await response.text(), all);
    assert.equal(response.bodyUsed, true);
    await assert.rejects(response.text(), TypeError);
    assert.throws(() => response.clone(), TypeError);
  });
});

test("an init of null is none, as fetch has it", () =>
  withServer([says("text/plain", "plain")], async ({ url }) => {
    assert.equal(await (await createRecoveringFetch(fast)(url, null)).text(), "plain");
  }));

test("a redirect is followed, and its end is the response's address", () =>
  withServer([(answer) => answer.head(307, { Location: "/moved" }).end(), whole], async ({ url, seen }) => {
    const response = await createRecoveringFetch(fast)(`${url}/v1/chat/completions`, post());
    for (const one of [response, response.clone(), response.clone().clone()]) {
      assert.deepEqual([one.url, one.redirected, one.type], [`${url}/moved`, true, "basic"]);
      assert.equal(await one.text(), all);
    }
    assert.deepEqual(seen.map(({ path, method, body }) => [path, method, body]), [
      ["/v1/chat/completions", "POST", '{"stream":true}'],
      ["/moved", "POST", '{"stream":true}'],
    ]);
  }));

for (const [name, read] of Object.entries({
  "text()": (response) => response.text(),
  "arrayBuffer()": async (response) => Buffer.from(await response.arrayBuffer()).toString(),
  "blob()": async (response) => (await response.blob()).text(),
  "for await": async ({ body }) => Buffer.concat(await blocksOf(body)).toString(),
  "a TextDecoderStream": async ({ body }) => (await blocksOf(body.pipeThrough(new TextDecoderStream()))).join(""),
  "pipeTo()": async ({ body }) => {
    const blocks = [];
    await body.pipeTo(new WritableStream({ write: (block) => void blocks.push(block) }));
    return Buffer.concat(blocks).toString();
  },
  "both halves of tee()": async ({ body }) => {
    const [one, other] = await Promise.all(body.tee().map((half) => new Response(half).text()));
    assert.equal(one, other);
    return one;
  },
  "its clone, after it": async (response) => {
    const copy = response.clone();
    assert.equal(copy.status, response.status);
    assert.equal(copy.headers.get("Tidemark-Epoch"), "e1");
    assert.equal(await response.text(), all);
    return copy.text();
  },
  "its clone, while it is left": async (response) => {
    const copy = response.clone();
    const [text] = await Promise.all([copy.text(), response.body.cancel()]);
    return text;
  },
  "a Response of its body": ({ body }) => new Response(body).text(),
})) {
  test(`it can be read by ${name}, over a cut`, () =>
    withServer([cut, rest], async ({ url, seen }) => {
      assert.equal(await read(await createRecoveringFetch(fast)(url, post())), all);
      assert.equal(seen.length, 2);
    }));
}

test("blocks are told apart for readers with buffers of any size, and whoever has a larger one waits for no more", () =>
  withServer([cut, rest], async ({ url }) => {
    const { body } = await createRecoveringFetch(fast)(url, post());
    const reader = body.getReader({ mode: "byob" });
    let got = Buffer.alloc(0);
    for (let size = 1; ; size = (size * 7) % 1024) {
      const { done, value } = await reader.read(new Uint8Array(size));
      if (done) break;
      got = Buffer.concat([got, value]);
    }
    assert.equal(got.toString(), all);
    await reader.closed;
  }));

// ---- leaving

const hanging = (answer) => answer.head(200, proxied).send(events[0]);

for (const [name, leave] of Object.entries({
  "its body's cancel()": (response) => response.body.cancel("enough"),
  "a reader's, while it waits": async (response) => {
    const reader = response.body.getReader();
    await reader.read();
    const waiting = reader.read();
    await reader.cancel("enough");
    assert.deepEqual(await waiting, { done: true, value: undefined });
  },
  "a reader's with buffers of its own": async (response) => {
    const reader = response.body.getReader({ mode: "byob" });
    await reader.read(new Uint8Array(8));
    const waiting = reader.read(new Uint8Array(4096)).then(() => reader.read(new Uint8Array(8)));
    await reader.cancel();
    assert.equal((await waiting).done, true);
  },
  "the end of a loop": async (response) => {
    for await (const _ of response.body) break;
  },
  "those of both halves of tee()": (response) => Promise.all(response.body.tee().map((half) => half.cancel())),
  "an aborted pipe": async (response) => {
    const controller = new AbortController();
    const sink = new WritableStream({ write: () => controller.abort("enough") });
    await assert.rejects(response.body.pipeTo(sink, { signal: controller.signal }), (reason) => reason === "enough");
  },
})) {
  test(`left by ${name}: the connection is closed, and nothing is asked again`, () =>
    withServer([hanging], async ({ url, sockets, seen }) => {
      const states = [];
      const response = await createRecoveringFetch({ ...fast, onState: (state) => states.push(state) })(url, post());
      const [socket] = sockets;
      await leave(response);
      if (!socket.destroyed) await once(socket, "close");
      assert.equal(seen.length, 1);
      assert.equal(states.at(-1), "finalized");
    }));
}

test("left between two legs: none follows", () =>
  withServer([cut], async ({ url, seen }) => {
    const retry = Promise.withResolvers?.() ?? {};
    const waiting = new Promise((resolve) => (retry.resolve = resolve));
    const recovering = createRecoveringFetch({ firstRetryDelayMs: 3600000, onRetry: retry.resolve });
    const response = await recovering(`${url}/v1/chat/completions`, post());
    await waiting;
    await response.body.cancel();
    assert.equal(seen.length, 1);
  }));

const isAbort = (error) => error instanceof DOMException && error.name === "AbortError" && error.code === 20;

test("aborted: before the call, before the head, between attempts, in the body, with and without a reason", () =>
  withServer([() => {}, (answer) => answer.head(503).end(), hanging, hanging], async ({ url, seen, sockets }) => {
    await assert.rejects(createRecoveringFetch(fast)(url, post({ signal: AbortSignal.abort() })), isAbort);
    await assert.rejects(createRecoveringFetch(fast)(new Request(url, post({ signal: AbortSignal.abort("no") }))), (reason) => reason === "no");
    assert.equal(seen.length, 0);

    let controller = new AbortController();
    const unanswered = createRecoveringFetch(fast)(url, post({ signal: controller.signal }));
    unanswered.catch(() => {});
    while (seen.length < 1) await new Promise(setImmediate);
    const [socket] = sockets;
    controller.abort();
    await assert.rejects(unanswered, isAbort);
    if (!socket.destroyed) await once(socket, "close");

    controller = new AbortController();
    const reason = { any: "thing" };
    const waiting = createRecoveringFetch({ baseDelayMs: 3600000, firstRetryDelayMs: 3600000, onRetry: () => controller.abort(reason) });
    await assert.rejects(waiting(url, post({ signal: controller.signal })), (error) => error === reason);
    assert.equal(seen.length, 2);

    controller = new AbortController();
    const response = await createRecoveringFetch(fast)(new Request(url, post({ signal: controller.signal })));
    const copy = response.clone();
    controller.abort();
    await Promise.all([assert.rejects(response.text(), isAbort), assert.rejects(copy.text(), isAbort)]);
    assert.equal(seen.length, 3);

    const late = createRecoveringFetch(fast)(url, post({ signal: AbortSignal.timeout(1) }));
    await assert.rejects(late.then((answer) => answer.text()), { name: "TimeoutError" });
  }));

test("aborted after the end: nothing happens, and the signal is held by no more listeners than after fetch", () =>
  withServer([whole, whole], async ({ url }) => {
    const left = async (asking) => {
      const controller = new AbortController();
      const response = await asking(url, post({ signal: controller.signal }));
      await response.text();
      const listeners = getEventListeners(controller.signal, "abort").length;
      controller.abort();
      return listeners;
    };
    assert.equal(await left(createRecoveringFetch(fast)), await left(fetch));
  }));

// ---- failing

test("the body's error says what there is to say", () =>
  withServer(
    [
      cut,
      (answer) => answer.head(503, { "Retry-After": "3600" }).end(),
      cut,
      (answer) => answer.reset(),
      (answer) => answer.head(200, proxied).send(events[0]).send(`id: e1-5\ndata: {}\n\n`),
    ],
    async ({ url }) => {
      const failing = async (options) => {
        const response = await createRecoveringFetch({ ...fast, ...options })(`${url}/v1/chat/completions`, post());
        const error = await response.text().then(assert.fail, (thrown) => thrown);
        assert.ok(error instanceof TidemarkError);
        const { code, status, retryAfter, attempts, cause } = error;
        return { code, status, retryAfter, attempts, cause: cause?.constructor.name };
      };
      const told = { retryAfter: undefined, cause: undefined };
      assert.deepEqual(await failing({}), { ...told, code: "http_status", status: 503, retryAfter: 3600000, attempts: 2 });
      assert.deepEqual(await failing({ maxRetries: 1 }), { ...told, code: "network_error", status: undefined, attempts: 2, cause: "TypeError" });
      assert.deepEqual(await failing({ maxRetries: 0 }), { ...told, code: "sequence_hole", status: 200, attempts: 1 });
    },
  ));

// ---- passing through

/** What the inner fetch was given and what it gave. */
function watched() {
  const calls = [];
  const recovering = createRecoveringFetch({
    async fetch(...given) {
      const response = await fetch(...given);
      calls.push({ given, response });
      return response;
    },
  });
  return { calls, recovering };
}

test("what is no POST is fetch's own affair: the same parameters, the same response", () =>
  withServer(Array.from({ length: 5 }, () => says("application/json", "{}")), async ({ url, seen }) => {
    const { calls, recovering } = watched();
    const init = { headers: { A: "b" }, cache: "no-store" };
    const request = new Request(url, { method: "PUT", body: "put" });
    for (const given of [[url], [new URL(url), init], [request], [url, { method: "DELETE" }], [url, { ...init, method: "HEAD" }]]) {
      const response = await recovering(...given);
      const call = calls.at(-1);
      assert.equal(response, call.response);
      given.forEach((parameter, i) => assert.equal(call.given[i], parameter));
      await response.text();
    }
    assert.deepEqual(seen.map(({ method }) => method), ["GET", "GET", "PUT", "DELETE", "HEAD"]);
    assert.ok(seen.every(({ headers }) => headers["idempotency-key"] === undefined));
  }));

const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
const form = () => {
  const data = new FormData();
  data.append("purpose", "tides");
  data.append("file", new Blob([bytes]), "tide.bin");
  return data;
};
for (const [name, init] of Object.entries({
  "JSON without a stream": () => ({ headers: json, body: ' {"a" : 12345678901234567890, "stream":false}' }),
  "JSON that is no object": () => ({ headers: json, body: "[1]" }),
  "no body": () => ({}),
  bytes: () => ({ body: bytes }),
  "a Blob": () => ({ body: new Blob([bytes], { type: "audio/wav" }) }),
  "a form": () => ({ body: form() }),
  "a form's Request": () => ({ request: true, body: form() }),
  "URL parameters": () => ({ body: new URLSearchParams({ a: "ä&b" }) }),
  "an upload": () => ({ body: new Blob([bytes]).stream(), duplex: "half" }),
})) {
  test(`passes through with the same bytes and headers: ${name}`, () =>
    withServer([says("audio/mpeg", "\0\u0001"), says("audio/mpeg", "\0\u0001")], async ({ url, seen }) => {
      const given = () => {
        const { request, ...rest } = { method: "POST", ...init() };
        return request ? [new Request(url, rest)] : [url, rest];
      };
      const { calls, recovering } = watched();
      const response = await recovering(...given());
      assert.equal(response, calls[0].response);
      assert.equal(await response.text(), "\0\u0001");
      await (await fetch(...given())).text();
      // Two forms have two boundaries.
      const boundary = ({ headers }) => headers["content-type"]?.match(/boundary=(.*)/)?.[1] ?? "\0";
      const plain = (request) => {
        const { "idempotency-key": _, ...headers } = request.headers;
        // How a body is cut into chunks is nobody's business.
        const body = headers["transfer-encoding"] ? request.body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, "") : request.body;
        return JSON.parse(JSON.stringify({ ...request, headers, body }).replaceAll(JSON.stringify(boundary(request)).slice(1, -1), "BOUNDARY"));
      };
      assert.deepEqual(plain(seen[0]), plain(seen[1]));
    }));
}

test("a Request is used up, as by fetch, and a used one refused", () =>
  withServer([whole, says("application/json", "{}")], async ({ url }) => {
    for (const body of ['{"stream":true}', "{}"]) {
      const request = new Request(url, post({ body }));
      await (await createRecoveringFetch(fast)(request)).text();
      assert.equal(request.bodyUsed, true);
      await assert.rejects(createRecoveringFetch(fast)(request), TypeError);
    }
  }));

test("the call's other settings go out with every leg", () =>
  withServer([(answer) => answer.head(503).end(), whole], async ({ url }) => {
    const calls = [];
    const inner = (input, init) => (calls.push(init), fetch(input, init));
    const settings = { credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", cache: "no-store", mode: "cors" };
    await (await createRecoveringFetch({ ...fast, fetch: inner })(url, post(settings))).text();
    assert.equal(calls.length, 2);
    for (const init of calls) for (const [name, value] of Object.entries(settings)) assert.equal(init[name], value);
  }));
