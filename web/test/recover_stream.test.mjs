// recoverStream() and SilentStreamRecoverer over real sockets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { atRest, chatEvents, endComment, flakyServer } from "./flaky_server.mjs";
import { recoverStream, SilentStreamRecoverer, TidemarkError, tailFingerprint } from "tidemark";

const words = ["Tides ", "rise ", "and ", "潮 ", "fall", "."];
const text = words.join("");
const body = { model: "m", stream: true, messages: [] };
const proxied = { "Tidemark-Stream": "s", "Tidemark-Epoch": "e1" };
const fast = { baseDelayMs: 1, jitterMs: 1, firstRetryDelayMs: 1 };

async function withServer(script, run) {
  const server = await flakyServer(...script);
  try {
    return await run(server);
  } finally {
    await server.close();
  }
}

async function read(answer) {
  const events = [];
  for await (const event of answer) events.push(event);
  return events;
}

const events = chatEvents(words, { epoch: "e1" });
const whole = (answer) => answer.head(200, proxied).send(events.join("") + endComment).end();

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

test("refusals that pass are repeated; one that does not is told in the server's words", () => {
  const refuse = (status, code) => (answer) =>
    answer.head(status, { "Content-Type": "application/json" }).send(JSON.stringify({ error: { message: "so it is", code } })).end();
  return withServer([refuse(503, "x"), refuse(504, "y"), refuse(422, "idempotency_key_reused")], async ({ url, seen }) => {
    const answer = recoverStream(`${url}/v1/chat/completions`, { body, ...fast });
    await assert.rejects(read(answer), (error) => {
      assert.ok(error instanceof TidemarkError);
      assert.equal(error.code, "idempotency_key_reused");
      assert.equal(error.message, "so it is");
      assert.equal(error.status, 422);
      assert.equal(error.attempts, 3);
      return true;
    });
    assert.equal(answer.end, "failed");
    assert.equal(seen.length, 3);
  });
});

test("whatever shape a refusal's body has, its words are the message", () => {
  const bodies = { '{"error":"plain"}': "plain", '{"detail":"so"}': "so", '{"message":"bare","code":"c"}': "bare", '{"error":{"message":"deep"}}': "deep" };
  const script = Object.keys(bodies).map((said) => (answer) => answer.head(400, { "Content-Type": "application/json" }).send(said).end());
  return withServer(script, async ({ url }) => {
    for (const message of Object.values(bodies)) {
      await assert.rejects(read(recoverStream(url, { body })), { name: "TidemarkError", message, status: 400 });
    }
  });
});

test("an error event has the status of the response that it came in", () =>
  withServer([(answer) => answer.head().send(`data: {"error":{"message":"m","code":"boom"}}\n\n`).end()], async ({ url }) => {
    await assert.rejects(read(recoverStream(`${url}/v1/chat/completions`, { body })), { code: "boom", message: "m", status: 200 });
  }));

test("the error's class is known by its name", () => {
  assert.equal(TidemarkError.name, "TidemarkError");
  assert.equal(new TidemarkError("c", "m").constructor.name, "TidemarkError");
});

test("the page's own fetch is called as a function, not as a method", () =>
  withServer([whole, (answer) => answer.head(200, proxied).send(events[0]), (answer) => answer.head(404).end()], async ({ url }) => {
    const receivers = new Set();
    const options = {
      body,
      fetch(...call) {
        receivers.add(this);
        return globalThis.fetch(...call);
      },
    };
    await read(recoverStream(url, options));
    const answer = recoverStream(`${url}/v1/chat/completions`, options);
    for await (const _ of answer) await answer.stop();
    assert.deepEqual([...receivers], [undefined]);
  }));

test("no Idempotency-Key where the page does not want one", () =>
  withServer([(answer) => answer.head(503).end(), whole], async ({ url, seen }) => {
    const answer = recoverStream(url, { body, ...fast, sendIdempotencyKey: false });
    await read(answer);
    assert.equal(answer.text, text);
    assert.deepEqual(seen.map(({ headers }) => headers["idempotency-key"]), [undefined, undefined]);
  }));

test("a Retry-After beyond maxRetryAfterMs is final and says how long", () =>
  withServer([(answer) => answer.head(503, { "Retry-After": "30" }).end()], async ({ url, seen }) => {
    await assert.rejects(read(recoverStream(url, { body, ...fast })), { status: 503, retryAfter: 30000 });
    assert.equal(seen.length, 1);
  }));

test("retries run out", () =>
  withServer(Array(3).fill((answer) => answer.reset()), async ({ url, seen }) => {
    await assert.rejects(read(recoverStream(url, { body, ...fast, maxRetries: 2 })), (error) => {
      assert.equal(error.code, "network_error");
      assert.equal(error.attempts, 3);
      assert.ok(error.cause instanceof TypeError);
      return true;
    });
    assert.equal(seen.length, 3);
  }));

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

test("leaving the loop is a disconnect, and no DELETE", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0])], async ({ url, seen, sockets }) => {
    const answer = recoverStream(`${url}/v1/chat/completions`, { body });
    for await (const event of answer) {
      assert.equal(event.text, words[0]);
      break;
    }
    assert.equal(answer.state, "finalized");
    assert.equal(answer.end, undefined);
    await once([...sockets][0], "close");
    assert.equal(seen.length, 1);
  }));

test("aborting the signal throws its reason", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0])], async ({ url, sockets }) => {
    const controller = new AbortController();
    const answer = recoverStream(`${url}/v1/chat/completions`, { body, signal: controller.signal });
    const reason = new Error("enough");
    await assert.rejects(async () => {
      for await (const _ of answer) controller.abort(reason);
    }, reason);
    await once([...sockets][0], "close");
    await assert.rejects(read(recoverStream(url, { body, signal: controller.signal })), reason);
  }));

test("stop() is a DELETE on the same origin, with the credential, and ends the loop", () =>
  withServer(
    [(answer) => answer.head(200, proxied).send(events[0]), (answer) => answer.head(200, { "Content-Length": 0 }).end()],
    async ({ url, seen }) => {
      const answer = recoverStream(`${url}/v1/chat/completions`, { body, headers: { Authorization: "Bearer t" } });
      for await (const _ of answer) await answer.stop();
      assert.equal(answer.end, "stopped");
      assert.equal(answer.endReason, "client-stop");
      assert.equal(seen[1].method, "DELETE");
      assert.equal(seen[1].path, "/tidemark/streams/s");
      assert.equal(seen[1].headers.authorization, "Bearer t");
    },
  ));

test("a stop that does not reach the server is told as a TidemarkError", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0]), (answer) => answer.reset()], async ({ url }) => {
    const answer = recoverStream(`${url}/v1/chat/completions`, { body });
    for await (const _ of answer) {
      await assert.rejects(answer.stop(), (error) => {
        assert.ok(error instanceof TidemarkError);
        assert.equal(error.code, "network_error");
        assert.ok(error.cause instanceof TypeError);
        return true;
      });
    }
    assert.equal(answer.end, "stopped");
  }));

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

test("a listener that throws does not break the stream", () =>
  withServer([whole], async ({ url }) => {
    const thrown = [];
    process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error.message));
    const answer = recoverStream(`${url}/v1/chat/completions`, {
      body,
      onState: (state) => {
        if (state === "streaming") throw new Error("listener");
      },
    });
    await read(answer);
    process.setUncaughtExceptionCaptureCallback(null);
    assert.equal(answer.text, text);
    assert.deepEqual(thrown, ["listener"]);
  }));

test("misuse is told at the call, with the field and what is allowed, and nothing is sent", () =>
  withServer([], async ({ url, seen }) => {
    const circle = {};
    circle.circle = circle;
    const cases = [
      [{ maxRetries: -1 }, /maxRetries is -1; allowed: a whole number from 0/],
      [{ maxRetries: 1.5 }, /maxRetries/],
      [{ heartbeatTimeoutMs: Number.NaN }, /heartbeatTimeoutMs is NaN/],
      [{ factor: "2" }, /factor is "2"; allowed: a number from 1/],
      [{ dialect: "klingon" }, /dialect is "klingon"; allowed: auto, openai-chat/],
      [{ resume: "tail" }, /resume is "tail"; allowed: auto, tidemark/],
      [{ onState: "x" }, /onState is "x"; allowed: a function/],
      [{ sendIdempotencyKey: 0 }, /sendIdempotencyKey is 0; allowed: true, false/],
      [{ maxRetry: 3 }, /unknown option maxRetry; allowed: .*maxRetries/],
      [{ body: {}, method: "get" }, /method is "get"; allowed: /],
      [{ method: "TRACE" }, /method is "TRACE"; allowed: /],
      [{ method: "a b" }, /method is "a b"; allowed: /],
      [{ method: 5 }, /method is 5; allowed: /],
      [{ credentials: "yes" }, /credentials is "yes"; allowed: omit, same-origin, include/],
      [{ headers: { "a b": "" } }, /headers is \[object Object\]; allowed: /],
      [{ headers: { a: "系" } }, /headers is \[object Object\]; allowed: /],
      [{ headers: 5 }, /headers is 5; allowed: /],
      [{ signal: {} }, /signal is \[object Object\]; allowed: an AbortSignal/],
      [{ signal: new AbortController() }, /signal is \[object AbortController\]; allowed: an AbortSignal/],
      [null, /options is null; allowed: an object/],
      ["x", /options is "x"; allowed: an object/],
      [{ body: new FormData() }, /body is \[object FormData\]; allowed: /],
      [{ body: new Blob() }, /body is \[object Blob\]; allowed: /],
      [{ body: new Uint8Array() }, /body is \[object Uint8Array\]; allowed: /],
      [{ body: null }, /body is null; allowed: /],
      [{ body: 5 }, /body is 5; allowed: /],
      [{ body: circle }, /body is \[object Object\]; allowed: .*JSON/],
      [{ body: { a: 1n } }, /body is \[object Object\]; allowed: .*JSON/],
    ];
    for (const [options, message] of cases) {
      assert.throws(() => recoverStream(url, options), { name: "TypeError", message });
    }
    for (const wrong of ["/relative", "ftp://h/", "http://name:word@h/", "http://", 5, undefined]) {
      assert.throws(() => recoverStream(wrong, { body }), { name: "TypeError", message: /url is .*; allowed: / });
    }
    assert.throws(() => new SilentStreamRecoverer("nowhere"), TypeError);
    assert.throws(() => new SilentStreamRecoverer(url, { body }), /unknown option body/);
    assert.throws(() => new SilentStreamRecoverer(url, null), /options is null/);
    const recoverer = new SilentStreamRecoverer(url);
    for (const payload of [undefined, null, 5, new Blob()]) {
      await assert.rejects(recoverer.execute(payload, () => {}), { name: "TypeError", message: /payload is .*; allowed: / });
    }
    for (const [at, name] of ["onDelta", "onError", "onFinish"].entries()) {
      const callbacks = [() => {}, undefined, undefined];
      callbacks[at] = "x";
      await assert.rejects(recoverer.execute(body, ...callbacks), { name: "TypeError", message: new RegExp(`${name} is "x"; allowed: a function`) });
    }
    await assert.rejects(recoverer.execute(body), { name: "TypeError", message: /onDelta is undefined; allowed: a function/ });
    assert.equal(seen.length, 0);
  }));

test("options that are left out by null or undefined", () =>
  withServer([whole, whole], async ({ url }) => {
    const answer = recoverStream(url, { body, signal: null, headers: undefined, maxRetries: undefined });
    await read(answer);
    assert.equal(answer.text, text);
    let said = "";
    assert.equal(await new SilentStreamRecoverer(url).execute(body, (delta) => (said += delta), null, () => 5), undefined);
    assert.equal(said, text);
  }));

test("the callback form", () =>
  withServer(
    [(answer) => answer.head(200, proxied).send(events.slice(0, 2).join("")).reset(),
      (answer) => answer.head(200, proxied).send(events.slice(2).join("") + endComment).end(),
      (answer) => answer.head(400, { "Content-Type": "application/json" }).send("{}").end(),
      (answer) => answer.head(200, proxied).send(events[0]),
      (answer) => answer.head(400).end(),
      (answer) => answer.head(400).end()],
    async ({ url }) => {
      const recoverer = new SilentStreamRecoverer(`${url}/v1/chat/completions`, fast);
      let said = "";
      let summary;
      await recoverer.execute(body, (delta) => (said += delta), assert.fail, (done) => (summary = done));
      assert.equal(said, text);
      assert.equal(summary.text, text);
      assert.equal(summary.end, "complete");
      assert.equal(summary.attempts, 2);

      let error;
      await recoverer.execute(body, assert.fail, (failure) => (error = failure), assert.fail);
      assert.equal(error.code, "http_status");
      assert.equal(error.status, 400);
      assert.equal(error.message, "the server answered 400");

      const running = recoverer.execute(body, () => recoverer.abort(), assert.fail, assert.fail);
      await assert.rejects(recoverer.execute(body, () => {}), /still running/);
      assert.equal(await running, undefined);

      // Nobody is there to be told: the failure must not vanish.
      await assert.rejects(recoverer.execute(body, assert.fail), { name: "TidemarkError", code: "http_status" });
      assert.equal(await recoverer.execute(body, assert.fail, () => 5), undefined);
    },
  ));

test("the fingerprint", async () => {
  assert.equal(await tailFingerprint(""), "cbf29ce484222325");
  assert.equal(await tailFingerprint("abc"), "e71fa2190541574b");
  await assert.rejects(tailFingerprint(3), TypeError);
});
