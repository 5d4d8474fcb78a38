// The page in Chromium, with the simulated upstream and the proxy behind it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { faults, routes } from "../../web/demo/weather.js";
import { ask, openPage, openStage, recordedText, textOf } from "./stage.mjs";

let stage;
let recorded;
before(async () => {
  stage = await openStage();
  recorded = await recordedText(stage.upstream);
  assert.ok(recorded.length > 1000);
});
after(() => stage?.close());

async function onPage(run, options) {
  const { page, errors, close } = await openPage(stage, options);
  try {
    await run(page);
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
}

const hopeless = ["reasoning-only", "challenge-json", "challenge-html", "challenge-html-cut"];

for (const { value: fault, route } of faults.filter(({ value }) => !hopeless.includes(value))) {
  test(`whole in spite of: ${fault}`, () =>
    onPage(async (page) => {
      const answer = await ask(page, { fault });
      assert.equal(await textOf(answer), recorded);
      assert.equal(await answer.getAttribute("data-end"), "complete");
      assert.equal(await page.locator(".error, .aside").count(), 0);
      assert.equal(await page.locator("#states [data-current]").textContent(), "finalized");
      // What is joined on behind the proxy is no seam for the page.
      const seams = route === "direct-seq" ? fault.match(/(reset|eof|stall)-after/g).length : 0;
      assert.equal(await page.locator("#happenings .seam").count(), seams);
    }));
}

for (const route of Object.keys(routes)) {
  test(`every route: ${route}`, () =>
    onPage(async (page) => assert.equal(await textOf(await ask(page, { route })), recorded)));
}

test("thoughts without an answer are shown, and that it was cut is said", () =>
  onPage(async (page) => {
    const answer = await ask(page, { fault: "reasoning-only" });
    assert.ok((await textOf(answer)).length > 0);
    assert.equal(await answer.getAttribute("data-end"), "truncated");
    assert.match(await answer.locator(".aside").textContent(), /promoted-reasoning/);
  }));

test("thoughts without an answer, straight from an upstream that can be resumed: the answer follows", () =>
  onPage(async (page) => {
    const answer = await ask(page, { fault: "reasoning-only", route: "direct-seq" });
    assert.equal(await textOf(answer), recorded);
    assert.equal(await answer.getAttribute("data-end"), "complete");
    assert.equal(await page.locator(".error, .aside").count(), 0);
  }));

/**
 * Has the page itself click `times` times in the answer that comes, behind each seam, as soon as there is some more of
 * it: looked at from here it may be over by then.
 */
const clickWithin = (page, button, times) =>
  page.evaluate(
    ([button, times]) => {
      let clicks = 0;
      const observer = new MutationObserver(() => {
        const said = document.querySelector(".answer p")?.textContent.length ?? 0;
        const seams = document.querySelectorAll("#happenings .seam").length;
        if (seams !== clicks || said <= 80 * (clicks + 1)) return;
        if (++clicks === times) observer.disconnect();
        document.querySelector(button).click();
      });
      observer.observe(document.body, { characterData: true, childList: true, subtree: true });
    },
    [button, times],
  );

for (const route of ["proxy-chat", "proxy-messages", "proxy-responses", "proxy-seq", "direct-seq"]) {
  test(`the line is cut up to three times in one answer: ${route}`, () =>
    onPage(async (page) => {
      await clickWithin(page, "#cut", 3);
      const answer = await ask(page, { route });
      // Three, where the machine is not so busy that the whole rest comes at once.
      assert.ok((await page.locator("#happenings .seam").count()) >= 1);
      assert.equal(await textOf(answer), recorded);
      assert.equal(await page.locator(".error, .aside").count(), 0);
    }));
}

test("stop ends the answer, and is no error", () =>
  onPage(async (page) => {
    await clickWithin(page, "#stop", 1);
    const answer = await ask(page);
    assert.equal(await answer.getAttribute("data-end"), "stopped");
    assert.ok(recorded.startsWith(await textOf(answer)));
    assert.equal(await page.locator(".error").count(), 0);
    assert.equal(await textOf(await ask(page)), recorded);
  }));

test("the drop-in fetch in Chromium: the same bytes, cut or not", () =>
  onPage(async (page) => {
    const [whole, cut] = await page.evaluate(async (proxy) => {
      const { createRecoveringFetch } = await import("./tidemark/index.js");
      const body = JSON.stringify({ model: "m", stream: true, messages: [] });
      const ask = async (options, key) => {
        const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
        const response = await createRecoveringFetch(options)(`${proxy}/v1/chat/completions`, { method: "POST", body, headers });
        return (await response.text()).replaceAll(/^id: .*\n/gm, "");
      };
      let legs = 0;
      // The first three legs are cut after some chunks.
      const flaky = async (input, init) => {
        const response = await fetch(input, init);
        if (++legs > 3) return response;
        let left = 4;
        const body = response.body.pipeThrough(
          new TransformStream({
            transform: (chunk, controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.error(new TypeError("Load failed"))),
          }),
        );
        return new Response(body, response);
      };
      return [await ask({}, "an-undisturbed-answer-1"), await ask({ fetch: flaky }, "an-answer-that-is-cut-1")];
    }, stage.proxy);
    const nameless = (text) => text.replaceAll(/"(id|created)":("[^"]*"|\d+)/g, '"$1":0');
    assert.equal(nameless(cut), nameless(whole));
    assert.ok(cut.includes("[DONE]"));
  }));

test("the page lives under its content security policy", () =>
  onPage(async (page) => {
    const policy = (await fetch(stage.site)).headers.get("Content-Security-Policy");
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'/);
    await page.evaluate(() => {
      globalThis.violations = [];
      document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
    });
    await ask(page, { fault: "reset-after=40" });
    assert.deepEqual(await page.evaluate(() => violations), []);
  }));

test("nothing stays behind on the page: neither listener nor timer", async () => {
  const context = await stage.browser.newContext();
  await context.addInitScript(() => {
    const counts = (globalThis.counts = { listeners: 0, added: 0, timers: new Set() });
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    const global = (target) => target === globalThis || target === document || target === undefined;
    EventTarget.prototype.addEventListener = function (...all) {
      if (global(this)) ++counts.listeners, ++counts.added;
      return add.apply(this ?? globalThis, all);
    };
    EventTarget.prototype.removeEventListener = function (...all) {
      if (global(this)) --counts.listeners;
      return remove.apply(this ?? globalThis, all);
    };
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    globalThis.setTimeout = (run, delay, ...rest) => {
      const timer = set(() => (counts.timers.delete(timer), run()), delay, ...rest);
      counts.timers.add(timer);
      return timer;
    };
    globalThis.clearTimeout = (timer) => (counts.timers.delete(timer), clear(timer));
  });
  const page = await context.newPage();
  try {
    await page.goto(stage.site);
    await page.waitForSelector("html[data-ready]");
    const before = await page.evaluate(() => counts.listeners);
    for (const fault of ["none", "reset-after=40", "status=504"]) await ask(page, { fault });
    const left = await page.evaluate(() => ({ ...counts, timers: counts.timers.size }));
    assert.ok(left.added >= before + 9);
    assert.deepEqual([left.listeners - before, left.timers], [0, 0]);
  } finally {
    await context.close();
  }
});

// The last one: three in a row open the proxy's breaker.
test("a challenge is told truthfully", () =>
  onPage(async (page) => {
    for (const fault of hopeless.slice(1)) {
      const answer = await ask(page, { fault });
      assert.equal(await answer.getAttribute("data-end"), "failed");
      assert.match(await answer.locator(".error").textContent(), /challenge/);
    }
  }));
