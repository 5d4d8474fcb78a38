// resume: "tail" over real sockets: the request repeated, and what comes back joined on by its text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chatEvents, flakyServer } from "./flaky_server.mjs";
import { createRecoveringFetch, recoverStream, SilentStreamRecoverer, SseParser, tailFingerprint } from "tidemark";

const words = ["Low", " tide", " uncovers", " 沙洲", "，潮水", "退去", "。", " Waves", " 🌊", " rise", " and", " \"fall\"", "."];
const text = words.join("");
const options = { resume: "tail", baseDelayMs: 1, jitterMs: 1, firstRetryDelayMs: 0 };
const body = { stream: true, messages: [{ role: "user", content: "?" }] };

const contents = (pieces) => chatEvents(pieces).slice(0, -2).join("");
const cut = (pieces) => (answer) => answer.head().send(contents(pieces)).reset();
const whole = (pieces) => (answer) => answer.head().send(chatEvents(pieces).join("")).end();
/** A server that knows its answer, and goes on `overlap` characters (never half of one) before what was received. */
const goingOn = (overlap, pieces = words) => async (answer, { headers, body: asked }) => {
  const { receivedLength, tailFingerprint: fingerprint } = JSON.parse(asked);
  assert.equal(headers["x-tail-fingerprint"], fingerprint);
  assert.equal(fingerprint, await tailFingerprint(text.slice(0, receivedLength)));
  const points = [...text.slice(0, receivedLength)];
  const again = overlap === 0 ? "" : points.slice(-overlap).join("");
  let left = receivedLength;
  const rest = pieces.flatMap((piece) => {
    const from = Math.min(left, piece.length);
    left -= from;
    return piece.slice(from) === "" ? [] : [piece.slice(from)];
  });
  rest[0] = again + rest[0];
  return whole(rest)(answer);
};

async function withServer(script, run) {
  const server = await flakyServer(...script);
  try {
    return await run(server);
  } finally {
    await server.close();
  }
}

async function iterated(url, more = {}) {
  const seams = [];
  const states = [];
  const onSeam = ({ type: _, ...seam }) => seams.push(seam);
  const answer = recoverStream(`${url}/v1/chat/completions`, { body, ...options, onSeam, onState: (state) => states.push(state), ...more });
  const events = [];
  let error;
  try {
    for await (const event of answer) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  return { answer, events, error, seams, states };
}

/** What an SDK makes of the body: the JSON of its events. */
async function chunksOf(response) {
  const parser = await SseParser.create();
  const events = [...parser.feed(await response.arrayBuffer())];
  parser.free();
  assert.equal(events.at(-1).data, "[DONE]");
  return events.slice(0, -1).map(({ data }) => JSON.parse(data));
}
const contentOf = (chunks) => chunks.map(({ choices }) => choices[0].delta.content ?? "").join("");

test("a server that goes on: cut behind every word, whatever it repeats, text and bytes hold each character once", async () => {
  for (let at = 1; at < words.length; ++at) {
    for (const overlap of [0, 1, 4, 60]) {
      const script = [cut(words.slice(0, at)), goingOn(overlap)];
      await withServer(script, async ({ url, seen }) => {
        const { answer, error, seams, events } = await iterated(url);
        assert.equal(error, undefined);
        assert.equal(answer.text, text);
        assert.equal(answer.end, "complete");
        assert.equal(seen.length, 2);
        assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index));
        const delivered = words.slice(0, at).join("");
        const trimmed = overlap === 0 ? 0 : [...delivered].slice(-overlap).join("").length;
        const kind = trimmed === 0 ? "resumed" : trimmed === delivered.length ? "replayed" : "trimmed";
        assert.deepEqual(seams, [{ attempt: 2, afterSeq: at - 1, duplicates: 0, kind, trimmed }]);
        for (const { kind: what, data, text: said } of events) {
          if (what === "text") assert.equal(JSON.parse(data).choices[0].delta.content, said);
        }
      });
      await withServer(script, async ({ url }) => {
        const init = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
        const response = await createRecoveringFetch(options)(`${url}/v1/chat/completions`, init);
        assert.equal(contentOf(await chunksOf(response)), text);
      });
    }
  }
});

test("a server that begins again: what is there is not typed again, and the body is the uncut one", async () => {
  for (let at = 1; at < words.length; ++at) {
    await withServer([cut(words.slice(0, at)), whole(words)], async ({ url, seen }) => {
      const { answer, seams, states } = await iterated(url);
      assert.equal(answer.text, text);
      assert.deepEqual(seams, [{ attempt: 2, afterSeq: at - 1, duplicates: at, kind: "replayed", trimmed: words.slice(0, at).join("").length }]);
      assert.deepEqual(states, ["handshaking", "streaming", "compensating", "merging", "streaming", "finalized"]);
      const { receivedLength, tailFingerprint: fingerprint, ...asked } = JSON.parse(seen[1].body);
      assert.deepEqual(asked, body);
      assert.equal(receivedLength, words.slice(0, at).join("").length);
      assert.equal(seen[1].headers["x-tail-fingerprint"], fingerprint);
      assert.equal(seen[0].headers["x-tail-fingerprint"], undefined);
      assert.equal(seen[0].headers["idempotency-key"], seen[1].headers["idempotency-key"]);
    });
    await withServer([cut(words.slice(0, at)), whole(words)], async ({ url }) => {
      const response = await createRecoveringFetch(options)(url, { method: "POST", body: JSON.stringify(body) });
      assert.equal(await response.text(), chatEvents(words).join(""));
    });
  }
});

test("begun again in other pieces: an event that is new in part is written anew, its other lines kept", () => {
  const [first] = chatEvents(["Low tide"]);
  const finish = { choices: [{ index: 0, delta: { content: " is low" }, finish_reason: "stop" }], big: 1 };
  const last = `id: 7\r\nevent: chunk\r\ndata: ${JSON.stringify(finish)}\r\n\r\ndata: [DONE]\r\n\r\n`;
  return withServer(
    [
      (answer) => answer.head().send(first + contents([" is"])).reset(),
      (answer) => answer.head().send(first + last).end(),
    ],
    async ({ url }) => {
      const response = await createRecoveringFetch(options)(url, { method: "POST", body: JSON.stringify(body) });
      const bytes = await response.text();
      const rest = { choices: [{ index: 0, delta: { content: " low" }, finish_reason: "stop" }], big: 1 };
      assert.ok(bytes.endsWith(`id: 7\nevent: chunk\ndata: ${JSON.stringify(rest)}\n\ndata: [DONE]\r\n\r\n`), bytes);
    },
  );
});

test("another answer is refused where it parts, and nothing is taken back", async () => {
  const other = words.with(5, "上涨");
  const script = [cut(words.slice(0, 9)), (answer) => answer.head().send(contents(other))];
  const refused = { name: "TidemarkError", code: "seam_refused", attempts: 2, message: "the server sent a different answer" };
  await withServer(script, async ({ url }) => {
    const { answer, error } = await iterated(url);
    assert.throws(() => {
      throw error;
    }, refused);
    assert.equal(answer.text, words.slice(0, 9).join(""));
    assert.equal(answer.endReason, "seam_refused");
  });
  await withServer(script, async ({ url }) => {
    const response = await createRecoveringFetch(options)(url, { method: "POST", body: JSON.stringify(body) });
    await assert.rejects(response.text(), refused);
  });
  await withServer([cut(words.slice(0, 9)), whole(words.slice(0, 4))], async ({ url }) => {
    assert.equal((await iterated(url)).error.code, "seam_refused");
  });
});

test("five cuts in one answer, in a replay, too", () =>
  withServer(
    [cut(words.slice(0, 2)), cut(words.slice(0, 1)), goingOnThenCut(3, 2), cut(words.slice(0, 6)), cut(words.slice(0, 9)), goingOn(2)],
    async ({ url, seen }) => {
      const { answer, error, seams } = await iterated(url);
      assert.equal(error, undefined);
      assert.equal(answer.text, text);
      assert.equal(seen.length, 6);
      assert.deepEqual(seams.map(({ attempt, kind }) => [attempt, kind]), [[3, "trimmed"], [4, "replayed"], [5, "replayed"], [6, "trimmed"]]);
    },
  ));

/** Goes on behind the second word, some of it again, and dies after so many words. */
function goingOnThenCut(overlap, count) {
  const delivered = words.slice(0, 2).join("");
  const rest = words.slice(2, 2 + count);
  rest[0] = delivered.slice(-overlap) + rest[0];
  return cut(rest);
}

test("the callback form is given what is new", () =>
  withServer([cut(words.slice(0, 3)), whole([words.slice(0, 5).join(""), ...words.slice(5)])], async ({ url }) => {
    const deltas = [];
    await new SilentStreamRecoverer(url, options).execute(body, (delta) => deltas.push(delta));
    assert.deepEqual(deltas, [...words.slice(0, 3), words[3] + words[4], ...words.slice(5)]);
  }));

test("a body that is no JSON object stays as it is; numbered events tell their number", async () => {
  const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
  const script = [
    (answer) => answer.head().send(event({ seq: 4, delta: "Low" })).reset(),
    (answer) => answer.head().send(event({ seq: 5, delta: "w tide" }) + event({ done: true })).end(),
  ];
  for (const [sent, expected] of [
    ["plain", "plain"],
    [{ a: 1 }, JSON.stringify({ a: 1, resumeSeq: 4, receivedLength: 3, tailFingerprint: await tailFingerprint("Low") })],
  ]) {
    await withServer(script, async ({ url, seen }) => {
      const answer = recoverStream(`${url}/v1/seq`, { body: sent, ...options, dialect: "seq-delta" });
      for await (const _ of answer);
      assert.equal(answer.text, "Low tide");
      assert.equal(seen[1].body, expected);
      assert.equal(seen[1].headers["x-tail-fingerprint"], await tailFingerprint("Low"));
    });
  }
});

test("nobody who did not choose it asks twice for an answer that has begun", () =>
  withServer([cut(words.slice(0, 2)), whole(words)], async ({ url, seen }) => {
    const { error } = await iterated(url, { resume: "auto" });
    assert.equal(error.code, "stream_interrupted");
    assert.equal(seen.length, 1);
  }));
