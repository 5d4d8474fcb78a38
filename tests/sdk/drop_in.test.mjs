// createRecoveringFetch() as the SDKs' fetch, under every fault of the table, once and always: straight at the
// upstream, behind the proxy, and with a line to the proxy that fails.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { always, apis, nameOf, recorded, ways } from "./ask.mjs";
import { checkAll } from "./compare.mjs";
import { askDropIn } from "./drop_in_ask.mjs";
import { dropInFaults, maxRetries } from "./drop_in_faults.mjs";
import { checkDropIn, heardOf, legsBehindProxy, overtaken } from "./drop_in_seen.mjs";
import { faults } from "./faults.mjs";
import { cutPlans, openLine, planName } from "./line.mjs";
import { openStage } from "./stage.mjs";
import { openStages, texts } from "./stages.mjs";

// Short, for what falls silent; and longer than anything else takes on a busy machine.
const heartbeatTimeoutMs = 1500;

const stageOf = new Map(faults.map(({ fault, stage }) => [fault, stage]));

/** Every way (of `of`) of an API with every fault, all at once. */
function everyWay(api, rows, run, of = ways) {
  const cases = of
    .filter((way) => way.api === api)
    .flatMap((way) => ["once", "always"].map((times) => ({ way, times })));
  for (const row of rows) {
    it(row.fault, () =>
      checkAll(
        cases,
        ({ way, times }) => run(row, way, row[times], times === "once" ? row.fault : always(row.fault)),
        ({ way, times }) => `${nameOf(way)}, ${times}`,
      ),
    );
  }
}

describe("straight at the upstream", () => {
  let quick;
  let paced;
  let says;
  before(async () => {
    [quick, paced] = await Promise.all([openStage({ proxies: 0 }), openStage({ proxies: 0, interval: 20 })]);
    says = await recorded(quick);
  });
  after(() => Promise.all([quick?.close(), paced?.close()]));

  for (const api of apis) {
    describe(api, { concurrency: 4 }, () =>
      everyWay(api, dropInFaults, async ({ fault }, way, expected, simulate) => {
        const stage = stageOf.get(fault);
        const upstream = (stage === "paced" ? paced : quick).upstream;
        const endless = expected.answer.kind === "endless";
        const options = { maxRetries, ...(stage === "hasty" && { heartbeatTimeoutMs }) };
        const seen = await askDropIn(upstream, way, { simulate, options, endless });
        const { answer, legs } = overtaken(fault, seen, expected);
        checkDropIn(seen, way, answer, legs, texts(says, fault, api));
      }),
    );
  }
});

describe("behind the proxy", { concurrency: true }, () => {
  // The proxy's answers in every SDK's words are faults.test.mjs's affair.
  const ofHelpers = ways.filter(({ call }) => !call.endsWith(".create"));
  let stages;
  before(async () => (stages = await openStages()));
  after(() => stages?.close());

  for (const api of apis) {
    describe(api, { concurrency: 4 }, () =>
      everyWay(
        api,
        faults,
        async (row, way, { answer }, simulate) => {
          const stage = stages.of(row);
          const ask = (proxy) => askDropIn(proxy, way, { simulate, options: { maxRetries } });
          const seen = await stage.alone(ask, { fresh: row.fresh });
          checkDropIn(seen, way, answer, legsBehindProxy(answer, api), texts(stage.says, row.fault, api));
        },
        ofHelpers,
      ),
    );
  }
});

describe("the line to the proxy fails", { concurrency: 4 }, () => {
  let stage;
  before(async () => (stage = await openStage({ proxies: 8 })));
  after(() => stage?.close());

  for (const way of ways) {
    it(`${way.api}, ${nameOf(way)}`, async () => {
      const undisturbed = heardOf(await stage.alone((proxy) => askDropIn(proxy, way, { simulate: "none" })));
      assert.notEqual(undisturbed.text, "");
      await checkAll(
        cutPlans,
        async (plan) => {
          const options = plan.some(({ how }) => how === "stall") ? { heartbeatTimeoutMs } : {};
          const seen = await stage.alone(async (proxy) => {
            const line = await openLine(proxy, plan);
            try {
              return { ...(await askDropIn(line.address, way, { simulate: "none", options })), posts: line.posts };
            } finally {
              await line.close();
            }
          });
          assert.deepEqual(heardOf(seen), undisturbed);
          const { upstream, posts, legs, requests } = seen;
          assert.deepEqual(
            { upstream, posts, legs, requests },
            { upstream: 1, posts: plan.length + 1, legs: plan.length + 1, requests: 1 },
          );
        },
        planName,
      );
    });
  }
});
