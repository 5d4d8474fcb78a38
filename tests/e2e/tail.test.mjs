// resume: "tail" in Chromium, straight from a page to a server that ends its answers early: what it types, and what an SDK's
// fetch is given.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launchBrowser } from "./stage.mjs";

const dist = new URL("../../web/dist/", import.meta.url);
const types = { js: "text/javascript", wasm: "application/wasm" };
const words = ["Low", " tide", " uncovers", " 沙洲", "，潮水", "退去", "。", " Waves", " 🌊", " rise."];
const text = words.join("");
const chunk = (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;

// Every request but the last ends after a few characters. /on goes on with a bit of what was received, /again begins again,
// /other says something else.
const asked = [];
async function answer({ url, headers, ...request }, response) {
  const body = JSON.parse((await request.toArray()).join(""));
  asked.push({ body, fingerprint: headers["x-tail-fingerprint"] });
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const from = url === "/on" ? Math.max(0, (body.receivedLength ?? 0) - 3) : 0;
  const pieces = url === "/other" && from === 0 && asked.length > 1 ? words.with(2, " hides") : [...text.slice(from)].map(String);
  const cut = asked.length < 4;
  const sent = cut ? pieces.slice(0, url === "/on" ? 12 : 12 * asked.length) : pieces;
  response.end(sent.map(chunk).join("") + (cut ? "" : end));
}

let browser;
let site;
before(async () => {
  site = createServer((request, response) => {
    if (request.method === "POST") {
      const { url, headers } = request;
      return void answer({ url, headers, toArray: () => request.setEncoding("utf8").toArray() }, response);
    }
    const name = request.url.slice(1);
    response.setHeader("Content-Type", types[name.split(".").at(-1)] ?? "text/html");
    void (name === "" ? Promise.resolve("<!doctype html><title>page</title>") : readFile(new URL(name, dist))).then(
      (file) => response.end(file),
      () => response.writeHead(404).end(),
    );
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  site?.closeAllConnections();
  site?.close();
});

const onPage = async (path) => {
  asked.length = 0;
  const page = await browser.newPage();
  try {
    await page.goto(`http://127.0.0.1:${site.address().port}/`);
    return await page.evaluate(async (path) => {
      const { recoverStream } = await import("/index.js");
      const kinds = [];
      const options = { resume: "tail", firstRetryDelayMs: 0, baseDelayMs: 1, jitterMs: 0, dialect: "openai-chat" };
      const answer = recoverStream(path, { body: { stream: true }, ...options, onSeam: ({ kind }) => kinds.push(kind) });
      let code;
      try {
        for await (const _ of answer);
      } catch (error) {
        code = error.code;
      }
      return { text: answer.text, end: answer.end, kinds, code };
    }, path);
  } finally {
    await page.close();
  }
};

test("a server that goes on is joined on, cut after cut", async () => {
  assert.deepEqual(await onPage("/on"), { text, end: "complete", kinds: ["trimmed", "trimmed", "trimmed"], code: undefined });
  assert.deepEqual(asked.map(({ body }) => body.receivedLength), [undefined, 12, 21, 30]);
  for (const { body, fingerprint } of asked) assert.equal(fingerprint, body.tailFingerprint);
});

test("a server that begins again types nothing twice", async () => {
  assert.deepEqual(await onPage("/again"), { text, end: "complete", kinds: ["replayed", "replayed", "replayed"], code: undefined });
});

test("another answer is refused, and the page keeps what it has", async () => {
  const { code, end: how, text: kept } = await onPage("/other");
  assert.deepEqual([code, how], ["seam_refused", "failed"]);
  assert.ok(text.startsWith(kept) && kept.length > 0, kept);
});
