// What every example is to do, driven in Chromium as its user would, before the proxy and the simulated upstream. The
// page is an article with `.text`, a <tide-cursor>, #stop and #leave, which is there once #ask has been clicked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openLine } from "./line.mjs";
import { openStage, recordedText } from "./stage.mjs";

/** The stage, and a line from the page to the proxy that can be cut. */
export async function openScene() {
  const stage = await openStage();
  const [recorded, line] = await Promise.all([recordedText(stage.upstream), openLine(stage.proxy)]);
  const status = async () => {
    const { streams, readers } = await (await fetch(`${stage.proxy}/tidemark/status`)).json();
    return { ...streams, readers, all: Object.values(streams).reduce((sum, count) => sum + count) };
  };
  const close = async () => {
    line.close();
    await stage.close();
  };
  return { ...stage, recorded, line, status, close };
}

async function until(what, holds) {
  for (const end = Date.now() + 20000; Date.now() < end; await new Promise(setImmediate)) if (await holds()) return;
  assert.fail(`never: ${what}`);
}

/** Runs `run` on a fresh page; nothing may be wrong in its console. `requests` are those that reach the line. */
export async function onPage({ browser, line, status }, run) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors = [];
  const requests = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // What a fault looks like from the browser is no error of the page's.
    if (/error|warning/.test(message.type()) && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
  page.on("request", (request) => {
    if (request.url().startsWith(line.address) && request.method() !== "OPTIONS") requests.push(request.method());
  });
  try {
    await run({ page, requests, before: await status() });
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

export const ended = (page, end) => page.waitForSelector(`article[data-end=${end}]`);
export const textOf = (page) => page.locator(".text").textContent();
const longerThan = (page, size) =>
  page.waitForFunction((least) => document.querySelector(".text").textContent.length > least, size);

/** What was to be seen from here on: the cursor's states, and the frames in which the text changed. */
const watch = (page) =>
  page.evaluate(() => {
    globalThis.seen = { states: [], frames: [] };
    new MutationObserver((records) => {
      const state = document.querySelector("tide-cursor")?.getAttribute("state");
      if (state && state !== seen.states.at(-1)) seen.states.push(state);
      if (records.some(({ type }) => type === "characterData")) seen.frames.push(document.timeline.currentTime);
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  });

/**
 * The tests of the example that is at `site()`. `scene()` gives what openScene() opened. With `adapter` the package's own
 * adapter shows the answer: at most once a frame. `hydrated` says in the page that a server rendered whether it has been
 * taken over.
 */
export function testExample(name, { scene, site, adapter = false, hydrated }) {
  /** Runs `run` where a question has been asked; `ready` may prepare for that. */
  const asked = (simulate, run, ready) =>
    onPage(scene(), async (driven) => {
      const { page, requests } = driven;
      await page.goto(`${site()}?proxy=${scene().line.address}&simulate=${simulate}`);
      if (hydrated !== undefined) await page.waitForFunction(hydrated);
      await watch(page);
      assert.deepEqual(requests, []);
      ready?.();
      await page.click("#ask");
      await page.waitForSelector("article");
      await run({ ...driven, ...scene() });
    });

  test(`${name}: one request, the whole text, the cursor's states`, () =>
    asked("none", async ({ page, requests, before, recorded, status }) => {
      await ended(page, "complete");
      assert.equal(await textOf(page), recorded);
      assert.deepEqual(requests, ["POST"]);
      assert.equal((await status()).all, before.all + 1);
      // What is over cannot be stopped.
      assert.equal(await page.locator("#stop").count(), 0);
      const { states, frames } = await page.evaluate(() => seen);
      assert.deepEqual(states, ["handshaking", "streaming", "finalized"]);
      if (adapter) {
        // The end alone does not wait for its frame.
        const early = frames.slice(0, -1);
        assert.ok(early.length > 1, `${early.length} renders`);
        assert.equal(new Set(early).size, early.length, `frames: ${frames}`);
      }
      const cursor = page.locator("tide-cursor.cursor");
      assert.equal(await cursor.getAttribute("aria-hidden"), "true");
      // The style sheet is there,
      assert.equal(await cursor.evaluate((element) => getComputedStyle(element).display), "none");
      // and the element has been defined.
      assert.equal(await page.locator(".text").getAttribute("aria-busy"), "false");
    }));

  test(`${name}: whole in spite of a cut line`, () => {
    let cut;
    const run = async ({ page, before, recorded, status }) => {
      await cut;
      await ended(page, "complete");
      assert.ok((await page.evaluate(() => seen.states)).includes("compensating"));
      assert.equal(await textOf(page), recorded);
      assert.equal((await status()).all, before.all + 1);
      assert.equal(await page.locator("article [role=alert]").count(), 0);
    };
    // Somewhere in the middle.
    return asked("none", run, () => (cut = scene().line.cutAfter(20000)));
  });

  test(`${name}: stop is a DELETE`, () =>
    asked("stall-after=60", async ({ page, requests, before, recorded, status }) => {
      await longerThan(page, 100);
      await page.click("#stop");
      await ended(page, "stopped");
      await until("stopped", async () => (await status()).stopped === before.stopped + 1);
      assert.deepEqual(requests, ["POST", "DELETE"]);
      const text = await textOf(page);
      assert.ok(text.length < recorded.length && recorded.startsWith(text), text);
      assert.equal(await page.locator("article [role=alert]").count(), 0);
    }));

  test(`${name}: leaving is a disconnect`, () =>
    asked("stall-after=40", async ({ page, requests, before, status }) => {
      await longerThan(page, 40);
      assert.equal((await status()).readers, 1);
      await page.click("#leave");
      await until("no reader", async () => (await status()).readers === 0);
      assert.equal(await page.locator("article").count(), 0);
      assert.deepEqual(requests, ["POST"]);
      assert.equal((await status()).stopped, before.stopped);
    }));

  test(`${name}: an error is shown`, () =>
    asked("status=401", async ({ page }) => {
      await ended(page, "failed");
      assert.equal(await page.locator("article [role=alert]").textContent(), "The simulated upstream answers with status 401.");
      assert.equal(await page.locator("#stop").count(), 0);
      assert.equal((await page.evaluate(() => seen.states)).at(-1), "finalized");
    }));
}
