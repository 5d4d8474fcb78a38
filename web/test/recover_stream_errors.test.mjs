// Which errors recoverStream() ends with, and in whose words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { body, events, fast, proxied, read, withServer } from "./tides.mjs";
import { recoverStream, TidemarkError } from "tidemark";

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
      assert.deepEqual(error.cause, { error: { message: "so it is", code: "idempotency_key_reused" } });
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

test("a cut that can't be healed is told in words, with what fetch said of it as the cause", () =>
  withServer([(answer) => answer.head(200, { "Content-Length": 9999 }).send(events[0] + events[1]).reset()], async ({ url }) => {
    await assert.rejects(read(recoverStream(`${url}/v1/chat/completions`, { body, ...fast, resume: "none" })), (error) => {
      assert.equal(error.code, "stream_interrupted");
      assert.match(error.message, /^the connection was lost: ./);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  }));

test("an error event has the status of the response that it came in", () =>
  withServer([(answer) => answer.head().send(`data: {"error":{"message":"m","code":"boom"}}\n\n`).end()], async ({ url }) => {
    await assert.rejects(read(recoverStream(`${url}/v1/chat/completions`, { body })), { code: "boom", message: "m", status: 200 });
  }));

test("the error's class is known by its name", () => {
  assert.equal(TidemarkError.name, "TidemarkError");
  assert.equal(new TidemarkError("c", "m").constructor.name, "TidemarkError");
});

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
