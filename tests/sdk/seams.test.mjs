// An answer that is cut at any event is continued, and what the SDKs make of it is what they make of the uncut one
// (contract § 5).
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ask, nameOf, ways, withoutRetries } from "./ask.mjs";
import { checkAll } from "./compare.mjs";
import { model } from "./sdks.mjs";
import { openStage } from "./stage.mjs";

const pool = 4;
const overlaps = [0, 12, 17, 23, 31, 40, 48, 60];

/** As the SDK has put the answer together, without ids that are drawn, and without empty lists that may be left out. */
function heardOf({ text, finish, accumulated, final }) {
  const plain = (key, value) => {
    if (key === "logprobs" && value?.length === 0) return undefined;
    return typeof value === "string" ? value.replace(/^((?:chatcmpl|resp|msg|rs)[-_]simulated).*$/, "$1") : value;
  };
  return { text, finish, accumulated, final: final && JSON.parse(JSON.stringify(final), plain) };
}

/** What is said twice is paid for twice, and told so. */
const withoutUsage = ({ final, ...rest }) => ({ ...rest, final: final && { ...final, usage: undefined } });

const paths = { "openai-chat": "chat/completions", "openai-responses": "responses", "anthropic-messages": "messages" };

function textOf(data) {
  const { choices, type, delta } = JSON.parse(data);
  if (choices) return choices[0]?.delta.content ?? "";
  return type === "response.output_text.delta" ? delta : (delta?.text ?? "");
}

/** After how many events the answer is cut where there is text to go on from, and the text up to there. */
async function cuts(stage, { api }) {
  const input = "whole";
  const answer = await fetch(`${stage.upstream}/v1/${paths[api]}`, {
    method: "POST",
    body: JSON.stringify({ model, stream: true, max_tokens: 999, input, messages: [{ role: "user", content: input }] }),
  });
  const events = (await answer.text()).split("\n\n").map((block) => block.split("data: ")[1]);
  const last = events.findIndex((data) => /"finish_reason":"|output_text\.done|content_block_stop/.test(data));
  const all = [];
  for (let [text, i] = ["", 0]; i < last; ++i) {
    text += textOf(events[i]);
    if (text.trim() !== "") all.push({ events: i + 1, text });
  }
  return all;
}

const streaming = ways.filter(({ call }) => !call.endsWith(".create"));

for (const form of ["prefix", "continue-turn"]) {
  describe(`continued by ${form}`, { concurrency: true }, () => {
    let stage;
    before(async () => (stage = await openStage({ proxies: pool, upstream: { continuation: [form] } })));
    after(() => stage?.close());
    for (const way of streaming) {
      it(`${way.api}, ${nameOf(way)}: cut at every event`, async () => {
        const whole = heardOf(await ask(stage, way, { simulate: "none", retries: withoutRetries }));
        const places = await cuts(stage, way);
        assert.ok(places.length > 20);
        // A lighter overlap than overlap_min is kept as chance; one of all that there was starts the answer again.
        const cases = places.flatMap(({ events, text }) =>
          overlaps
            .filter((overlap) => overlap === 0 || text.trimEnd().length > overlap)
            .map((overlap) => ({ events, overlap })),
        );
        await checkAll(
          cases,
          async ({ events, overlap }) => {
            const simulate = `reset-after=${events},overlap=${overlap}`;
            const seen = await ask(stage, way, { simulate, retries: withoutRetries });
            assert.equal(seen.error, undefined);
            const compared = overlap === 0 ? (heard) => heard : withoutUsage;
            assert.deepEqual(compared(heardOf(seen)), compared(whole));
            assert.equal(seen.upstream, 2);
          },
          ({ events, overlap }) => `after ${events} events, overlap ${overlap}`,
        );
      });

      it(`${way.api}, ${nameOf(way)}: five cuts in one answer`, async () => {
        const whole = heardOf(await ask(stage, way, { simulate: "none", retries: withoutRetries }));
        const again = [12, 14, 13, 12].map((overlap) => `overlap=${overlap}+eof-after=8`);
        const simulate = ["reset-after=8", ...again, "none"].join();
        const seen = await ask(stage, way, { simulate, retries: withoutRetries });
        assert.deepEqual(withoutUsage(heardOf(seen)), withoutUsage(whole));
        assert.equal(seen.upstream, 6);
      });
    }
  });
}

const chat = ways.find(({ call }) => call === "chat.completions.stream");

/** Cuts the answer at each place, once for each of the place's overlaps, and compares what the SDK makes of it. */
async function everyCut(stage, overlapsAt) {
  const whole = heardOf(await ask(stage, chat, { simulate: "none", retries: withoutRetries }));
  const places = await cuts(stage, chat);
  await checkAll(
    places.flatMap((place) => overlapsAt(place).map((overlap) => ({ ...place, overlap }))),
    async ({ events, overlap }) => {
      const simulate = `reset-after=${events},overlap=${overlap}`;
      const seen = await ask(stage, chat, { simulate, retries: withoutRetries });
      assert.equal(seen.error, undefined);
      assert.deepEqual(withoutUsage(heardOf(seen)), withoutUsage(whole));
    },
    ({ events, overlap }) => `after ${events} events, overlap ${overlap}`,
  );
}
const shorterThan = (text, overlap) => overlap < [...text.trimEnd()].length;
const from = (least, most) => Array.from({ length: most - least + 1 }, (_, i) => least + i);

for (const [about, upstream, overlapsAt] of [
  ["every overlap", {}, ({ text }) => from(12, 60).filter((overlap) => shorterThan(text, overlap))],
  ["overlap_min 1", { overlap_min: 1 }, ({ text }) => from(1, 20).filter((overlap) => shorterThan(text, overlap))],
  ...["trailing", "prefix-flag", "partial-flag", "continue-final-message"].map((style) => [
    style,
    { prefix_style: style },
    ({ text }) => [0, 20].filter((overlap) => shorterThan(text, overlap)),
  ]),
]) {
  describe(`continued by prefix: ${about}`, () => {
    let stage;
    before(async () => (stage = await openStage({ proxies: pool, upstream: { continuation: ["prefix"], ...upstream } })));
    after(() => stage?.close());
    it(`${chat.api}, ${nameOf(chat)}: cut at every event`, () => everyCut(stage, overlapsAt));
  });
}

describe("continued by reattach", { concurrency: true }, () => {
  let stage;
  before(async () => (stage = await openStage({ proxies: pool, upstream: { continuation: ["reattach"] } })));
  after(() => stage?.close());
  const way = ways.find(({ call }) => call === "responses.stream");
  it(`${way.api}, ${nameOf(way)}: cut at every event`, async () => {
    const more = { background: true, store: true };
    const whole = heardOf(await ask(stage, way, { simulate: "none", retries: withoutRetries, more }));
    const places = await cuts(stage, way);
    await checkAll(
      places,
      async ({ events }) => {
        const seen = await ask(stage, way, { simulate: `reset-after=${events}`, retries: withoutRetries, more });
        assert.deepEqual(heardOf(seen), whole);
      },
      ({ events }) => `after ${events} events`,
    );
  });
});
