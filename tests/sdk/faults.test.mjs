// Every fault of the table, once and always, to every way of every SDK, without and with its own retries.
import { after, before, describe, it } from "node:test";
import { always, apis, ask, nameOf, ways, withRetries, withoutRetries } from "./ask.mjs";
import { checkAll, check } from "./compare.mjs";
import { faults } from "./faults.mjs";
import { expected } from "./seen.mjs";
import { openStages, texts } from "./stages.mjs";

let stages;
before(async () => (stages = await openStages()));
after(() => stages?.close());

for (const api of apis) {
  describe(api, { concurrency: 8 }, () => {
    for (const row of faults) {
      it(row.fault, () => {
        const stage = stages.of(row);
        const cases = ways
          .filter((way) => way.api === api)
          .flatMap((way) =>
            ["once", "always"].flatMap((times) =>
              [withoutRetries, withRetries].map((retries) => ({ way, times, retries })),
            ),
          );
        return checkAll(
          cases,
          async ({ way, times, retries }) => {
            const simulate = times === "once" ? row.fault : always(row.fault);
            const seen = await ask(stage, way, { simulate, retries, fresh: row.fresh });
            check(seen, expected(way, row, times, retries), texts(stage.says, row.fault, api));
          },
          ({ way, times, retries }) =>
            `${nameOf(way)}, ${times}, ${retries === withRetries ? "with" : "without"} retries`,
        );
      });
    }
  });
}
