// The adapters in Node, each beside its framework: what importing does, what a server renders, what is asked there.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chatEvents, endComment, flakyServer } from "./flaky_server.mjs";

const stack = (name) => ({
  name,
  run: async (code) => {
    const cwd = fileURLToPath(new URL(`stacks/${name}/`, import.meta.url));
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd });
    // Where frameworks complain.
    assert.equal(stderr, "");
    return stdout.trimEnd();
  },
});
const react = [stack("react-18"), stack("react-19")];
const vue = stack("vue");

for (const { name, run } of [...react, vue]) {
  const adapter = name.split("-")[0];
  test(`${name}: importing has no effect`, async () => {
    const printed = await run(`
      await import("${adapter}");
      const before = Object.getOwnPropertyNames(globalThis).length;
      WebAssembly.instantiate = () => console.log("compiled");
      globalThis.fetch = () => console.log("fetched");
      const names = Object.keys(await import("tidemark/${adapter}"));
      console.log(names.join(), Object.getOwnPropertyNames(globalThis).length - before);
    `);
    assert.equal(printed, "TideCursor,useRecoveredStream 0");
  });
}

const cursorTag = (attributes) => `<tide-cursor ${attributes}></tide-cursor>`;

for (const { name, run } of react) {
  test(`${name}: rendered by a server`, async () => {
    const html = await run(`
      import { createElement as h, version } from "react";
      import { renderToString } from "react-dom/server";
      import { TideCursor, useRecoveredStream } from "tidemark/react";
      globalThis.fetch = () => console.log("fetched");
      if (!version.startsWith("${name.slice(-2)}.")) console.log(version);
      function Answer() {
        const { text, state } = useRecoveredStream("/v1/chat/completions");
        return h("p", null, String(state), text, h(TideCursor, { state, className: "mine", for: "root" }));
      }
      console.log(renderToString(h(Answer)));
    `);
    assert.equal(html, `<p>undefined${cursorTag('aria-hidden="true" for="root" class="mine" state=""')}</p>`);
  });
}

test("vue: rendered by a server, which asks nothing and is not kept waiting", async () => {
  const html = await vue.run(`
    import { createSSRApp, defineComponent, h } from "vue";
    import { renderToString } from "vue/server-renderer";
    import { TideCursor, useRecoveredStream } from "tidemark/vue";
    globalThis.fetch = () => console.log("fetched");
    const Answer = defineComponent({
      async setup() {
        const { text, state, ask } = useRecoveredStream("http://127.0.0.1:9/");
        const first = String(state.value);
        await ask({ stream: true });
        return () => h("p", [first, text.value, h(TideCursor, { class: "mine", for: "root", state: "streaming" })]);
      },
    });
    console.log(await renderToString(createSSRApp(Answer)));
  `);
  assert.equal(html, `<p>undefined${cursorTag('aria-hidden="true" state="streaming" for="root" class="mine"')}</p>`);
});

// What is common to both, by way of Vue, which needs no page.
const installed = (path) => import(new URL(`stacks/vue/node_modules/${path}`, import.meta.url));
const events = chatEvents(["high ", "water"]);
const whole = (answer) => answer.head().send(events.join("") + endComment).end();
const begun = (answer) => answer.head(200, { "Tidemark-Stream": "s", "Tidemark-Epoch": "e1" }).send(events[0]);
const facts = ({ text, reasoning, state, error, end, endReason }) =>
  Object.fromEntries(Object.entries({ text, reasoning, state, error, end, endReason }).map(([name, { value }]) => [name, value]));
const unasked = { text: "", reasoning: "", state: undefined, error: undefined, end: undefined, endReason: undefined };
const complete = { text: "high water", reasoning: "", state: "finalized", error: undefined, end: "complete", endReason: "terminal-marker" };

async function withStream(script, options, run) {
  const [{ effectScope, watch }, { useRecoveredStream }] = await Promise.all([
    installed("vue/index.mjs"),
    installed("tidemark/dist/vue.js"),
  ]);
  const server = await flakyServer(...script);
  const scope = effectScope();
  try {
    const stream = scope.run(() => useRecoveredStream(`${server.url}/v1/chat/completions`, options));
    // Once `holds`.
    const until = (holds) =>
      new Promise((resolve) => {
        const stop = watch(() => holds(facts(stream)), (held) => held && (resolve(), queueMicrotask(() => stop())), {
          immediate: true,
          flush: "sync",
        });
      });
    await run({ stream, server, scope, until });
  } finally {
    scope.stop();
    await server.close();
  }
}

test("asked: the facts, the callbacks, and headers of both the call and the hook", async () => {
  const told = [];
  const options = {
    headers: { Authorization: "Bearer a", "X-Which": "hook" },
    onEvent: ({ text }) => told.push(text),
    onFinish: (answer) => told.push(answer),
    onError: (error) => told.push(error),
  };
  await withStream([whole], options, async ({ stream, server }) => {
    assert.deepEqual(facts(stream), unasked);
    const asked = stream.ask({ stream: true }, { headers: { "X-Which": "call" } });
    assert.deepEqual(facts(stream), { ...unasked, state: "handshaking" });
    assert.deepEqual(await asked, complete);
    assert.deepEqual(facts(stream), complete);
    assert.deepEqual(told.filter((each) => each !== ""), ["high ", "water", complete]);
    const [{ headers, body }] = server.seen;
    assert.deepEqual([headers.authorization, headers["x-which"], body], ["Bearer a", "call", '{"stream":true}']);
  });
});

test("asked twice in one turn: one request; asked again: the answer before is left, and not stopped", () =>
  withStream([begun, whole], {}, async ({ stream, server, until }) => {
    const never = stream.ask({ stream: true, question: 0 });
    const left = stream.ask({ stream: true, question: 1 });
    assert.deepEqual(await never, { ...unasked, state: "finalized" });
    await until(({ text }) => text === "high ");
    const gone = once([...server.sockets][0], "close");
    const last = stream.ask({ stream: true, question: 2 });
    assert.equal(stream.text.value, "");
    assert.deepEqual(await left, { ...unasked, text: "high ", state: "finalized" });
    assert.deepEqual(await last, complete);
    assert.deepEqual(facts(stream), complete);
    await gone;
    assert.deepEqual(server.seen.map(({ method, body }) => [method, JSON.parse(body).question]), [["POST", 1], ["POST", 2]]);
  }));

test("misuse is told at the call, and the answer that is there stays", () =>
  withStream([begun], {}, async ({ stream, server, until }) => {
    void stream.ask({ stream: true });
    await until(({ text }) => text === "high ");
    const before = facts(stream);
    assert.throws(() => stream.ask({}, { maxRetry: 1 }), /unknown option maxRetry/);
    assert.throws(() => stream.ask(7), TypeError);
    assert.deepEqual(facts(stream), before);
    assert.equal(server.seen.length, 1);
  }));

test("a failure is told by error, once; a new answer begins without it", async () => {
  const told = [];
  const options = { onError: (error) => told.push(error), onFinish: (answer) => told.push(answer) };
  const refused = (answer) => answer.head(401, { "Content-Type": "application/json" }).send('{"error":{"code":"bad_token"}}').end();
  await withStream([refused, whole], options, async ({ stream }) => {
    const { end, error } = await stream.ask({ stream: true });
    assert.deepEqual([end, error.code, error.status], ["failed", "bad_token", 401]);
    assert.equal(stream.error.value, error);
    assert.deepEqual(told, [error]);
    await stream.ask({ stream: true });
    assert.deepEqual(facts(stream), complete);
  });
});

test("stop: a DELETE, and what it is refused with is told by error", () =>
  withStream([begun, (answer) => answer.head(403, { "Content-Length": 0 }).end()], {}, async ({ stream, server, until }) => {
    await stream.stop();
    const asked = stream.ask({ stream: true });
    await until(({ text }) => text === "high ");
    await stream.stop();
    assert.equal((await asked).end, "stopped");
    assert.deepEqual(server.seen.map(({ method }) => method), ["POST", "DELETE"]);
    assert.deepEqual([stream.end.value, stream.error.value.code, stream.error.value.status], ["stopped", "stop_refused", 403]);
  }));

test("stopped before it was sent: nothing is sent", () =>
  withStream([], {}, async ({ stream, server }) => {
    const asked = stream.ask({ stream: true });
    await stream.stop();
    assert.deepEqual(await asked, { ...unasked, state: "finalized", end: "stopped", endReason: "client-stop" });
    assert.deepEqual(server.seen, []);
  }));

for (const [how, leave] of Object.entries({
  "abort()": ({ stream }) => stream.abort(),
  "the call's signal": ({ leaving }) => leaving.abort(),
  "the scope's end": ({ scope }) => scope.stop(),
})) {
  test(`left by ${how}: a disconnect, no error, no callback`, async () => {
    const told = [];
    const options = { onFinish: () => told.push("finish"), onError: () => told.push("error") };
    await withStream([begun], options, async ({ stream, server, scope, until }) => {
      const leaving = new AbortController();
      const asked = stream.ask({ stream: true }, { signal: leaving.signal });
      await until(({ text }) => text === "high ");
      const gone = once([...server.sockets][0], "close");
      leave({ stream, scope, leaving });
      assert.deepEqual(await asked, { ...unasked, text: "high ", state: "finalized" });
      await gone;
      assert.equal(server.seen.length, 1);
      assert.deepEqual(told, []);
      if (how !== "the scope's end") return;
      // Nobody is there any more.
      assert.equal((await stream.ask({ stream: true })).end, undefined);
      assert.equal(server.seen.length, 1);
    });
  });
}
