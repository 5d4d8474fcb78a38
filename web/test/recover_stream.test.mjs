// recoverStream() over real sockets: one answer, whatever its legs go through.
import assert from "node:assert/strict";
import { test } from "node:test";
import { atRest, chatEvents, endComment } from "./flaky_server.mjs";
import { body, events, fast, proxied, read, text, whole, withServer, words } from "./tides.mjs";
import { recoverStream, tailFingerprint } from "tidemark";

test("an undisturbed answer", () =>
  withServer([whole], async ({ url, seen }) => {
    const states = [];
    const answer = recoverStream(`${url}/v1/chat/completions`, { body, onState: (state) => states.push(state) });
    const got = await read(answer);
    assert.equal(answer.text, text);
    assert.deepEqual(got.map((event) => event.seq), events.map((_, seq) => seq));
    assert.equal(got.map((event) => event.text).join(""), text);
    assert.equal(got[0].kind, "text");
    assert.equal(JSON.parse(got[0].data).id, "chatcmpl-1");
    assert.equal(answer.state, "finalized");
    assert.equal(answer.end, "complete");
    assert.deepEqual(states, ["handshaking", "streaming", "finalized"]);
    assert.equal(seen.length, 1);
    assert.equal(seen[0].headers["content-type"], "application/json");
    assert.ok(seen[0].headers["idempotency-key"].length >= 20);
  }));

test("every event has its name, data and bytes: those that were held back, and those that come in pieces", async () => {
  const data = [
    { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words.map((word) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: word } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_stop" },
  ];
  const blocks = data.map((one) => Buffer.from(`event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`));
  const bytes = Buffer.concat(blocks);
  for (const size of [bytes.length, 100, 7, 1]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
    const fetch = async () => {
      const body = new ReadableStream({
        pull: (controller) => (pieces.length > 0 ? controller.enqueue(new Uint8Array(pieces.shift())) : controller.close()),
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    };
    const got = await read(recoverStream("http://127.0.0.1/v1/messages", { body, fetch }));
    assert.deepEqual(got.map(({ name }) => name), data.map(({ type }) => type), `in pieces of ${size}`);
    assert.deepEqual(got.map((event) => JSON.parse(event.data)), data);
    assert.deepEqual(Buffer.concat(got.map((event) => event.bytes)), bytes);
    assert.equal(got.map((event) => event.text).join(""), text);
  }
});

test("ten cuts in one answer, two of them before any progress", () => {
  const long = chatEvents(Array.from({ length: 30 }, (_, index) => `word${index} `), { epoch: "e1" });
  const cutAt = [0, 0, 2, 5, 6, 9, 14, 20, 21, 28];
  const legs = cutAt.map((upTo, leg) => (answer, request) => {
    const from = Number(request.headers["x-resume-seq"] ?? -1) + 1;
    if (leg === 0) return answer.reset();
    answer.head(200, proxied).send(long.slice(from, upTo).join("")).reset();
  });
  const last = (answer, request) =>
    answer.head(200, proxied).send(long.slice(Number(request.headers["x-resume-seq"]) + 1).join("") + endComment).end();
  return withServer([...legs, last], async ({ url, seen }) => {
    const seams = [];
    const answer = recoverStream(`${url}/v1/chat/completions`, { body, ...fast, onSeam: (seam) => seams.push(seam.afterSeq) });
    const got = await read(answer);
    assert.deepEqual(got.map((event) => event.seq), long.map((_, seq) => seq));
    assert.equal(seen.length, 11);
    assert.equal(new Set(seen.map((request) => request.headers["idempotency-key"])).size, 1);
    assert.equal(new Set(seen.map((request) => request.body)).size, 1);
    assert.equal(seen.at(-1).headers["tidemark-epoch"], "e1");
    assert.ok(seams.length >= 7);
  });
});

test("the drop is in the middle of an event and of a character", () => {
  const stream = Buffer.from(events.join("") + endComment);
  const at = stream.indexOf(Buffer.from("潮")) + 1;
  return withServer(
    [
      (answer) => answer.head(200, proxied).send(stream.subarray(0, at)).reset(),
      (answer, request) =>
        answer.head(200, proxied).send(events.slice(Number(request.headers["x-resume-seq"]) + 1).join("") + endComment).end(),
    ],
    async ({ url }) => {
      const answer = recoverStream(`${url}/v1/chat/completions`, { body, ...fast });
      await read(answer);
      assert.equal(answer.text, text);
    },
  );
});

test("numbered deltas are resumed by X-Resume-Seq and the body fields", () => {
  const delta = (seq) => `data: ${JSON.stringify({ seq, delta: words[seq] })}\n\n`;
  return withServer(
    [
      (answer) => answer.head().send(delta(0) + delta(1) + delta(2)).reset(),
      (answer) => answer.head().send(delta(2) + delta(3) + delta(4) + delta(5) + "data: [DONE]\n\n").end(),
    ],
    async ({ url, seen }) => {
      const answer = recoverStream(`${url}/v1/seq`, { body, ...fast });
      await read(answer);
      assert.equal(answer.text, text);
      assert.equal(seen[1].headers["x-resume-seq"], "2");
      const sent = JSON.parse(seen[1].body);
      const received = words.slice(0, 3).join("");
      assert.equal(sent.resumeSeq, 2);
      assert.equal(sent.receivedLength, received.length);
      assert.equal(sent.tailFingerprint, await tailFingerprint(received));
      assert.equal(sent.model, "m");
    },
  );
});

test("what is put into a body for a resume leaves the rest of its text alone", () => {
  const given = ' {"id":12345678901234567890, "f":1.0,"a":1,"a":"\\u00e9}" } \n';
  const delta = (seq, more = "") => `data: ${JSON.stringify({ seq, delta: "x" })}\n\n${more}`;
  const rest = (seq) => (answer) => answer.head().send(delta(seq, "data: [DONE]\n\n")).end();
  const first = (answer) => answer.head().send(delta(0)).reset();
  return withServer([first, rest(1), first, rest(1)], async ({ url, seen }) => {
    await read(recoverStream(`${url}/v1/seq`, { body: given, ...fast }));
    assert.equal(seen[0].body, given);
    const at = given.lastIndexOf("}");
    assert.ok(seen[1].body.startsWith(`${given.slice(0, at)},"resumeSeq":0,"receivedLength":1,"tailFingerprint":"`), seen[1].body);
    assert.ok(seen[1].body.endsWith(`"}${given.slice(at + 1)}`));
    await read(recoverStream(`${url}/v1/seq`, { body: "{ }", ...fast }));
    assert.equal(JSON.parse(seen[3].body).resumeSeq, 0);
  });
});

test("an id outside Latin-1 is sent back as its UTF-8 bytes", () => {
  const event = (id, content) => `id: ${id}\ndata: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
  const ids = ["潮-1", "é-2", "🌊-3"];
  const leg = (from) => (answer) => {
    answer.head().send(event(ids[from], "x"));
    if (from < 2) answer.reset();
    else answer.send("data: [DONE]\n\n").end();
  };
  return withServer([leg(0), leg(1), leg(2)], async ({ url, seen }) => {
    const answer = recoverStream(`${url}/v1/chat/completions`, { body, ...fast });
    await read(answer);
    assert.equal(answer.text, "xxx");
    const sent = seen.map(({ headers }) => headers["last-event-id"] && Buffer.from(headers["last-event-id"], "latin1").toString());
    assert.deepEqual(sent, [undefined, ids[0], ids[1]]);
  });
});

test("a stalled leg is given up by the heartbeat", () =>
  withServer(
    [
      (answer) => answer.head(200, proxied).send(events[0]),
      (answer) => answer.head(200, proxied).send(events.slice(1).join("") + endComment).end(),
    ],
    async ({ url }) => {
      const causes = [];
      const answer = recoverStream(`${url}/v1/chat/completions`, {
        body,
        ...fast,
        heartbeatTimeoutMs: 50,
        onRetry: (retry) => causes.push(retry.cause),
      });
      await read(answer);
      assert.equal(answer.text, text);
      assert.deepEqual(causes, ["heartbeat_timeout"]);
    },
  ));

test("an abort that the page did not ask for is a lost leg", () =>
  withServer(
    [
      (answer) => answer.head(200, proxied).send(events[0]),
      (answer) => answer.head(200, proxied).send(events.slice(1).join("") + endComment).end(),
    ],
    async ({ url }) => {
      let cut;
      const answer = recoverStream(`${url}/v1/chat/completions`, {
        body,
        ...fast,
        fetch: (input, init) => {
          const controller = new AbortController();
          cut ??= () => controller.abort();
          return fetch(input, { ...init, signal: AbortSignal.any([init.signal, controller.signal]) });
        },
      });
      for await (const event of answer) if (event.seq === 0) cut();
      assert.equal(answer.text, text);
      assert.equal(answer.attempts, 2);
    },
  ));

test("a reader that does not read holds the network up, not the heartbeat", () => {
  const count = 300;
  const size = 9000;
  const data = (choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
  const many = Array.from({ length: count }, (_, seq) => `id: e1-${seq}\n${data({ delta: { content: "x".repeat(size) } })}`);
  const end = `id: e1-${count}\n${data({ delta: {}, finish_reason: "stop" })}id: e1-${count + 1}\ndata: [DONE]\n\n`;
  const heartbeatTimeoutMs = 100;
  return withServer(
    [(answer) => answer.head(200, proxied).send(many.join("") + end + endComment).end()],
    async ({ url, seen }) => {
      const answer = recoverStream(`${url}/v1/chat/completions`, { body, heartbeatTimeoutMs });
      const iterator = answer[Symbol.asyncIterator]();
      await iterator.next();
      assert.ok(answer.text.length > 0);
      await atRest(url, () => answer.text.length);
      assert.ok(answer.text.length < count * size, "all was read ahead");
      // The heartbeat's own time, twice over: it is not judged while it is the reader who waits.
      await new Promise((resolve) => setTimeout(resolve, 2 * heartbeatTimeoutMs));
      for (let next = await iterator.next(); !next.done; next = await iterator.next());
      assert.equal(answer.text.length, count * size);
      assert.equal(seen.length, 1);
    },
  );
});
