// What the SDKs ask for without a stream goes out and comes back by createRecoveringFetch() as by fetch itself: byte for
// byte, but for the name that a JSON POST is given.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { embed, generateText } from "ai";
import OpenAI, { toFile } from "openai";
import { createRecoveringFetch } from "../../web/dist/index.js";

globalThis.AI_SDK_LOG_WARNINGS = false;

const sound = Buffer.from(Uint8Array.from({ length: 512 }, (_, i) => i));
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 };
const message = { index: 0, message: { role: "assistant", content: "tide" }, finish_reason: "stop" };
const answers = {
  "/v1/models": { object: "list", data: [{ id: "m" }] },
  "/v1/embeddings": { object: "list", data: [{ index: 0, embedding: [0.5, 1] }], usage },
  "/v1/files": { id: "file-1", bytes: sound.length },
  "/v1/chat/completions": { id: "c", object: "chat.completion", created: 1, model: "m", choices: [message], usage },
  "/v1/messages": {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "tide" }],
    stop_reason: "end_turn",
    usage,
  },
  "/v1/messages/count_tokens": { input_tokens: 7 },
};

const seen = [];
let server;
let site;
before(async () => {
  server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    if (request.url === "/v1/audio/speech") return response.setHeader("Content-Type", "audio/mpeg").end(sound);
    const answer = answers[request.url];
    response.writeHead(answer ? 200 : 503, { "Content-Type": "application/json", "X-Request-Id": "r" });
    response.end(JSON.stringify(answer ?? { error: { message: "no such thing", code: "none" } }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  site = `http://127.0.0.1:${server.address().port}`;
});
after(() => (server?.closeAllConnections(), server?.close()));

const openai = (fetch) => new OpenAI({ baseURL: `${site}/v1`, apiKey: "sk", fetch, maxRetries: 0 });
const anthropic = (fetch) => new Anthropic({ baseURL: site, apiKey: "sk", fetch, maxRetries: 0 });
const ai = (fetch) => createOpenAI({ baseURL: `${site}/v1`, apiKey: "sk", fetch });
const messages = [{ role: "user", content: "?" }];

for (const [name, ask] of Object.entries({
  "openai models.list": async (fetch) => (await openai(fetch).models.list()).data,
  "openai embeddings.create": async (fetch) =>
    (await openai(fetch).embeddings.create({ model: "m", input: "?", encoding_format: "float" })).data,
  "openai files.create": async (fetch) =>
    openai(fetch).files.create({ purpose: "user_data", file: await toFile(sound, "tide.bin") }),
  "openai audio.speech.create": async (fetch) =>
    Buffer.from(await (await openai(fetch).audio.speech.create({ model: "m", voice: "v", input: "?" })).arrayBuffer()),
  "openai chat.completions.create": async (fetch) => {
    const { data, response } = await openai(fetch).chat.completions.create({ model: "m", messages }).withResponse();
    return [data, response.url, response.type, response.headers.get("X-Request-Id")];
  },
  "openai with an error": (fetch) =>
    openai(fetch)
      .post("/none", { body: {} })
      .catch(({ constructor, status, code }) => [constructor.name, status, code]),
  "@anthropic-ai/sdk messages.create": (fetch) =>
    anthropic(fetch).messages.create({ model: "m", max_tokens: 9, messages }),
  "@anthropic-ai/sdk messages.countTokens": (fetch) => anthropic(fetch).messages.countTokens({ model: "m", messages }),
  "ai generateText": async (fetch) =>
    (await generateText({ model: ai(fetch).chat("m"), messages, maxRetries: 0 })).text,
  "ai embed": async (fetch) => (await embed({ model: ai(fetch).embedding("m"), value: "?" })).embedding,
})) {
  test(name, async () => {
    const results = [];
    for (const given of [fetch, createRecoveringFetch()]) {
      seen.length = 0;
      const answer = await ask(given);
      assert.equal(seen.length, 1);
      const [{ headers, body, ...rest }] = seen;
      // Two forms have two boundaries; and a form that is read has a length.
      const boundary = headers["content-type"]?.match(/boundary=(.*)/)?.[1];
      const { "idempotency-key": key, "content-length": _, "transfer-encoding": __, ...others } = headers;
      const text = (value) => (boundary ? value.replaceAll(boundary, "BOUNDARY") : value);
      const shown = { ...rest, headers: JSON.parse(text(JSON.stringify(others))), body: text(body.toString("latin1")) };
      results.push({ answer, shown, key });
    }
    const [plain, recovering] = results;
    assert.deepEqual(recovering.answer, plain.answer);
    assert.deepEqual(recovering.shown, plain.shown);
    assert.equal(plain.key, undefined);
    const isJson = plain.shown.method === "POST" && plain.shown.headers["content-type"] === "application/json";
    assert.equal(recovering.key !== undefined, isJson);
  });
}
