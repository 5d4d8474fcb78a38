// The chat page for those who look at it, on every window, and for those who hear it. In Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, openPage, openStage } from "./stage.mjs";

let stage;
before(async () => {
  stage = await openStage();
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

const windows = {
  "a phone": { viewport: { width: 360, height: 740 } },
  "a desktop": { viewport: { width: 1280, height: 800 } },
  "the same at 200 %": { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
};
for (const [name, options] of Object.entries(windows)) {
  test(`there is room for everything: ${name}`, () =>
    onPage(async (page) => {
      await ask(page, { fault: "reset-after=40" });
      const cut = await page.evaluate(() => {
        const cut = (element) => element.scrollWidth > element.clientWidth;
        const main = document.querySelector("main");
        const current = [...document.querySelectorAll("#states [data-current], button, h1, header p")];
        return {
          sideways: [document.documentElement, document.body, main].filter(cut).length,
          conversation: main.clientHeight >= 200,
          cut: current.filter((each) => each.offsetParent && cut(each)).map(({ textContent }) => textContent),
        };
      });
      assert.deepEqual(cut, { sideways: 0, conversation: true, cut: [] });
      await page.locator("#send").scrollIntoViewIfNeeded();
      const { y, height } = await page.locator("#send").boundingBox();
      assert.ok(y + height <= options.viewport.height);
    }, options));
}

for (const colorScheme of ["light", "dark"]) {
  test(`words have a contrast of 4.5 at least, the caret 3: ${colorScheme}`, () =>
    onPage(
      async (page) => {
        await ask(page, { fault: "reset-after=40" });
        await page.evaluate(() => {
          document.querySelector(".answer").append(Object.assign(document.createElement("p"), { className: "error", textContent: "error" }));
        });
        const poor = await page.evaluate(() => {
          const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          const luminance = (...colours) => {
            for (const colour of colours) (canvas.fillStyle = colour), canvas.fillRect(0, 0, 1, 1);
            const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) =>
              part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
            );
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          };
          const contrast = (element, colour) => {
            const grounds = [];
            for (let each = element; each; each = each.parentElement) grounds.unshift(getComputedStyle(each).backgroundColor);
            const [low, high] = [luminance(...grounds), luminance(...grounds, colour)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
          };
          const poor = [];
          document.querySelector("#cut").disabled = false;
          const states = [...document.querySelectorAll("#states li")];
          const walker = () => document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          for (const current of states) {
            for (const each of states) each.toggleAttribute("data-current", each === current);
            for (const each of document.getAnimations()) each.finish();
            for (let words = walker(), node; (node = words.nextNode()); ) {
              const element = node.parentElement;
              if (node.data.trim() === "" || !element.checkVisibility()) continue;
              const ratio = contrast(element, getComputedStyle(element).color);
              if (ratio < 4.5) poor.push(`${node.data.trim().slice(0, 20)} ${ratio.toFixed(2)}`);
            }
          }
          const cursor = document.querySelector("tide-cursor");
          for (const state of ["streaming", "compensating"]) {
            cursor.state = state;
            const ratio = contrast(cursor.parentElement, getComputedStyle(cursor, "::before").backgroundColor);
            if (ratio < 3) poor.push(`${state} ${ratio.toFixed(2)}`);
          }
          return poor;
        });
        assert.deepEqual([...new Set(poor)], []);
      },
      { colorScheme },
    ));
}

test("what is said aloud is said once an answer, not once a word", () =>
  onPage(async (page) => {
    const alive = await page.evaluate(() => {
      globalThis.told = [];
      new MutationObserver(() => told.push(document.getElementById("told").textContent)).observe(document.getElementById("told"), { childList: true });
      const live = (element) => element.ariaLive ?? { status: "polite", log: "polite", alert: "assertive" }[element.role] ?? "off";
      return [...document.querySelectorAll("[role], [aria-live]")].filter((each) => live(each) !== "off").map(({ id }) => id);
    });
    assert.deepEqual(alive, ["told"]);
    await ask(page, { fault: "reset-after=40" });
    assert.deepEqual(await page.evaluate(() => told.splice(0)), ["Answering", "The answer is complete."]);
    await ask(page, { fault: "challenge-json" });
    assert.match((await page.evaluate(() => told.splice(0))).at(-1), /^No answer: .*challenge/);
  }));

test("the keyboard does all of it, and the focus is never lost", () =>
  onPage(async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.id);
    const order = [];
    await page.focus("#fault");
    for (let left = 4; left > 0; --left) order.push(await focused()), await page.keyboard.press("Tab");
    assert.deepEqual([...order, await focused()], ["fault", "route", "conversation", "question", "send"]);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".answer");
    assert.equal(await focused(), "stop");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".answer[data-end=stopped]");
    assert.equal(await focused(), "send");
  }));

test("a question and an answer from right to left stand so, the caret on the left", () =>
  onPage(async (page) => {
    await page.route("**/v1/seq", (route) =>
      route.fulfill({ contentType: "text/event-stream", body: 'data: {"seq":0,"delta":"הירח מניע את the tides"}\n\n' }),
    );
    await page.selectOption("#route", "direct-seq");
    await page.fill("#question", "מה מניע את הים?");
    await page.click("#send");
    await page.waitForFunction(() => document.querySelector(".answer p")?.textContent.endsWith("tides"));
    const facts = await page.evaluate(() => {
      const text = document.createRange();
      text.selectNodeContents(document.querySelector(".answer p").firstChild);
      const cursor = document.querySelector("tide-cursor");
      cursor.state = "streaming";
      return {
        caretOnTheLeft: cursor.getBoundingClientRect().right <= text.getBoundingClientRect().left,
        rightToLeft: [...document.querySelectorAll("#question, .question p, .answer p")].map((each) => each.matches(":dir(rtl)")),
      };
    });
    assert.deepEqual(facts, { caretOnTheLeft: true, rightToLeft: [true, true, true] });
  }));
