// What fetchEventSource makes of an answer that createRecoveringFetch() gave it.
import assert from "node:assert/strict";
import { it } from "node:test";
import { always } from "./ask.mjs";
import { checkAll } from "./compare.mjs";
import { dropInFaults, maxRetries } from "./drop_in_faults.mjs";
import { overtaken } from "./drop_in_seen.mjs";
import { faults } from "./faults.mjs";
import { cutPlans, openLine, planName } from "./line.mjs";
import { texts } from "./stages.mjs";

const heartbeatTimeoutMs = 2500;
const stageOf = new Map(faults.map(({ fault, stage }) => [fault, stage]));

function errorOf(answer, error) {
  switch (answer.kind) {
    case "refused":
      return { class: "Error", status: answer.error("openai-chat").status };
    case "failed":
      return { class: "TidemarkError", status: 200, code: answer.code };
    case "thrown":
      return { class: "TypeError" };
    case "event":
      return { class: "Error", code: "server_error" };
    case "noStream":
      assert.match(error.message, /no event stream: (text\/html|application\/json)/);
      return { class: "Error" };
  }
}

function check(seen, { row: { fault }, ...expected }, says, inBrowser) {
  const { answer, legs } = overtaken(fault, seen, expected);
  const { text, ends, requests, most, error } = seen;
  assert.equal(requests, 1);
  assert.ok(most <= 1, `${most} requests at a time`);
  // A browser asks again by itself where a connection that it had before brings this.
  const loose = inBrowser && ["connect-reset", "status=408"].includes(fault);
  if (loose && !error) return assert.deepEqual({ text, ends }, { text: says.whole, ends: 1 });
  if (!loose) assert.equal(seen.legs, legs);
  const { cut, whole } = texts(says, fault, "openai-chat");
  if (answer.kind === "whole") assert.deepEqual({ text, ends, error }, { text: whole, ends: 1, error: undefined });
  else if (answer.text === "cut") assert.ok(typeof cut === "function" ? text === "" || cut(text) : text === cut, text);
  else assert.equal(text, "");
  if (answer.kind === "whole") return;
  assert.equal(ends, 0);
  const wanted = errorOf(answer, error);
  const { class: name, status, code } = error ?? {};
  assert.deepEqual(error && { class: name, status, code }, wanted && { status: undefined, code: undefined, ...wanted });
}

const cases = dropInFaults.flatMap((row) => ["once", "always"].map((times) => ({ row, times, ...row[times] })));

/** `stage()`: its `upstream` and a `paced` one, a `proxy`, and what they `says`. `listenAll` as in browser_entry.mjs. */
export function eventSourceTests(stage, listenAll, { inBrowser = false } = {}) {
  it("straight at the upstream: every fault", async () => {
    const { upstream, paced, says } = stage();
    const seen = await listenAll(
      cases.map(({ row: { fault }, times, answer }) => ({
        site: stageOf.get(fault) === "paced" ? paced : upstream,
        simulate: times === "once" ? fault : always(fault),
        options: { maxRetries, ...(stageOf.get(fault) === "hasty" && { heartbeatTimeoutMs }) },
        endless: answer.kind === "endless",
        salt: "straight",
      })),
    );
    await checkAll(
      cases,
      async (one) => check(seen[cases.indexOf(one)], one, says, inBrowser),
      ({ row, times }) => `${row.fault}, ${times}`,
    );
  });

  it("the line to the proxy fails: whole and once, and one request at a time", async () => {
    const { proxy, says } = stage();
    const lines = await Promise.all(cutPlans.map((plan) => openLine(proxy, plan)));
    try {
      const seen = await listenAll(
        cutPlans.map((plan, i) => ({
          site: lines[i].address,
          simulate: "none",
          options: plan.some(({ how }) => how === "stall") ? { heartbeatTimeoutMs } : {},
          salt: "line",
        })),
      );
      await checkAll(
        cutPlans,
        async (plan) => {
          const { text, ends, error, requests, most } = seen[cutPlans.indexOf(plan)];
          assert.deepEqual(
            { text, ends, error, requests, most },
            { text: says.whole, ends: 1, error: undefined, requests: 1, most: 1 },
          );
          assert.ok(lines[cutPlans.indexOf(plan)].posts > plan.length);
        },
        planName,
      );
    } finally {
      await Promise.all(lines.map((line) => line.close()));
    }
  });
}
