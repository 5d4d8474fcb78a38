// <tide-cursor> as it is rendered: its geometry, its looks in every preference, and what it costs. In Chromium.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { launchBrowser } from "./stage.mjs";
import { traced } from "./trace.mjs";

const dist = (name) => readFile(new URL(`../../web/dist/${name}`, import.meta.url), "utf8");

let browser;
let css;
let script;
before(async () => {
  [browser, css, script] = await Promise.all([launchBrowser(), dist("cursor.css"), dist("cursor.js")]);
});
after(() => browser?.close());

const cursor = (state, attributes = "") => `<tide-cursor state="${state}" ${attributes}></tide-cursor>`;
const magenta = "--tide-cursor-colour: rgb(255, 0, 255)";

/** Runs `run` on a page with the given body, the style sheet and the element's definition. */
async function onPage(body, run, options = {}) {
  const tab = await browser.newPage({ viewport: { width: 700, height: 500 }, ...options });
  try {
    await tab.setContent(
      `<!doctype html><meta name="color-scheme" content="light dark">
       <style>body { font: 16px/1.6 sans-serif } p { margin: 0 0 20px }</style><style>${css}</style>${body}`,
    );
    await tab.addScriptTag({ content: script, type: "module" });
    await tab.waitForFunction(() => customElements.get("tide-cursor"));
    return await run(tab);
  } finally {
    await tab.close();
  }
}

/** Stops every animation where the caret is at its fullest. */
const still = (tab) =>
  tab.evaluate(() => {
    for (const animation of document.getAnimations()) {
      animation.pause();
      const { duration } = animation.effect.getComputedTiming();
      animation.currentTime = animation.animationName === "tide-cursor-blink" ? 0 : duration / 2;
    }
  });

/** What is on the screen in `clip` (CSS pixels): the box of the pixels that are nearly `colour`, or all their colours. */
async function pixels(tab, clip, colour) {
  const png = (await tab.screenshot({ clip, animations: "allow", caret: "initial" })).toString("base64");
  return tab.evaluate(
    async ([png, { x, y, width }, colour]) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, 0, image.width, image.height);
      const scale = image.width / width;
      if (colour === undefined) {
        const colours = new Map();
        for (let at = 0; at < data.length; at += 4) {
          const key = data.slice(at, at + 3).join(" ");
          colours.set(key, (colours.get(key) ?? 0) + 1);
        }
        return Object.fromEntries(colours);
      }
      const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
      for (let at = 0; at < data.length; at += 4) {
        if (colour.some((part, index) => Math.abs(part - data[at + index]) > 110)) continue;
        const [column, row] = [(at / 4) % image.width, Math.floor(at / 4 / image.width)];
        box.left = Math.min(box.left, x + column / scale);
        box.right = Math.max(box.right, x + (column + 1) / scale);
        box.top = Math.min(box.top, y + row / scale);
        box.bottom = Math.max(box.bottom, y + (row + 1) / scale);
      }
      return box;
    },
    [png, clip, colour],
  );
}

const wholePage = { x: 0, y: 0, width: 700, height: 500 };
const caretOf = (tab) => pixels(tab, wholePage, [255, 0, 255]);

/** The boxes of the last line of the text of `#line`, and of `#line` itself. */
const textOf = (tab) =>
  tab.evaluate(() => {
    const line = document.getElementById("line");
    const range = document.createRange();
    range.selectNodeContents(line.firstChild);
    const rects = [...range.getClientRects()];
    const box = ({ left, top, right, bottom }) => ({ left, top, right, bottom });
    // Of several directions in one line, all together.
    const vertical = getComputedStyle(line).writingMode !== "horizontal-tb";
    const across = vertical ? "left" : "top";
    const last = rects.filter((rect) => rect[across] === rects.at(-1)[across]).map(box);
    for (const side of ["left", "top", "right", "bottom"]) {
      last[0][side] = Math[side === "left" || side === "top" ? "min" : "max"](...last.map((rect) => rect[side]));
    }
    return { last: last[0], count: rects.length, all: box(line.getBoundingClientRect()) };
  });

const setState = (tab, state) =>
  tab.evaluate((state) => document.querySelector("tide-cursor").setAttribute("state", state), state);

const facts = (tab) =>
  tab.evaluate(() => {
    const element = document.querySelector("tide-cursor");
    const animation = (pseudo) => {
      const { content, animationName, animationDuration, animationIterationCount } = getComputedStyle(element, pseudo);
      return pseudo && content === "none" ? "none" : [animationName, animationDuration, animationIterationCount].join(" ");
    };
    return {
      display: getComputedStyle(element).display,
      animation: animation(),
      caret: animation("::before"),
      shimmer: animation("::after"),
      busy: element.parentElement.getAttribute("aria-busy"),
      hidden: element.getAttribute("aria-hidden"),
    };
  });

const blinking = { animation: "tide-cursor-blink 0.53s infinite", caret: "none 0s 1", shimmer: "none" };
const breathing = {
  animation: "tide-cursor-breathe 1.5s infinite",
  caret: "tide-cursor-swell 1.5s infinite",
  shimmer: "tide-cursor-shimmer 1.5s infinite",
};

test("it blinks while streaming, breathes while a leg is lost, is gone at the end; all that is said is aria-busy", () =>
  onPage(`<p id="line">tide${cursor("")}</p>`, async (tab) => {
    const shown = { display: "inline", busy: "true", hidden: "true" };
    for (const state of ["handshaking", "streaming", "compensating", "merging"]) {
      await setState(tab, state);
      const moving = ["compensating", "merging"].includes(state) ? breathing : blinking;
      assert.deepEqual(await facts(tab), { ...shown, ...moving });
      assert.equal(await tab.locator("body").ariaSnapshot(), "- paragraph: tide");
    }
    for (const state of ["finalized", "", "unheard-of"]) {
      await setState(tab, state);
      const { display, busy, hidden } = await facts(tab);
      assert.deepEqual({ display, busy, hidden }, { display: "none", busy: "false", hidden: "true" });
    }
    await tab.evaluate(() => document.querySelector("tide-cursor").removeAttribute("state"));
    assert.equal((await facts(tab)).display, "none");
  }));

test("the style sheet does without the script, and the hidden attribute hides it", () =>
  onPage("", async (tab) => {
    await tab.setContent(`<style>${css}</style>${cursor("streaming")}${cursor("merging", "hidden")}`);
    const all = await tab.locator("tide-cursor").evaluateAll((found) => found.map((each) => getComputedStyle(each).display));
    assert.deepEqual(all, ["inline", "none"]);
  }));

// What stands before the caret, the em in px, and on which side of it the caret stands.
const lines = {
  latin: { html: `<p id="line">The tides are moved by the moon` },
  small: { html: `<p id="line" style="font: 11px/1.3 sans-serif">The tides`, em: 11 },
  "large, with little leading": { html: `<p id="line" style="font: 40px/1.1 serif">The tides`, em: 40 },
  "much leading": { html: `<p id="line" style="line-height: 2.6">The tides` },
  "line-height 1": { html: `<p id="line" style="line-height: 1">The tides` },
  centred: { html: `<p id="line" style="text-align: center">The tides` },
  "at the end of the box": { html: `<p id="line" style="text-align: end">The tides` },
  Hebrew: { html: `<p id="line" dir="rtl">הירח מניע את הים`, side: "left" },
  Arabic: { html: `<p id="line" dir="auto">الماء يرتفع مع القمر`, side: "left" },
  "Hebrew that ends in English": { html: `<p id="line" dir="rtl">הירח מניע the tides`, side: "left" },
  "English that ends in Hebrew": { html: `<p id="line">What moves is הירח` },
  Chinese: { html: `<p id="line" lang="zh">月亮引起潮汐，系统架构设计` },
  Japanese: { html: `<p id="line" lang="ja">月は潮を動かす` },
  code: { html: `<p id="line" style="font: 13px/1.5 monospace; white-space: pre">for (;;)\n  tide();`, em: 13 },
  "a trailing space": { html: `<p id="line" style="white-space: pre-wrap">The tides ` },
  zoomed: { html: `<p id="line" style="zoom: 2">The tides`, em: 32 },
  "vertical, from right to left": {
    html: `<p id="line" lang="ja" style="writing-mode: vertical-rl; height: 200px">月は潮を動かす`,
    side: "bottom",
  },
  "vertical, from left to right": {
    html: `<p id="line" style="writing-mode: vertical-lr; height: 200px">The tides`,
    side: "bottom",
  },
  "a row of a flex box": { html: `<p id="line" style="display: flex">The tides` },
  "in a link that is underlined": { html: `<p id="line" style="text-decoration: underline; letter-spacing: 0.2em">tides` },
};

const exact = ["latin", "small", "zoomed"];
for (const [deviceScaleFactor, names] of [[1, exact], [2, Object.keys(lines)]]) {
  test(`a caret as high as the text, close behind it, that moves nothing: ${deviceScaleFactor} pixels a px`, async () => {
    await onPage(
      "",
      async (tab) => {
        for (const name of names) {
          const { html, em = 16, side = "right" } = lines[name];
          const line = `<div style="${magenta}; color: black">${html}${cursor("finalized")}</p></div>`;
          await tab.evaluate((line) => (document.body.innerHTML = line), line);
          const without = await textOf(tab);
          for (const state of ["streaming", "compensating"]) {
            await setState(tab, state);
            assert.deepEqual(await textOf(tab), without, `${name}: nothing moves`);
          }
          await still(tab);
          const caret = await caretOf(tab);
          const { last } = without;
          const size = [caret.right - caret.left, caret.bottom - caret.top];
          const [width, height] = side === "bottom" ? size.reverse() : size;
          const gap = { right: caret.left - last.right, left: last.left - caret.right, bottom: caret.top - last.bottom }[side];
          const [from, to] = side === "bottom" ? ["left", "right"] : ["top", "bottom"];
          const offMiddle = (caret[from] + caret[to] - last[from] - last[to]) / 2;
          const told = `${name}: ${JSON.stringify({ caret, last })}`;
          assert.ok(Math.abs(height - 1.1 * em) <= 1.6, told);
          assert.ok(width >= 1 && width <= Math.max(2, em / 8) + 1, told);
          assert.ok(gap >= -0.6 && gap <= 0.08 * em + 1.1, told);
          assert.ok(Math.abs(offMiddle) <= 1.1, told);
        }
      },
      { deviceScaleFactor },
    );
  });
}

test("a line that nothing else is in has its height: before the first word, and after a line's end", () =>
  onPage(
    `<p>tide</p><p>${cursor("streaming")}</p><pre style="font: 16px/1.6 monospace">one\n${cursor("streaming")}</pre>`,
    async (tab) => {
      const heights = await tab.locator("p, pre").evaluateAll((all) => all.map(({ offsetHeight }) => offsetHeight));
      assert.deepEqual(heights, [26, 26, 51]);
    },
  ));

test("no line breaks for it, however full it is", () =>
  onPage(`<p id="line" style="inline-size: max-content">The tides are moved by the moon${cursor("finalized")}</p>`, async (tab) => {
    await tab.evaluate(() => {
      const line = document.getElementById("line");
      line.style.inlineSize = `${line.getBoundingClientRect().width}px`;
    });
    const without = await textOf(tab);
    const tooLong = "Antidisestablishmentarianismandlongerstill";
    for (const text of ["The tides are moved by the moon", "The tides are moved by the moon ", tooLong]) {
      await tab.evaluate((text) => (document.getElementById("line").firstChild.data = text), text);
      await setState(tab, "merging");
      assert.equal((await textOf(tab)).all.bottom, without.all.bottom, text);
    }
  }));

test("the shimmer makes nothing scroll", () =>
  onPage(
    `<style>div { overflow: auto; width: max-content; padding: 0 4px } p { margin: 0 }</style>
     <div><p>The tides are moved by the moon${cursor("merging")}</p></div>
     <div dir="rtl"><p>הירח מניע את הים${cursor("merging")}</p></div>`,
    async (tab) => {
      const scrolling = await tab.evaluate(() => {
        const moments = Array.from({ length: 16 }, (_, moment) => moment * 100);
        return moments.filter((moment) => {
          for (const animation of document.getAnimations()) animation.pause(), (animation.currentTime = moment);
          return [...document.querySelectorAll("div")].some(
            (each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight,
          );
        });
      });
      assert.deepEqual(scrolling, []);
    },
  ));

test("the shimmer is beside the caret, where the next words come, faint, and on the left from right to left", () =>
  onPage(
    `<div style="width: 300px; margin: auto; color: black; background: white"><p id="line">The tides${cursor("compensating")}</p>
     <p id="rtl" dir="rtl">הירח מניע${cursor("compensating")}</p></div>`,
    async (tab) => {
      await still(tab);
      for (const [id, way] of [["line", 1], ["rtl", -1]]) {
        const { x, y, width } = await tab.locator(`#${id} tide-cursor`).evaluate((each) => each.getBoundingClientRect().toJSON());
        const beside = (way) => pixels(tab, { x: way > 0 ? x + width + 2 : x - 42, y, width: 40, height: 16 });
        const greys = Object.keys(await beside(way)).map((colour) => Number(colour.split(" ")[0]));
        assert.ok(Math.min(...greys) < 250 && Math.min(...greys) > 190, `${id}: ${greys}`);
        await tab.addStyleTag({ content: "tide-cursor::after { content: none !important }" });
        assert.deepEqual(Object.keys(await beside(way)), ["255 255 255"]);
        await tab.evaluate(() => document.querySelector("style:last-of-type").remove());
        await still(tab);
      }
    },
  ));

const luminance = (colour) => {
  const [red, green, blue] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

/** The contrast of the caret that is seen on the screen with what is around it. */
async function seen(tab) {
  const { left, top, height } = await tab.evaluate(() => document.querySelector("tide-cursor").getBoundingClientRect().toJSON());
  const colours = await pixels(tab, { x: Math.round(left) + 1 - 4, y: Math.round(top + height / 2) - 2, width: 12, height: 4 });
  const ground = Object.entries(colours).sort((a, b) => b[1] - a[1])[0][0].split(" ").map(Number);
  return Math.max(...Object.keys(colours).map((colour) => contrast(ground, colour.split(" ").map(Number))));
}

for (const colorScheme of ["light", "dark"]) {
  for (const preference of [{}, { reducedMotion: "reduce" }, { forcedColors: "active" }]) {
    test(`it is seen, with a contrast of 3 at least: ${colorScheme} ${JSON.stringify(preference)}`, () =>
      onPage(
        // The letters leave the place beside the caret free.
        `<p id="line">tide<span style="padding-inline-end: 10px"></span>${cursor("finalized")}</p>`,
        async (tab) => {
          assert.equal(await seen(tab), 1);
          for (const state of ["streaming", "compensating"]) {
            await setState(tab, state);
            await still(tab);
            const ratio = await seen(tab);
            assert.ok(ratio >= 3, `${state}: ${ratio}`);
          }
        },
        { colorScheme, ...preference },
      ));
  }
}

test("forced colours: the caret has the text's colour in place of the page's, and nothing shimmers", () =>
  onPage(
    `<p style="${magenta}"><span style="color: CanvasText"></span>${cursor("merging")}</p>`,
    async (tab) => {
      const [caret, text] = await tab.evaluate(() => [
        getComputedStyle(document.querySelector("tide-cursor"), "::before").backgroundColor,
        getComputedStyle(document.querySelector("span")).color,
      ]);
      assert.equal(caret, text);
      assert.equal((await facts(tab)).shimmer, "none");
      assert.equal((await caretOf(tab)).left, Infinity);
    },
    { forcedColors: "active" },
  ));

test("less motion: nothing moves and nothing shimmers, and a lost leg still looks different", () =>
  onPage(
    `<p>tide${cursor("streaming")}</p>`,
    async (tab) => {
      const opacities = [];
      for (const state of ["streaming", "compensating"]) {
        await setState(tab, state);
        const { display, animation, caret, shimmer } = await facts(tab);
        assert.match(animation, /^none /);
        assert.match(caret, /^none /);
        assert.deepEqual([display, shimmer], ["inline", "none"]);
        assert.equal(await tab.evaluate(() => document.getAnimations().length), 0);
        opacities.push(await tab.evaluate(() => getComputedStyle(document.querySelector("tide-cursor")).opacity));
      }
      assert.deepEqual(opacities, ["1", "0.6"]);
    },
    { reducedMotion: "reduce" },
  ));

test("it is not printed", () =>
  onPage(`<p>tide${cursor("streaming")}${cursor("merging")}</p>`, async (tab) => {
    await tab.emulateMedia({ media: "print" });
    const all = await tab.locator("tide-cursor").evaluateAll((found) => found.map((each) => getComputedStyle(each).display));
    assert.deepEqual(all, ["none", "none"]);
  }));

test("in a shadow root that has the style sheet it looks the same", () =>
  onPage(`<div id="host" style="${magenta}"></div>`, async (tab) => {
    await tab.evaluate(
      ([css, html]) => {
        const root = document.getElementById("host").attachShadow({ mode: "open" });
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(css);
        root.adoptedStyleSheets = [sheet];
        root.innerHTML = html;
        for (const animation of root.getAnimations()) animation.pause(), (animation.currentTime = 750);
      },
      [css, `<p>tide${cursor("compensating")}</p>`],
    );
    const names = await tab.evaluate(() =>
      document.getElementById("host").shadowRoot.getAnimations().map((each) => each.animationName),
    );
    assert.deepEqual(names.sort(), ["tide-cursor-breathe", "tide-cursor-shimmer", "tide-cursor-swell"]);
    const { top, bottom } = await caretOf(tab);
    assert.ok(Math.abs(bottom - top - 1.1 * 16) <= 1.6);
  }));

test("colour, size and timing are custom properties of any ancestor, and each is in the package's README", () =>
  onPage(`<p>tide${cursor("streaming")}</p>`, async (tab) => {
    const read = (pseudo, property) =>
      tab.locator("tide-cursor").evaluate((each, [pseudo, property]) => getComputedStyle(each, pseudo)[property], [pseudo, property]);
    const cases = {
      "--tide-cursor-colour": ["rgb(1, 2, 3)", "streaming", "::before", "backgroundColor", "rgb(1, 2, 3)"],
      "--tide-cursor-width": ["7px", "streaming", "::before", "width", "7px"],
      "--tide-cursor-height": ["31px", "streaming", "::before", "height", "31px"],
      "--tide-cursor-gap": ["5px", "streaming", null, "marginLeft", "5px"],
      "--tide-cursor-blink": ["2s", "streaming", null, "animationDuration", "2s"],
      "--tide-cursor-breath": ["3s", "merging", "::after", "animationDuration", "3s"],
      "--tide-cursor-shimmer-width": ["100px", "merging", "::after", "boxShadow", /70px 0px/],
    };
    const readme = await readFile(new URL("../../web/README.md", import.meta.url), "utf8");
    const documented = new Set([...readme.matchAll(/^\| `(--tide-cursor-[\w-]+)`/gm)].map(([, name]) => name));
    const used = new Set([...css.matchAll(/var\((--tide-cursor-[\w-]+)/g)].map(([, name]) => name));
    assert.deepEqual([...documented].sort(), Object.keys(cases).sort());
    assert.deepEqual([...used].sort(), Object.keys(cases).sort());
    for (const [name, [value, state, pseudo, property, expected]] of Object.entries(cases)) {
      await setState(tab, state);
      await tab.evaluate(([name, value]) => document.body.style.setProperty(name, value), [name, value]);
      const found = await read(pseudo, property);
      if (expected instanceof RegExp) assert.match(found, expected, name);
      else assert.equal(found, expected, name);
    }
  }));

for (const state of ["streaming", "compensating"]) {
  test(`it moves without the page's main thread: ${state}`, () =>
    onPage(`<p>tide${cursor(state)}</p>`, async (tab) => {
      await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const { main, drawn } = await traced(tab, () => setTimeout(1200));
      assert.ok(drawn.length >= 3, `${drawn.length} frames drawn`);
      for (const work of ["UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Commit"]) {
        const times = main.filter(({ name }) => name === work).length;
        assert.ok(times <= 1, `${work}: ${times} times for ${drawn.length} frames`);
      }
    }));
}
