// Refusals that come without asking: a breaker that is open, and keys that are all put aside.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { always, apis, ask, nameOf, ways, withoutRetries } from "./ask.mjs";
import { check, checkAll } from "./compare.mjs";
import { paused, refusedKeys } from "./faults.mjs";
import { expected } from "./seen.mjs";
import { openStage } from "./stage.mjs";

describe("a breaker that is open", () => {
  it("refuses without asking the upstream, and says for how long", async () => {
    const stage = await openStage({ config: { breaker: { strikes: 3, open_seconds: 59 } } });
    try {
      const challenged = await ask(stage, ways[0], { simulate: always("challenge-json") });
      assert.equal(challenged.upstream, 3);
      for (const way of ways) {
        const seen = await ask(stage, way, { simulate: "none", retries: withoutRetries });
        const left = seen.error?.retryAfter;
        assert.ok(left >= 1 && left <= 59, `Retry-After: ${left}`);
        check(
          { ...seen, error: { ...seen.error, retryAfter: 59 } },
          expected(way, paused, "always", withoutRetries),
          {},
        );
      }
    } finally {
      await stage.close();
    }
  });
});

describe("keys that are all put aside", () => {
  for (const api of apis) {
    for (const row of refusedKeys) {
      it(`${api}, ${row.fault}: no SDK asks again, and later requests are told the same without asking`, async () => {
        const own = ways.filter((way) => way.api === api);
        const stage = await openStage({ proxies: own.length, keys: ["sk-first", "sk-second"] });
        try {
          // At first each has a proxy of its own, and afterwards one of these.
          for (const times of ["always", "later"]) {
            await checkAll(
              own,
              async (way) =>
                check(await ask(stage, way, { simulate: always(row.fault) }), expected(way, row, times), {}),
              nameOf,
            );
          }
        } finally {
          await stage.close();
        }
      });
    }
  }
});
