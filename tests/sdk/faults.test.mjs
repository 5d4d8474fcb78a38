// Every fault of the table, once and always, to every way of every SDK, without and with its own retries.
import { after, before, describe, it } from "node:test";
import { always, apis, ask, nameOf, recorded, ways, withRetries, withoutRetries } from "./ask.mjs";
import { checkAll, check } from "./compare.mjs";
import { faults } from "./faults.mjs";
import { expected } from "./seen.mjs";
import { openStage } from "./stage.mjs";

const stages = {
  patient: { proxies: 8 },
  // Gives up what is silent for long, and shows it to its client before.
  hasty: {
    proxies: 16,
    config: { stream_first_byte_timeout_ms: 500, stream_idle_timeout_ms: 500, commit_hold_ms: 150 },
  },
  // Of an upstream that takes its time, since a reset overtakes what was said just before.
  paced: { proxies: 8, interval: 20 },
};
const open = {};
before(() =>
  Promise.all(
    Object.entries(stages).map(async ([name, options]) => {
      open[name] = await openStage(options);
      open[name].says = await recorded(open[name]);
    }),
  ),
);
after(() => Promise.all(Object.values(open).map((stage) => stage.close())));

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
        const stage = open[row.stage ?? "patient"];
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
