// The proxy killed again and again at random moments under load, as bench/survival/kills.mjs does a thousand times.
import assert from "node:assert/strict";
import { test } from "node:test";
import { killRun } from "../../bench/survival/kill_run.mjs";

test("killed 15 times under load, every answer is whole, and the model is asked once for each kill at most", async () => {
  const run = await killRun({ kills: 15, seed: 6, atOnce: 16, tokens: 80, interval: 10, aliveMs: 500, answers: 4 });
  assert.deepEqual(run.faults, [], `left to look at: ${run.folder}`);
  assert.equal(run.complete, run.streams);
  assert.ok(run.takeovers >= 15, `${run.takeovers} takeovers are too few to prove anything`);
});
