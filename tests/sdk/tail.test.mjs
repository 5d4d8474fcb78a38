// The official SDKs without a proxy: createRecoveringFetch({ resume: "tail" }) in front of an upstream that ends its answer early, and
// goes on, or begins again. What the SDK puts together is what it makes of the uncut answer.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createRecoveringFetch } from "../../web/dist/index.js";
import { program, start } from "../e2e/start.mjs";

// A list of faults is used up once: each test has an upstream of its own.
let upstream;
beforeEach(async () => {
  const recording = fileURLToPath(new URL("answer.jsonl", import.meta.url));
  upstream = await start(program, "simulate", "--listen", "127.0.0.1:0", "--interval", "0", "--recording", recording);
});
afterEach(() => upstream?.stop());

const messages = [{ role: "user", content: "?" }];

const sdks = {
  async "openai chat"(fetch) {
    const client = new OpenAI({ baseURL: `${upstream.address}/v1`, apiKey: "sk", fetch, maxRetries: 0 });
    const { choices } = await client.chat.completions.stream({ model: "m", messages }).finalChatCompletion();
    return { text: choices[0].message.content, finish: choices[0].finish_reason };
  },
  async "openai responses"(fetch) {
    const client = new OpenAI({ baseURL: `${upstream.address}/v1`, apiKey: "sk", fetch, maxRetries: 0 });
    let text = "";
    const stream = await client.responses.create({ model: "m", input: "?", stream: true });
    for await (const event of stream) if (event.type === "response.output_text.delta") text += event.delta;
    return { text };
  },
  async anthropic(fetch) {
    const client = new Anthropic({ baseURL: upstream.address, apiKey: "sk", fetch, maxRetries: 0 });
    const { content, stop_reason: finish } = await client.messages.stream({ model: "m", max_tokens: 99, messages }).finalMessage();
    return { text: content.map(({ text }) => text).join(""), finish };
  },
};

/** The requests fail by `faults`, in turn. `restart`: the upstream does not learn that it is asked again, and begins again. */
function asking(faults, { restart = false } = {}) {
  const seams = [];
  const asked = [];
  const inner = (input, init) => {
    const headers = new Headers(init.headers);
    asked.push(headers);
    headers.set("X-Simulate", faults.join());
    let { body } = init;
    if (restart) {
      headers.delete("X-Tail-Fingerprint");
      const { receivedLength: _, tailFingerprint: __, ...first } = JSON.parse(body);
      body = JSON.stringify(first);
    }
    headers.delete("Idempotency-Key");
    return fetch(input, { ...init, headers, body });
  };
  const options = { resume: "tail", fetch: inner, firstRetryDelayMs: 0, onSeam: ({ kind }) => seams.push(kind) };
  return { fetch: createRecoveringFetch(options), seams, asked };
}

for (const [name, ask] of Object.entries(sdks)) {
  test(`${name}: a server that goes on, cut behind every event, with and without an overlap`, async () => {
    const uncut = await ask(fetch);
    let joined = 0;
    for (let cut = 1; ; ++cut) {
      for (const overlap of [undefined, 1, 7, 60]) {
        const { fetch: recovering, seams, asked } = asking([`eof-after=${cut}`, overlap ? `overlap=${overlap}` : "none"]);
        assert.deepEqual(await ask(recovering), uncut, `cut ${cut}, overlap ${overlap}`);
        if (asked.length === 1) return assert.ok(joined > 10, `${joined}`);
        joined += seams.length;
      }
      if (cut > 200) assert.fail("never uncut");
    }
  });

  test(`${name}: a server that begins again`, async () => {
    const uncut = await ask(fetch);
    for (const cut of [6, 9, 15]) {
      const { fetch: recovering, seams } = asking([`eof-after=${cut}`], { restart: true });
      assert.deepEqual(await ask(recovering), uncut, `cut ${cut}`);
      assert.deepEqual(seams, ["replayed"], `cut ${cut}`);
    }
  });
}
