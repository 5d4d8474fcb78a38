// How recoverStream() and SilentStreamRecoverer are called, stopped and left.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { endComment } from "./flaky_server.mjs";
import { body, events, fast, proxied, read, text, whole, withServer, words } from "./tides.mjs";
import { recoverStream, SilentStreamRecoverer, TidemarkError, tailFingerprint } from "tidemark";

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
      [{ resume: "tails" }, /resume is "tails"; allowed: auto, tidemark/],
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

test("leaving in the middle of what came at once: nothing of the rest is told", () =>
  withServer([whole, whole], async ({ url }) => {
    const recoverer = new SilentStreamRecoverer(`${url}/v1/chat/completions`, fast);
    const told = [];
    await recoverer.execute(body, (delta) => {
      told.push(delta);
      recoverer.abort();
    });
    assert.deepEqual(told, ["Tides "]);
    const leaving = new AbortController();
    const events = [];
    await assert.rejects(
      async () => {
        for await (const event of recoverStream(`${url}/v1/chat/completions`, { body, ...fast, signal: leaving.signal })) {
          events.push(event);
          leaving.abort();
        }
      },
      { name: "AbortError" },
    );
    assert.equal(events.length, 1);
  }));

test("a new question takes the old one's place at once", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0]), whole], async ({ url }) => {
    const recoverer = new SilentStreamRecoverer(`${url}/v1/chat/completions`, fast);
    const told = [];
    const first = recoverer.execute(body, () => told.push("first"));
    recoverer.abort();
    let told2 = "";
    await recoverer.execute(body, (delta) => (told2 += delta));
    await first;
    assert.deepEqual([told, told2], [[], text]);
  }));

test("an answer that was left can still be stopped; one that is over needs no word", () =>
  withServer([(answer) => answer.head(200, proxied).send(events[0] + events[1]), (answer) => answer.head(200).end(), whole], async ({ url, seen }) => {
    const answer = recoverStream(`${url}/v1/chat/completions`, { body, ...fast });
    for await (const event of answer) if (event.text) break;
    await answer.stop();
    assert.deepEqual(seen.map(({ method, path }) => `${method} ${path}`), ["POST /v1/chat/completions", "DELETE /tidemark/streams/s"]);
    const complete = recoverStream(`${url}/v1/chat/completions`, { body, ...fast });
    await read(complete);
    await complete.stop();
    assert.equal(seen.length, 3);
  }));
