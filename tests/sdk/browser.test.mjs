// createRecoveringFetch() in Chromium: as the fetch of the SDKs and of fetchEventSource, under every fault, straight at the
// upstream, behind the proxy, and with a line to the proxy that fails.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { always, nameOf, recorded, ways } from "./ask.mjs";
import { whole } from "./answers.mjs";
import { noBrowser, openBrowser, openSite } from "./browser_site.mjs";
import { checkAll } from "./compare.mjs";
import { dropInFaults, maxRetries } from "./drop_in_faults.mjs";
import { checkDropIn, heardOf, legsBehindProxy, overtaken } from "./drop_in_seen.mjs";
import { eventSourceTests } from "./event_source_seen.mjs";
import { faults } from "./faults.mjs";
import { cutPlans, openLine, planName } from "./line.mjs";
import { openStage } from "./stage.mjs";
import { openStages, texts } from "./stages.mjs";

// Short, for what falls silent; and longer than anything else takes on a busy machine.
const heartbeatTimeoutMs = 2500;
const hasty = { maxRetries, heartbeatTimeoutMs };
const stageOf = new Map(faults.map(({ fault, stage }) => [fault, stage]));
const both = (rows) => rows.flatMap((row) => ["once", "always"].map((times) => ({ row, times, ...row[times] })));
// A browser asks again by itself where a connection that it had before brings this.
const repeatedByBrowsers = ["connect-reset", "status=408"];

function checkInBrowser(seen, way, expected, texts, fault) {
  const { answer, legs } = overtaken(fault, seen, expected);
  if (repeatedByBrowsers.includes(fault)) {
    if (!seen.error) return checkDropIn({ ...seen, legs: 1 }, way, whole, 1, texts);
    seen = { ...seen, legs };
  }
  if (answer.kind === "thrown" && way.sdk === "ai") {
    // Without a cause, as browsers throw it, it is no error of a connection's to this SDK.
    assert.equal(seen.error?.class, "TypeError");
    seen.error.class = "APICallError";
  }
  // An error drops what still waits in this SDK's own streams.
  const some = (text) =>
    text === texts.cut || (answer.kind === "failed" && way.sdk === "ai" && texts.cut.startsWith(text));
  const cut = typeof texts.cut === "string" ? some : (text) => text === "" || texts.cut(text);
  checkDropIn(seen, way, answer, legs, { ...texts, cut });
}

const caseName = ({ row, times }) => `${row.fault}, ${times}`;

describe("in Chromium", { skip: noBrowser, concurrency: 2 }, () => {
  const open = [];
  let quick, paced, stages, site, browser, says;
  before(async () => {
    const config = { cors: { allow_origins: ["*"] } };
    [quick, paced, stages, browser] = await Promise.all([
      openStage({ proxies: 1, config }),
      openStage({ proxies: 0, interval: 20 }),
      openStages({ proxies: 1, config }),
      openBrowser(),
    ]);
    site = await openSite();
    says = await recorded(quick);
    open.push(quick, paced, stages, site, browser);
  });
  after(() => Promise.all(open.map((each) => each.close())));

  const onPage = (...call) => browser.withPage(site.address, (run) => run(...call));

  describe("fetchEventSource", () => {
    const stage = () => ({ upstream: quick.upstream, paced: paced.upstream, proxy: quick.addresses[0], says });
    eventSourceTests(stage, (asked) => onPage("listenAll", asked), { inBrowser: true });

    it("a page that is hidden and shown again asks once", async () => {
      const { text, ends, legs, error } = await onPage("listenHidden", paced.upstream);
      assert.deepEqual({ text, ends, legs, error }, { text: says.whole, ends: 1, legs: 1, error: undefined });
    });
  });

  for (const way of ways.filter(({ call }) => !call.endsWith(".create"))) {
    const nth = ways.indexOf(way);
    const salt = `${way.api} ${nameOf(way)}`;

    it(`${salt}: straight at the upstream`, async () => {
      const cases = both(dropInFaults);
      const heard = await onPage(
        "askSdk",
        nth,
        cases.map(({ row: { fault }, times, answer }) => ({
          site: (stageOf.get(fault) === "paced" ? paced : quick).upstream,
          simulate: times === "once" ? fault : always(fault),
          options: stageOf.get(fault) === "hasty" ? hasty : { maxRetries },
          endless: answer.kind === "endless",
          salt,
        })),
      );
      await checkAll(
        cases,
        async (one) => {
          const { row } = one;
          checkInBrowser(heard[cases.indexOf(one)], way, one, texts(says, row.fault, way.api), row.fault);
        },
        caseName,
      );
    });

    // The proxy's answers are the same in every SDK's words, and `ai` is one for all.
    it(`${salt}: behind the proxy`, { skip: nth > 2 && way.sdk === "ai" }, async () => {
      const cases = both(faults);
      const heard = await onPage(
        "askSdk",
        nth,
        cases.map(({ row, times }) => ({
          site: stages.of(row).addresses[0],
          simulate: times === "once" ? row.fault : always(row.fault),
          options: { maxRetries },
          salt,
        })),
      );
      await checkAll(
        cases,
        async (one) => {
          const { row, answer } = one;
          const expected = { answer, legs: legsBehindProxy(answer, way.api) };
          checkInBrowser(heard[cases.indexOf(one)], way, expected, texts(says, row.fault, way.api), row.fault);
        },
        caseName,
      );
    });

    it(`${salt}: the line to the proxy fails`, async () => {
      const lines = await Promise.all(cutPlans.map((plan) => openLine(quick.addresses[0], plan)));
      try {
        const options = (plan) => (plan.some(({ how }) => how === "stall") ? { heartbeatTimeoutMs } : {});
        const asked = lines.map(({ address }, i) => ({
          site: address,
          simulate: "none",
          options: options(cutPlans[i]),
          salt: `${salt} cut`,
        }));
        const undisturbed = { site: quick.addresses[0], simulate: "none", salt: `${salt} whole` };
        const [uncut, ...heard] = await onPage("askSdk", nth, [undisturbed, ...asked]);
        assert.notEqual(uncut.text, "");
        await checkAll(
          cutPlans,
          async (plan) => {
            const seen = heard[cutPlans.indexOf(plan)];
            assert.deepEqual(heardOf(seen), heardOf(uncut));
            assert.equal(seen.requests, 1);
            assert.ok(lines[cutPlans.indexOf(plan)].posts > plan.length);
          },
          planName,
        );
      } finally {
        await Promise.all(lines.map((line) => line.close()));
      }
    });
  }
});
