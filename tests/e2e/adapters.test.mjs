// The adapters' examples in Chromium, each with its framework, before the proxy and the simulated upstream.
import assert from "node:assert/strict";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { connect, createServer as createTcpServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openStage, recordedText } from "./stage.mjs";
import { root } from "./start.mjs";

const { build } = createRequire(join(root, "web/package.json"))("esbuild");

const stacks = { "react-18": "main.jsx", "react-19": "main.jsx", vue: "main.js" };
const folder = (name) => join(root, "build/installed/stacks", name);
const types = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm" };

// Rendered as a server would, then taken over; asked from a layout effect, which runs before the hook is mounted.
const takenOver = {
  react: `
    import { createElement as h, StrictMode, useLayoutEffect } from "react";
    import { createRoot, hydrateRoot } from "react-dom/client";
    import { renderToString } from "react-dom/server";
    import { TideCursor, useRecoveredStream } from "tidemark/react";
    const url = new URLSearchParams(location.search).get("proxy") + "/v1/chat/completions";
    function Early({ ask }) {
      useLayoutEffect(() => void ask({ model: "simulated", stream: true, messages: [{ role: "user", content: "?" }] }), [ask]);
      return null;
    }
    function Answer({ begin }) {
      const { text, state, end, ask } = useRecoveredStream(url);
      return h("article", { "data-end": end }, h("p", { className: "text" }, text, h(TideCursor, { state })), begin && h(Early, { ask }));
    }
    const root = document.getElementById("root");
    root.innerHTML = renderToString(h(StrictMode, null, h(Answer)));
    const served = root.querySelector("article");
    const page = hydrateRoot(root, h(StrictMode, null, h(Answer)), {
      onRecoverableError: (error) => console.error(String(error)),
    });
    await customElements.whenDefined("tide-cursor");
    document.documentElement.dataset.kept = root.querySelector("article") === served;
    page.unmount();
    createRoot(root).render(h(StrictMode, null, h(Answer, { begin: true })));`,
  vue: `
    import { createSSRApp, defineComponent, h, onMounted } from "vue";
    import { renderToString } from "vue/server-renderer";
    import { TideCursor, useRecoveredStream } from "tidemark/vue";
    const url = new URLSearchParams(location.search).get("proxy") + "/v1/chat/completions";
    const Answer = defineComponent({
      setup() {
        const { text, state, end, ask } = useRecoveredStream(url);
        onMounted(() => ask({ model: "simulated", stream: true, messages: [{ role: "user", content: "?" }] }));
        return () => h("article", { "data-end": end.value }, [h("p", { class: "text" }, [text.value, h(TideCursor, { state: state.value })])]);
      },
    });
    const root = document.getElementById("root");
    root.innerHTML = await renderToString(createSSRApp(Answer));
    const served = root.querySelector("article");
    createSSRApp(Answer).mount(root);
    document.documentElement.dataset.kept = root.querySelector("article") === served;`,
};

async function buildExample(name) {
  await build({
    entryPoints: { main: join(folder(name), stacks[name]), taken_over: "taken_over" },
    plugins: [
      {
        name: "taken-over",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^taken_over$/ }, () => ({ path: "taken_over.js", namespace: "taken-over" }));
          onLoad({ filter: /.*/, namespace: "taken-over" }, () => ({
            contents: takenOver[name.split("-")[0]],
            resolveDir: folder(name),
          }));
        },
      },
    ],
    outdir: join(folder(name), "site"),
    bundle: true,
    splitting: true,
    format: "esm",
    jsx: "automatic",
    target: "es2022",
    define: { __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" },
  });
  const wasm = "tidemark_core.wasm";
  await copyFile(join(folder(name), "node_modules/tidemark/dist", wasm), join(folder(name), "site", wasm));
  const page = await readFile(join(folder(name), "index.html"), "utf8");
  await writeFile(join(folder(name), "site/index.html"), page);
  await writeFile(join(folder(name), "site/taken_over.html"), page.replace("main.js", "taken_over.js"));
}

async function listening(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** A line to `target` that can be cut. */
async function openLine(target) {
  const { hostname: host, port } = new URL(target);
  const sockets = new Set();
  const server = createTcpServer((near) => {
    const far = connect({ host, port });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => (sockets.delete(socket), other.destroy()));
      socket.pipe(other);
    }
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { address: await listening(server), cut, close: () => (cut(), server.close()) };
}

let stage;
let recorded;
let line;
let site;
const sites = createServer(async ({ url }, response) => {
  const [, name, file] = url.match(/^\/([\w-]+)\/([\w.-]*)(\?|$)/);
  const found = file || "index.html";
  response.writeHead(200, { "Content-Type": types[found.split(".").at(-1)] });
  response.end(await readFile(join(folder(name), "site", found)));
});
before(async () => {
  stage = await openStage();
  [recorded, line, site] = await Promise.all([
    recordedText(stage.upstream),
    openLine(stage.proxy),
    listening(sites),
    ...Object.keys(stacks).map(buildExample),
  ]);
});
after(async () => {
  await stage?.close();
  line?.close();
  sites.close();
});

async function status() {
  const { streams, readers } = await (await fetch(`${stage.proxy}/tidemark/status`)).json();
  return { ...streams, readers, all: Object.values(streams).reduce((sum, count) => sum + count) };
}

async function until(what, holds) {
  for (const end = Date.now() + 20000; Date.now() < end; await new Promise(setImmediate)) if (await holds()) return;
  assert.fail(`never: ${what}`);
}

/** Runs `run` on a fresh page; nothing may be wrong in its console. */
async function onPage(run) {
  const context = await stage.browser.newContext();
  const page = await context.newPage();
  const errors = [];
  const requests = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (/error|warning/.test(message.type()) && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
  page.on("request", (request) => {
    if (request.url().startsWith(line.address) && request.method() !== "OPTIONS") requests.push(request.method());
  });
  try {
    await run({ page, requests, before: await status() });
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** Runs `run` where a question has been asked in the example. */
const asked = (name, simulate, run) =>
  onPage(async ({ page, requests, before }) => {
    await page.goto(`${site}/${name}/?proxy=${line.address}&simulate=${simulate}`);
    await page.evaluate(() => {
      // What was to be seen, and in which frames.
      globalThis.seen = { states: [], frames: [] };
      new MutationObserver((records) => {
        const state = document.querySelector("tide-cursor")?.getAttribute("state");
        if (state !== undefined && state !== seen.states.at(-1)) seen.states.push(state);
        if (records.some(({ type }) => type === "characterData")) seen.frames.push(document.timeline.currentTime);
      }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    });
    assert.deepEqual(requests, []);
    await page.click("#ask");
    await page.waitForSelector("article");
    await run({ page, requests, before });
  });

const ended = (page, end) => page.waitForSelector(`article[data-end=${end}]`);
const textOf = (page) => page.locator(".text").textContent();
const longerThan = (page, size) =>
  page.waitForFunction((least) => document.querySelector(".text").textContent.length > least, size);

for (const name of Object.keys(stacks)) {
  test(`${name}: one request, the whole text, a render a frame, the cursor's states`, () =>
    asked(name, "none", async ({ page, requests, before }) => {
      await ended(page, "complete");
      assert.equal(await textOf(page), recorded);
      assert.deepEqual(requests, ["POST"]);
      assert.equal((await status()).all, before.all + 1);
      const { states, frames } = await page.evaluate(() => seen);
      assert.deepEqual(states, ["handshaking", "streaming", "finalized"]);
      // The end alone does not wait for its frame.
      const early = frames.slice(0, -1);
      assert.ok(early.length > 10, `${early.length} renders`);
      assert.equal(new Set(early).size, early.length, `frames: ${frames}`);
      const cursor = page.locator("tide-cursor.cursor");
      assert.equal(await cursor.getAttribute("aria-hidden"), "true");
      assert.equal(await cursor.evaluate((element) => getComputedStyle(element).display), "none");
      // The element has been defined, by the component alone.
      assert.equal(await page.locator(".text").getAttribute("aria-busy"), "false");
    }));

  test(`${name}: whole in spite of a cut line`, () =>
    asked(name, "none", async ({ page, before }) => {
      await longerThan(page, 200);
      line.cut();
      await page.waitForFunction(() => seen.states.includes("compensating"));
      await ended(page, "complete");
      assert.equal(await textOf(page), recorded);
      assert.equal((await status()).all, before.all + 1);
      assert.equal(await page.locator("[role=alert]").count(), 0);
    }));

  test(`${name}: stop is a DELETE`, () =>
    asked(name, "none", async ({ page, requests, before }) => {
      await longerThan(page, 100);
      await page.click("#stop");
      await ended(page, "stopped");
      await until("stopped", async () => (await status()).stopped === before.stopped + 1);
      assert.deepEqual(requests, ["POST", "DELETE"]);
      const text = await textOf(page);
      assert.ok(text.length < recorded.length && recorded.startsWith(text), text);
      assert.equal(await page.locator("[role=alert]").count(), 0);
    }));

  test(`${name}: unmounting is a disconnect`, () =>
    asked(name, "stall-after=40", async ({ page, requests, before }) => {
      await longerThan(page, 40);
      assert.equal((await status()).readers, 1);
      await page.click("#leave");
      await until("no reader", async () => (await status()).readers === 0);
      assert.equal(await page.locator("article").count(), 0);
      assert.deepEqual(requests, ["POST"]);
      assert.equal((await status()).stopped, before.stopped);
    }));

  test(`${name}: what a server rendered is taken over; asking while mounting is one request`, () =>
    onPage(async ({ page, requests }) => {
      await page.goto(`${site}/${name}/taken_over.html?proxy=${line.address}`);
      await ended(page, "complete");
      assert.equal(await page.evaluate(() => document.documentElement.dataset.kept), "true");
      assert.equal(await textOf(page), recorded);
      assert.deepEqual(requests, ["POST"]);
    }));

  test(`${name}: an error surfaces`, () =>
    asked(name, "status=401", async ({ page }) => {
      await ended(page, "failed");
      assert.match(await page.locator("[role=alert]").textContent(), /^\w+$/);
      assert.equal((await page.evaluate(() => seen.states)).at(-1), "finalized");
    }));
}
