// useChat() with createRecoveringFetch() in Chromium, before a chat's server of the AI SDK: what is on the page, under
// every fault of the model's upstream, and with a line to the server that fails; with the proxy before the server, and
// without.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { whole } from "./answers.mjs";
import { always } from "./ask.mjs";
import { noBrowser, openBrowser, openSite } from "./browser_site.mjs";
import { checkAll } from "./compare.mjs";
import { faults } from "./faults.mjs";
import { cutPlans, openLine, planName } from "./line.mjs";
import { openProxy } from "./stage.mjs";
import { openStages, texts } from "./stages.mjs";

const api = "openai-chat";
const names = ["patient", "hasty", "paced"];

describe("useChat", { skip: noBrowser, concurrency: 2 }, () => {
  const open = [];
  let stages, site, front, browser;
  before(async () => {
    [stages, browser] = await Promise.all([openStages({ proxies: 1 }), openBrowser()]);
    const address = (stage) => stages.of({ stage }).addresses[0];
    site = await openSite(Object.fromEntries(names.map((stage) => [stage, address(stage)])));
    front = await openProxy(site.address);
    open.push(stages, browser, site, front);
  });
  after(() => Promise.all(open.map((each) => each.close())));

  /** Of an answer that failed there is nothing on the page, or an empty one. */
  function check({ answers, error, status, grows, legs }, row, answer) {
    const { says } = stages.of(row);
    const named = texts(says, row.fault, api)[answer.text] ?? "";
    const [text = ""] = answers;
    assert.ok(answers.length <= 1, `${answers.length} answers`);
    assert.ok(typeof named === "function" ? named(text) : text === named, JSON.stringify({ text, error, status }));
    assert.equal(legs, 1);
    assert.ok(grows);
    if (answer.error === undefined) return assert.deepEqual({ status, error }, { status: "ready", error: undefined });
    assert.equal(status, "error");
    const { message } = answer.error(api);
    assert.ok(error.includes(message), `${error} instead of ${message}`);
  }

  const cases = faults.flatMap((row) => ["once", "always"].map((times) => ({ row, times, ...row[times] })));
  const asked = ({ row, times }, name) => ({
    headers: {
      "X-Chat": `${name} ${row.fault} ${times}`,
      "X-Model": row.stage ?? "patient",
      "X-Simulate": times === "once" ? row.fault : always(row.fault),
    },
    salt: name,
  });

  async function everyFault(address, answerOf, chatsOf) {
    const seen = await browser.withPage(address, (run) =>
      run(
        "chatAll",
        cases.map((one) => asked(one, address)),
      ),
    );
    await checkAll(
      cases,
      async (one) => {
        check(seen[cases.indexOf(one)], one.row, answerOf(one));
        assert.equal(site.asked(asked(one, address).headers["X-Chat"]), chatsOf(one));
      },
      ({ row, times }) => `${row.fault}, ${times}`,
    );
  }

  it("behind its own server: every fault", () =>
    everyFault(
      site.address,
      ({ answer }) => answer,
      () => 1,
    ));

  // To the proxy an error of the chat's server is one of an upstream: before content it asks again.
  it("with the proxy before the server: every fault", () =>
    everyFault(
      front.address,
      ({ answer, times }) => (times === "once" && answer.error ? whole : answer),
      ({ answer }) => (answer.error ? 2 : 1),
    ));

  /** What the chat showed, plan for plan of its line to `target`, and how often it and its server were asked. */
  async function overLines(target, plans, headers, name) {
    const line = await openLine(target);
    try {
      return await browser.withPage(line.address, async (run) => {
        const seen = new Map();
        for (const plan of plans) {
          const before = line.posts;
          const chat = `${name} ${planName(plan)}`;
          line.cut(plan);
          const options = plan.some(({ how }) => how === "stall") ? { heartbeatTimeoutMs: 2500 } : {};
          const given = { "X-Chat": chat, "X-Model": "patient", "X-Simulate": "none", ...headers };
          const [one] = await run("chatAll", [{ headers: given, options, salt: name }]);
          seen.set(plan, { ...one, posts: line.posts - before, chats: site.asked(chat) });
          line.cut([]);
        }
        return seen;
      });
    } finally {
      await line.close();
    }
  }
  const asStream = { Accept: "text/event-stream" };
  // Chromium takes a head that ends in its middle for a whole one.
  const plans = cutPlans.filter((plan) => !plan.some(({ after, how }) => after === 100 && how === "end"));

  it("with the proxy before the server: a line that is lost heals, whole and once, and the server is asked once", async () => {
    const text = stages.of({}).says.whole;
    const seen = await overLines(front.address, plans, asStream, "healed");
    await checkAll(
      plans,
      async (plan) => {
        const { legs: _, ...rest } = seen.get(plan);
        const healed = { answers: [text], error: undefined, status: "ready", grows: true };
        assert.deepEqual(rest, { ...healed, posts: plan.length + 1, chats: 1 });
      },
      planName,
    );
  });

  it("behind its own server: what has brought content is not asked for again, and the error is told", async () => {
    const text = stages.of({}).says.whole;
    const seen = await overLines(site.address, plans, asStream, "alone");
    const found = { whole: 0, repeated: 0, broken: 0 };
    await checkAll(
      plans,
      async (plan) => {
        const { answers, error, status, grows, posts, chats } = seen.get(plan);
        assert.ok(grows);
        assert.ok(chats <= posts);
        if (error === undefined) {
          assert.deepEqual({ answers, status }, { answers: [text], status: "ready" });
          ++found[posts === 1 ? "whole" : "repeated"];
        } else {
          assert.equal(status, "error");
          assert.equal(answers.length, 1);
          assert.ok(text.startsWith(answers[0]) && text !== answers[0]);
          // The last leg has brought it, none before it: but a reset may take along what had not been read.
          const brings = ({ after }) => after >= 700;
          const legs = plan.slice(0, posts);
          assert.ok(brings(legs.at(-1)));
          assert.ok(legs.slice(0, -1).every((leg) => !brings(leg) || leg.how === "reset"));
          ++found.broken;
        }
      },
      planName,
    );
    assert.ok(found.repeated > 0 && found.broken > 0, JSON.stringify(found));
  });
});
