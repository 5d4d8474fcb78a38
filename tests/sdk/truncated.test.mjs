// Answers that break off, ended as `truncated_finish` says: the SDKs' accumulators make valid messages of them.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ask, nameOf, recorded, ways, withoutRetries } from "./ask.mjs";
import { check } from "./compare.mjs";
import { truncations } from "./faults.mjs";
import { given } from "./seen.mjs";
import { openStage } from "./stage.mjs";

/** The ids that the simulated upstream draws. */
const drawn = /^(chatcmpl|resp|msg)[-_]simulated/;

/** What is true of every message of these helpers, beside its text, which check() has looked at. */
const valid = {
  "chat.completions.stream"({ id, object, choices: [{ index, message, finish_reason }] }, finish) {
    assert.match(id, drawn);
    assert.deepEqual(
      { object, index, finish_reason },
      { object: "chat.completion", index: 0, finish_reason: finish },
    );
    assert.equal(message.role, "assistant");
  },
  "responses.stream"({ id, object, status, output, incomplete_details, error }, finish) {
    assert.match(id, drawn);
    assert.deepEqual({ object, status }, { object: "response", status: finish });
    assert.deepEqual(incomplete_details, finish === "incomplete" ? { reason: "max_output_tokens" } : null);
    if (finish === "failed") return assert.equal(error.code, "upstream_truncated");
    assert.equal(error, null);
    assert.deepEqual(
      output.map((item) => ({
        type: item.type,
        role: item.role,
        status: item.status,
        content: item.content.map(({ type }) => type),
      })),
      [{ type: "message", role: "assistant", status: finish, content: ["output_text"] }],
    );
  },
  "messages.stream"({ id, type, role, content, stop_reason, stop_sequence, usage }, finish) {
    assert.match(id, drawn);
    assert.deepEqual(
      { type, role, stop_reason, stop_sequence },
      { type: "message", role: "assistant", stop_reason: finish, stop_sequence: null },
    );
    assert.deepEqual(
      content.map((block) => block.type),
      ["text"],
    );
    // What the upstream had said of it before it broke off is kept.
    assert.deepEqual({ input: usage.input_tokens, output: usage.output_tokens }, { input: 12, output: 1 });
  },
};

for (const { finish, answer } of truncations) {
  describe(`truncated_finish: ${finish}`, { concurrency: true }, () => {
    let stage;
    before(async () => {
      stage = await openStage({ proxies: ways.length, config: { truncated_finish: finish } });
      stage.says = await recorded(stage);
    });
    after(() => stage?.close());
    for (const way of ways) {
      it(`${way.api}, ${nameOf(way)}`, async () => {
        const seen = await ask(stage, way, { simulate: "eof-after=20", retries: withoutRetries });
        const wanted = given(way, answer);
        check(seen, { ...wanted, requests: 1, upstream: 1, waits: [] }, { cut: stage.says.upTo(20, way.api) });
        const isMessage = way.call in valid && !wanted.error;
        assert.equal(seen.final !== undefined, isMessage);
        if (isMessage) valid[way.call](seen.final, seen.finish);
      });
    }
  });
}
