// From a reset to the next new character on the page, default retry options, over 100 runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, openPage, openStage, recordedText, textOf } from "./stage.mjs";

const runs = 100;

test(`${runs} resets: less than 800 ms each to the next new character`, async (t) => {
  const stage = await openStage({ interval: 1 });
  try {
    const recorded = await recordedText(stage.upstream);
    const { page, close } = await openPage(stage);
    // Notes when the page hears of the loss (the strip's state) and when the answer grows after that.
    await page.evaluate(() => {
      globalThis.healed = [];
      let lostAt;
      new MutationObserver((records) => {
        for (const { type, target } of records) {
          if (type === "attributes" && target.dataset.state === "compensating" && target.hasAttribute("data-current")) {
            lostAt = performance.now();
          } else if (type === "characterData" && lostAt !== undefined) {
            healed.push(performance.now() - lostAt);
            lostAt = undefined;
          }
        }
      }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-current"], characterData: true });
    });
    for (let run = 0; run < runs; ++run) {
      const answer = await ask(page, { fault: "reset-after=40" });
      assert.equal(await textOf(answer), recorded);
      assert.equal(await page.locator(".error").count(), 0);
      await page.evaluate(() => document.querySelector("main").replaceChildren());
    }
    const times = (await page.evaluate(() => healed)).sort((a, b) => a - b);
    assert.equal(times.length, runs);
    const at = (share) => Math.round(times[Math.min(runs - 1, Math.floor(share * runs))]);
    t.diagnostic(`ms: least ${at(0)}, median ${at(0.5)}, 90 % ${at(0.9)}, 99 % ${at(0.99)}, most ${at(1)}`);
    assert.ok(times.at(-1) < 800, `${times.at(-1)} ms`);
    await close();
  } finally {
    await stage.close();
  }
});
