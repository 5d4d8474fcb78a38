// Every fault of the table, once and always, to every way of every SDK, without and with its own retries.
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { always, apis, ask, nameOf, recorded, ways, withRetries, withoutRetries } from "./ask.mjs";
import { checkAll, check } from "./compare.mjs";
import { faults } from "./faults.mjs";
import { expected } from "./seen.mjs";
import { openStage } from "./stage.mjs";

const recording = fileURLToPath(new URL("short.jsonl", import.meta.url));
let quick;
let paced;
before(async () => {
  [quick, paced] = await Promise.all([openStage({ proxies: 16 }), openStage({ proxies: 16, recording, interval: 20 })]);
  for (const stage of [quick, paced]) stage.says = await recorded(stage);
});
after(() => Promise.all([quick?.close(), paced?.close()]));

function texts(stage, fault, api) {
  const { whole, reasoning, upTo } = stage.says;
  const count = Number(fault.split("=")[1]);
  // A reset may overtake some of what was said.
  const some = (text) => text !== "" && upTo(count, api).startsWith(text);
  return { whole, reasoning, cut: fault.startsWith("reset") ? some : upTo(count, api) };
}

for (const api of apis) {
  describe(api, { concurrency: 8 }, () => {
    for (const row of faults) {
      it(row.fault, () => {
        const stage = row.paced ? paced : quick;
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
            check(seen, expected(way, row, times, retries), texts(stage, row.fault, api));
          },
          ({ way, times, retries }) =>
            `${nameOf(way)}, ${times}, ${retries === withRetries ? "with" : "without"} retries`,
        );
      });
    }
  });
}
