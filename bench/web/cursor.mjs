// Frames that Chromium draws while 200 characters a second arrive before the cursor, by its trace; without a cursor, too.
//   node bench/web/cursor.mjs [--rounds N] [--seconds N]
// Needs web/node_modules and web/dist. Prints the medians over the rounds, and in brackets the least and the most.
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { launchBrowser } from "../../tests/e2e/stage.mjs";
import { traced } from "../../tests/e2e/trace.mjs";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "7" }, seconds: { type: "string", default: "3" } } });
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const dist = (name) => readFile(new URL(`../../web/dist/${name}`, import.meta.url), "utf8");
const [css, script] = [await dist("cursor.css"), await dist("cursor.js")];

async function measure(browser, state) {
  const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  const cursor = state === "none" ? "" : `<tide-cursor state="${state}"></tide-cursor>`;
  await page.setContent(`<!doctype html><style>p { font: 16px/1.6 sans-serif }</style><style>${css}</style><p>The tides${cursor}</p>`);
  await page.addScriptTag({ content: script, type: "module" });
  const arrived = () => page.evaluate(() => ({ length: document.querySelector("p").textContent.length, at: performance.now() }));
  await page.evaluate(() => {
    const text = document.querySelector("p").firstChild;
    const start = performance.now();
    let written = 0;
    // As many as are due by now, so that a late timer does not slow the stream.
    setInterval(() => {
      const due = Math.floor((performance.now() - start) / 5);
      if (due > written) text.appendData("the moon pulls ".repeat(1 + (due - written) / 15).slice(0, due - written));
      written = due;
    }, 5);
  });
  const before = await arrived();
  const { main, drawn } = await traced(page, () => setTimeout(seconds * 1000));
  const after = await arrived();
  await page.close();
  const gaps = drawn.slice(1).map((time, index) => (time - drawn[index]) / 1000).sort((one, other) => one - other);
  const span = (drawn.at(-1) - drawn[0]) / 1e6;
  const work = main.filter(({ name, ph }) => ph === "X" && ["UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Commit"].includes(name));
  return {
    "frames a second": (drawn.length - 1) / span,
    "gap between frames, median, ms": gaps[Math.floor(gaps.length / 2)],
    "gap, 95 %, ms": gaps[Math.floor(gaps.length * 0.95)],
    "main thread: style to commit, ms a frame": work.reduce((sum, { dur }) => sum + dur, 0) / 1000 / drawn.length,
    "characters a second": ((after.length - before.length) / (after.at - before.at)) * 1000,
  };
}

const states = ["none", "streaming", "merging"];
const results = new Map(states.map((state) => [state, []]));
const browser = await launchBrowser();
try {
  // In turn, so that what else the machine does meets all of them.
  for (let round = 0; round < rounds; ++round) {
    for (const state of states) results.get(state).push(await measure(browser, state));
  }
} finally {
  await browser.close();
}
for (const [state, all] of results) {
  console.log(state === "none" ? "without a cursor" : state);
  for (const name of Object.keys(all[0])) {
    const sorted = all.map((each) => each[name]).sort((one, other) => one - other);
    const show = (value) => value.toFixed(value < 10 ? 2 : 1);
    console.log(`  ${name}: ${show(sorted[Math.floor(sorted.length / 2)])} (${show(sorted[0])} to ${show(sorted.at(-1))})`);
  }
}
