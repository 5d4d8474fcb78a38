// What an answer survives in Chromium: a reload, a crash of the tab, a second tab, a page that nobody looks at, a phone's sleep, a
// line that is gone for a while. Always the whole text, once, out of one request to the model.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { listening, openLine } from "./line.mjs";
import { ask, openPage, openStage, recordedText, textOf } from "./stage.mjs";

const dist = new URL("../../web/dist/", import.meta.url);
const types = { js: "text/javascript", wasm: "application/wasm" };

// Asks at once, and again after a reload, as a page does that keeps its questions: with ?follow=STREAM a follower.
const html = `<!doctype html>
<meta charset="utf-8" />
<title>survival</title>
<p></p>
<script type="module">
  import { createRecoveringFetch, recoverStream } from "./index.js";
  const { proxy, simulate = "none", follow, count = 1, dropIn, token, extra = "{}" } = Object.fromEntries(new URLSearchParams(location.search));
  globalThis.seen = { states: [], seams: [], retries: [], answers: [], errors: [] };
  const options = {
    persist: "session",
    onState: (state) => seen.states.push(state),
    onSeam: (seam) => seen.seams.push(seam),
    onRetry: (retry) => seen.retries.push(retry),
    ...JSON.parse(extra),
  };
  const headers = { "X-Simulate": simulate, ...(token && { Authorization: "Bearer " + token }) };
  const body = { model: "simulated", stream: true, messages: [{ role: "user", content: "What moves the tides?" }] };
  const url = follow ? proxy + "/tidemark/streams/" + follow : proxy + "/v1/chat/completions";
  async function ask() {
    const answer = recoverStream(url, { ...options, headers, ...(follow ? {} : { body }) });
    seen.answers.push(answer);
    try {
      for await (const event of answer) document.querySelector("p").dataset.length = answer.text.length;
    } catch (error) {
      seen.errors.push({ code: error.code, status: error.status });
    }
    if (seen.answers.every(({ end }) => end)) document.documentElement.dataset.end = seen.answers[0].end;
  }
  async function fetched() {
    const init = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const response = await createRecoveringFetch(options)(url, init);
    globalThis.whole = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      globalThis.whole += chunk;
      document.querySelector("p").dataset.length = whole.length;
    }
    document.documentElement.dataset.end = "complete";
  }
  for (let i = 0; i < count; ++i) dropIn ? fetched() : ask();
</script>`;

let stage;
// From the page to the proxy, and from there to the model.
let line;
let flow;
let site;
let recorded;
const server = createServer(async ({ url }, response) => {
  const name = new URL(url, "http://h").pathname.slice(1);
  if (name === "sandboxed") response.setHeader("Content-Security-Policy", "sandbox allow-scripts");
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Content-Type", types[name.split(".").at(-1)] ?? "text/html");
  await (/^(sandboxed)?$/.test(name) ? Promise.resolve(html) : readFile(new URL(name, dist))).then(
    (file) => response.end(file),
    () => response.writeHead(404).end(),
  );
});
before(async () => {
  stage = await openStage({ firstByteMs: 3000, upstreamBy: async (address) => (flow = await openLine(address)).address });
  [recorded, line, site] = await Promise.all([recordedText(stage.upstream), openLine(stage.proxy), listening(server)]);
});
after(async () => {
  line?.close();
  flow?.close();
  server.closeAllConnections();
  server.close();
  await stage?.close();
});

const status = async () => (await fetch(`${stage.proxy}/tidemark/status`)).json();
let attempts;
beforeEach(async () => {
  flow.go();
  attempts = (await status()).upstreams[0].attempts;
});
const asked = async () => (await status()).upstreams[0].attempts - attempts;

const address = (parameters = {}) => `${site}/?${new URLSearchParams({ proxy: line.address, ...parameters })}`;
const longerThan = (page, size) => page.waitForFunction((least) => document.querySelector("p")?.dataset.length > least, size);
const ended = (page) => page.waitForSelector("html[data-end]", { state: "attached" });
const textsOf = (page) => page.evaluate(() => seen.answers.map(({ text }) => text));
const noted = (page) => page.evaluate(() => Object.values(JSON.parse(sessionStorage.tidemark ?? "{}")));

async function inContext(run) {
  const context = await stage.browser.newContext();
  const page = await context.newPage();
  const requests = [];
  page.on("request", (request) => {
    if (request.url().startsWith(line.address) && request.method() !== "OPTIONS") requests.push(request.method());
  });
  try {
    await run({ context, page, requests });
  } finally {
    await context.close();
  }
}

// Of an answer's 50 kB, and more than 200 characters of its text.
const midwayBytes = 12000;

/** In the middle of an answer, which stays there until whole(). */
async function midway(page, parameters) {
  const held = flow.holdAfter(midwayBytes);
  await page.goto(address(parameters));
  await held;
  await longerThan(page, 200);
}

/** Whole, out of one request; and nothing is remembered any more. */
async function whole(page, { requests = 1 } = {}) {
  flow.go();
  await ended(page);
  for (const text of await textsOf(page)) assert.equal(text, recorded);
  assert.equal(await asked(), requests);
  assert.deepEqual(await noted(page), []);
  assert.deepEqual(await page.evaluate(() => seen.errors), []);
}

test("a reload in the middle, and another one", () =>
  inContext(async ({ page, requests }) => {
    await midway(page);
    const [[stream, epoch, watermark], ...others] = await noted(page);
    assert.deepEqual(others, []);
    assert.ok(stream.length >= 20 && epoch && watermark > 10, `${stream} ${epoch} ${watermark}`);
    await page.reload();
    await longerThan(page, 200);
    await page.reload();
    await whole(page);
    assert.deepEqual(requests, ["POST", "GET", "GET"]);
    const seams = await page.evaluate(() => seen.seams);
    assert.equal(seams.length, 1);
    assert.equal(seams[0].kind, "restored");
    assert.ok(seams[0].afterSeq >= watermark, `${seams[0].afterSeq}`);
  }));

test("a reload, and the line cut after it", () =>
  inContext(async ({ page, requests }) => {
    await midway(page);
    await page.reload();
    await longerThan(page, 200);
    line.cut();
    await whole(page);
    assert.deepEqual(requests, ["POST", "GET", "GET"]);
  }));

test("a reload before there is an answer", () =>
  inContext(async ({ page, requests }) => {
    await page.goto(address({ simulate: "silence" }));
    await page.waitForFunction(() => sessionStorage.tidemark);
    assert.deepEqual((await noted(page)).map(({ length }) => length), [1]);
    while ((await asked()) === 0);
    await page.reload();
    // The silent attempt, and the one in its place.
    await whole(page, { requests: 2 });
    assert.deepEqual(requests, ["POST", "POST"]);
  }));

test("a reload once it is over asks anew", () =>
  inContext(async ({ page, requests }) => {
    await page.goto(address());
    await ended(page);
    await page.reload();
    await whole(page, { requests: 2 });
    assert.deepEqual(requests, ["POST", "POST"]);
  }));

test("a reload when the server has forgotten it: told once, and the next one asks anew", () =>
  inContext(async ({ page }) => {
    await midway(page);
    await page.evaluate(() => {
      seen.answers.length = 0;
      window.stop();
      sessionStorage.tidemark = sessionStorage.tidemark.replace(/\["\w+"/, '["long-since-forgotten"');
    });
    await page.reload();
    await ended(page);
    assert.deepEqual(await page.evaluate(() => seen.errors.map(({ status }) => status)), [404]);
    assert.equal(await asked(), 1);
    assert.deepEqual(await noted(page), []);
    await page.reload();
    await whole(page, { requests: 2 });
  }));

test("the chat page over a reload", async () => {
  const { page, errors, close } = await openPage(stage);
  try {
    const held = flow.holdAfter(midwayBytes);
    await ask(page, { route: "proxy-messages", wait: false });
    await held;
    await page.waitForFunction(() => document.querySelector(".answer p")?.textContent.length > 200);
    await page.reload();
    flow.go();
    await page.waitForSelector(".answer[data-end]");
    assert.equal(await page.locator(".question").count(), 1);
    assert.equal(await textOf(page.locator(".answer")), recorded);
    assert.equal(await asked(), 1);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    assert.equal(await page.locator(".answer").count(), 0);
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

test("a crash of the tab", () =>
  inContext(async ({ context, page }) => {
    await midway(page);
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send("Target.getTargetInfo");
    const crashed = page.waitForEvent("crash");
    session.send("Page.crash").catch(() => {});
    await crashed;
    // The page object is of no use any more; the tab is.
    const tab = await openTab(targetInfo.targetId);
    await tab("Page.reload");
    flow.go();
    await tab.until(`document.documentElement?.dataset.end === "complete"`);
    assert.equal(await tab.value("seen.answers[0].text"), recorded);
    assert.deepEqual(await tab.value("seen.seams.map(({ kind }) => kind)"), ["restored"]);
    assert.equal(await asked(), 1);
  }));

/** A tab, spoken to past Playwright. */
async function openTab(targetId) {
  const browser = await stage.browser.newBrowserCDPSession();
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: false });
  const waiting = new Map();
  browser.on("Target.receivedMessageFromTarget", ({ sessionId: from, message }) => {
    const { id, result, error } = JSON.parse(message);
    if (from === sessionId && waiting.has(id)) waiting.get(id)(error ? { error } : result);
  });
  let last = 0;
  const tab = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, resolve);
      browser.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) }).catch(reject);
    });
  tab.value = async (expression) => (await tab("Runtime.evaluate", { expression, returnByValue: true })).result?.value;
  tab.until = async (expression) => {
    for (const end = Date.now() + 20000; Date.now() < end; ) if (await tab.value(expression)) return;
    assert.fail(`never: ${expression}`);
  };
  return tab;
}

test("a second tab follows by the answer's name", () =>
  inContext(async ({ context, page }) => {
    await midway(page);
    const second = await context.newPage();
    await second.goto(address({ follow: await page.evaluate(() => seen.answers[0].stream) }));
    await longerThan(second, 200);
    line.cut();
    flow.go();
    await ended(second);
    assert.deepEqual(await textsOf(second), [recorded]);
    await whole(page);
  }));

test("a tab that another one opens has the same answer", () =>
  inContext(async ({ context, page }) => {
    await midway(page);
    const [second] = await Promise.all([context.waitForEvent("page"), page.evaluate(() => void open(location.href))]);
    await whole(second);
    await whole(page);
  }));

test("two that ask for the same at once get one answer, after a reload too", () =>
  inContext(async ({ page }) => {
    await midway(page, { count: 2 });
    await page.reload();
    await longerThan(page, 200);
    assert.equal(await page.evaluate(() => seen.answers.length), 2);
    await whole(page);
  }));

test("the drop-in fetch, over a reload", () =>
  inContext(async ({ page, requests }) => {
    const held = flow.holdAfter(midwayBytes);
    await page.goto(address({ dropIn: 1 }));
    await held;
    await longerThan(page, 4000);
    await page.reload();
    flow.go();
    await ended(page);
    const data = (await page.evaluate(() => whole)).split("\n").filter((line) => line.startsWith("data: {"));
    assert.equal(data.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? "").join(""), recorded);
    assert.equal(await asked(), 1);
    assert.deepEqual(requests, ["POST", "GET"]);
  }));

test("another reader's question is not taken for it", () =>
  inContext(async ({ page }) => {
    await midway(page);
    await page.goto(address({ token: "another" }));
    flow.go();
    await ended(page);
    assert.deepEqual(await textsOf(page), [recorded]);
    assert.deepEqual(await page.evaluate(() => seen.seams), []);
    assert.equal(await asked(), 2);
    // The first is remembered still.
    await page.goto(address());
    await whole(page, { requests: 2 });
  }));

test("what else is in the storage does no harm, nor do others' questions", () =>
  inContext(async ({ page }) => {
    for (const value of ["nothing", "12"]) {
      await page.goto(site);
      await page.evaluate((value) => (sessionStorage.tidemark = value), value);
      await page.goto(address());
      await ended(page);
      assert.deepEqual(await textsOf(page), [recorded], value);
    }
    await midway(page);
    const name = await page.evaluate(() => Object.keys(JSON.parse(sessionStorage.tidemark))[0]);
    for (const note of [true, { a: 1 }, [5], ["潮\n"], ["../../v1"]]) {
      await page.evaluate(([name, note]) => (sessionStorage.tidemark = JSON.stringify({ [name]: note })), [name, note]);
      await page.reload();
      flow.go();
      await page.waitForFunction(() => document.documentElement?.dataset.end || globalThis.seen?.errors.length);
      const [text, errors] = await page.evaluate(() => [seen.answers[0]?.text, seen.errors]);
      // One that looks right is asked for, refused and forgotten.
      if (errors.length > 0) assert.deepEqual([errors[0].status >= 400, await noted(page)], [true, []], JSON.stringify(note));
      else assert.equal(text, recorded, JSON.stringify(note));
    }
  }));

test("a download of the module that breaks is made once more; an answer that is over leaves its connection whole", () =>
  inContext(async ({ page }) => {
    let broken = 0;
    await page.route("**/*.wasm", (route) => (broken++ === 0 ? route.abort("connectionreset") : route.continue()));
    const cancelled = [];
    page.on("requestfailed", (request) => cancelled.push(request.url()));
    const finished = page.waitForEvent("requestfinished", (request) => request.method() === "POST");
    await page.goto(address());
    await whole(page);
    assert.equal((await finished).failure(), null);
    assert.deepEqual(cancelled, [`${site}/tidemark_core.wasm`]);
  }));

test("no more than 16 are remembered: the oldest gives way", () =>
  inContext(async ({ page }) => {
    await page.goto(address({ simulate: "stall-after=40" }));
    await longerThan(page, 30);
    const left = await page.evaluate(async () => {
      const { recoverStream } = await import("./index.js");
      const proxy = new URLSearchParams(location.search).get("proxy");
      const first = Object.keys(JSON.parse(sessionStorage.tidemark))[0];
      for (let i = 0; i < 16; ++i) {
        const body = { stream: true, messages: [], i };
        const leaving = new AbortController();
        recoverStream(`${proxy}/v1/chat/completions`, { body, persist: "session", signal: leaving.signal });
        leaving.abort();
      }
      const names = Object.keys(JSON.parse(sessionStorage.tidemark));
      return [names.length, names.includes(first)];
    });
    assert.deepEqual(left, [16, false]);
  }));

test("without a storage of its own the page is as without `persist`", () =>
  inContext(async ({ page }) => {
    await page.goto(`${site}/sandboxed?${new URLSearchParams({ proxy: line.address })}`);
    assert.equal(await page.evaluate(() => { try { return sessionStorage.length; } catch (error) { return error.name; } }), "SecurityError");
    await ended(page);
    assert.deepEqual(await textsOf(page), [recorded]);
  }));

test("offline for longer than any retry would last, and on at once when there is a line again", () =>
  inContext(async ({ context, page }) => {
    // After the first, a retry would come too late for this test.
    await midway(page, { extra: JSON.stringify({ maxRetries: 1, baseDelayMs: 1e6, maxDelayMs: 1e6 }) });
    await context.setOffline(true);
    line.cut();
    await page.waitForFunction(() => seen.states.at(-1) === "compensating");
    await page.waitForFunction(() => seen.answers[0].attempts === 2);
    // Looking at the page is no network.
    await page.evaluate(() => dispatchEvent(new Event("pageshow")));
    await context.setOffline(false);
    await whole(page);
    assert.equal(await page.evaluate(() => seen.answers[0].attempts), 2);
  }));

test("what wakes a retry more than once leads to one request", () =>
  inContext(async ({ page, requests }) => {
    await midway(page, { extra: JSON.stringify({ firstRetryDelayMs: 1e6, baseDelayMs: 1e6, maxDelayMs: 1e6 }) });
    line.cut();
    await page.waitForFunction(() => seen.retries.length === 1);
    await page.evaluate(() => {
      dispatchEvent(new Event("online"));
      document.dispatchEvent(new Event("visibilitychange"));
      dispatchEvent(new Event("pageshow"));
    });
    await whole(page);
    assert.deepEqual(requests, ["POST", "POST"]);
  }));

test("a page that sleeps: timers late, the line dead without a word", () =>
  inContext(async ({ context, page }) => {
    await midway(page, { extra: JSON.stringify({ heartbeatTimeoutMs: 600 }) });
    const session = await context.newCDPSession(page);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    line.hold();
    await session.send("Page.setWebLifecycleState", { state: "active" });
    await page.waitForFunction(() => seen.retries.length === 1);
    assert.equal(await page.evaluate(() => seen.retries[0].cause), "heartbeat_timeout");
    await whole(page);
  }));

test("a page that nobody looks at keeps a silent leg, and loses it once somebody does", () =>
  inContext(async ({ context, page }) => {
    const extra = JSON.stringify({ heartbeatTimeoutMs: 300 });
    await midway(page, { extra });
    const looked = await context.newPage();
    await looked.goto(address({ extra, follow: await page.evaluate(() => seen.answers[0].stream) }));
    const show = (state) =>
      page.evaluate((state) => {
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, state);
    await show("hidden");
    line.hold();
    // One that is looked at has lost its leg by now, in the same silence.
    await looked.waitForFunction(() => seen.retries.length > 0);
    assert.deepEqual(await page.evaluate(() => seen.retries), []);
    await show("visible");
    await page.waitForFunction(() => seen.retries.length > 0);
    assert.equal(await page.evaluate(() => seen.retries[0].cause), "heartbeat_timeout");
    await whole(page);
  }));
