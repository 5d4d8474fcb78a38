// The package in pages of other people's making: their servers, their policies, their markup. In Chromium.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { launchBrowser } from "./stage.mjs";

const dist = new URL("../../web/dist/", import.meta.url);
const types = { js: "text/javascript", css: "text/css", wasm: "application/wasm" };
const data = (value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const answer = data({ choices: [{ index: 0, delta: { content: "tide" } }] }) + data("[DONE]");

async function listening(handler) {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

// Below /bare/ there is the script without its module, as bundlers move it: all else is answered by the page.
const page = () =>
  listening(async ({ url }, response) => {
    const [, policy, name] = url.match(/^\/(?:(policy|bare)\/)?(\w+\.(?:js|css|wasm))?$/) ?? [];
    const file = name === undefined || (policy === "bare" && name.endsWith(".wasm")) ? undefined : new URL(name, dist);
    response.setHeader("Content-Type", file === undefined ? "text/html" : types[name.split(".").at(-1)]);
    if (policy === "policy") response.setHeader("Content-Security-Policy", "script-src 'self'");
    response.end(file === undefined ? "<!doctype html><title>page</title>" : await readFile(file));
  });

// A model API on another origin, whose list of headers is as short as most are.
const api = (seen) =>
  listening((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "content-type, authorization");
    if (request.method === "OPTIONS") return response.end();
    seen.push(request.url);
    if (request.url === "/json") return response.end("{}");
    response.setHeader("Content-Type", "text/event-stream");
    response.end(answer);
  });

let browser;
let site;
let model;
const seen = [];
before(async () => {
  [browser, site, model] = await Promise.all([launchBrowser(), page(), api(seen)]);
});
after(async () => {
  await browser?.close();
  site?.close();
  model?.close();
});

/** What `run` gives on a fresh page of the site; it is given the model's origin. */
async function onPage(path, run) {
  const tab = await browser.newPage();
  try {
    await tab.goto(`${site.origin}${path}`);
    return await tab.evaluate(run, model.origin);
  } finally {
    await tab.close();
  }
}

test("window.fetch itself can be what requests are made with", async () => {
  const said = await onPage("/", async (origin) => {
    const { recoverStream, createRecoveringFetch } = await import("/index.js");
    const options = { fetch: window.fetch, sendIdempotencyKey: false, maxRetries: 0 };
    const answer = recoverStream(`${origin}/v1/chat/completions`, { body: { stream: true }, ...options });
    for await (const _ of answer);
    const init = { method: "POST", body: '{"stream":true}', headers: { "Content-Type": "application/json" } };
    const response = await createRecoveringFetch(options)(`${origin}/v1/chat/completions`, init);
    return [answer.text, await response.text()];
  });
  assert.deepEqual(said, ["tide", answer]);
});

test("a request that another origin does not let through says what may be the cause, and how it goes without", async () => {
  seen.length = 0;
  const [failures, whole] = await onPage("/", async (origin) => {
    const { recoverStream, createRecoveringFetch } = await import("/index.js");
    const url = `${origin}/v1/chat/completions`;
    const told = async (run) => {
      try {
        return await run();
      } catch ({ name, message, code, cause }) {
        return { name, message, code, cause: cause?.message };
      }
    };
    const iterated = async (options) => {
      const answer = recoverStream(url, { body: { stream: true }, ...options });
      for await (const _ of answer);
      return answer.text;
    };
    const dropIn = async (options, path = "", body = '{"stream":true}') => {
      const init = { method: "POST", body, headers: { "Content-Type": "application/json" } };
      return (await createRecoveringFetch(options)(path === "" ? url : origin + path, init)).text();
    };
    const once = { maxRetries: 0 };
    const nameless = { ...once, sendIdempotencyKey: false };
    return [
      [await told(() => iterated(once)), await told(() => dropIn(once)), await told(() => dropIn(once, "/json", "{}"))],
      [await iterated(nameless), await dropIn(nameless), await dropIn(nameless, "/json", "{}")],
    ];
  });
  const hint = /^Failed to fetch; does http:\/\/127\.0\.0\.1:\d+ allow this origin and the header Idempotency-Key \(else: sendIdempotencyKey: false\)\?$/;
  for (const { message, cause } of failures) {
    assert.match(message, hint);
    assert.equal(cause, "Failed to fetch");
  }
  assert.deepEqual(failures.map(({ name, code }) => [name, code]), [
    ["TidemarkError", "network_error"],
    ["TypeError", undefined],
    ["TypeError", undefined],
  ]);
  assert.deepEqual(whole, ["tide", answer, "{}"]);
  assert.equal(seen.length, 3);
});

for (const [path, message] of [
  ["/bare/", /could not be loaded: .*\/bare\/tidemark_core\.wasm is an HTML page, .*Vite/],
  ["/policy/", /could not be loaded: .*Content Security Policy/],
]) {
  test(`a module that can't be had is told with its cause, and costs no request after the first: ${path}`, async () => {
    seen.length = 0;
    const errors = await onPage(path, async (origin) => {
      const { recoverStream } = await import(`${location.pathname}index.js`);
      const errors = [];
      for (let call = 0; call < 3; ++call) {
        const options = { body: { stream: true }, sendIdempotencyKey: false };
        const answer = recoverStream(`${origin}/v1/chat/completions`, options);
        try {
          for await (const _ of answer);
        } catch ({ code, message }) {
          errors.push({ code, message });
        }
      }
      return errors;
    });
    assert.equal(errors.length, 3);
    for (const error of errors) {
      assert.equal(error.code, "engine_unavailable");
      assert.match(error.message, message);
    }
    assert.ok(seen.length <= 1, `${seen.length} requests`);
  });
}

test("a state that was set before the cursor was defined counts, and so do those after it", async () => {
  const facts = await onPage("/", async () => {
    const cursor = document.createElement("tide-cursor");
    document.body.append(cursor);
    cursor.state = "streaming";
    await import("/cursor.js");
    const first = [cursor.getAttribute("state"), document.body.getAttribute("aria-busy")];
    cursor.state = "finalized";
    return [...first, cursor.getAttribute("state"), document.body.getAttribute("aria-busy")];
  });
  assert.deepEqual(facts, ["streaming", "true", "finalized", "false"]);
});

test("aria-busy: the host of a shadow root, several cursors, and what the page has set itself", async () => {
  const facts = await onPage("/", async () => {
    await import("/cursor.js");
    const make = (state) => Object.assign(document.createElement("tide-cursor"), { state });
    const host = document.createElement("div");
    document.body.append(host);
    const busy = () => host.getAttribute("aria-busy");
    const facts = {};

    const inShadow = make("streaming");
    host.attachShadow({ mode: "open" }).append(inShadow);
    facts.shadow = [busy(), (inShadow.remove(), busy())];

    const [one, two] = [make("streaming"), make("streaming")];
    host.append(one, two);
    two.state = "finalized";
    facts.oneOfTwo = busy();
    one.state = "finalized";
    facts.noneOfTwo = busy();
    one.state = "merging";
    two.remove();
    facts.oneLeft = busy();
    one.remove();
    facts.gone = busy();

    host.setAttribute("aria-busy", "true");
    host.append(one);
    one.state = "finalized";
    facts.pagesOwn = [busy(), (one.remove(), busy())];
    host.append(one);
    one.state = "streaming";
    host.setAttribute("aria-busy", "false");
    one.remove();
    facts.pagesSince = busy();
    return facts;
  });
  assert.deepEqual(facts, {
    shadow: ["true", null],
    oneOfTwo: "true",
    noneOfTwo: "false",
    oneLeft: "true",
    gone: null,
    pagesOwn: ["true", "true"],
    pagesSince: "false",
  });
});
