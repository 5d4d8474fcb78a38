// The adapters in Chromium, each with its framework: in the place of what a server rendered, and React's example with
// React 18. (With today's frameworks the examples are built and driven in tests/examples/.)
import assert from "node:assert/strict";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ended, onPage, openScene, testExample, textOf } from "./drive_example.mjs";
import { listening } from "./line.mjs";
import { root } from "./start.mjs";

const { build } = createRequire(join(root, "web/package.json"))("esbuild");

const names = ["react-18", "react-19", "vue"];
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

// The page of every one of them.
const html = (script) => `<!doctype html>
<meta charset="utf-8" />
<link rel="icon" href="data:," />
<link rel="stylesheet" href="${script}.css" />
<div id="root"></div>
<script type="module" src="${script}.js"></script>`;

async function buildPages(name) {
  const site = join(folder(name), "site");
  const main = name === "react-18" ? { main: join(folder(name), "main.jsx") } : {};
  await build({
    entryPoints: { ...main, taken_over: "taken_over" },
    plugins: [
      {
        name: "taken-over",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^taken_over$/ }, () => ({ path: "taken_over.js", namespace: "taken-over" }));
          onLoad({ filter: /.*/, namespace: "taken-over" }, () => ({
            contents: `import "tidemark/cursor.css";${takenOver[name.split("-")[0]]}`,
            resolveDir: folder(name),
          }));
        },
      },
    ],
    outdir: site,
    bundle: true,
    splitting: true,
    format: "esm",
    jsx: "automatic",
    target: "es2022",
    define: { __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false", __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false" },
  });
  const wasm = "tidemark_core.wasm";
  await copyFile(join(folder(name), "node_modules/tidemark/dist", wasm), join(site, wasm));
  for (const each of ["main", "taken_over"]) await writeFile(join(site, `${each}.html`), html(each));
}

let scene;
let site;
const sites = createServer(async ({ url }, response) => {
  const [, name, file] = url.match(/^\/([\w-]+)\/([\w.-]+)(\?|$)/);
  response.writeHead(200, { "Content-Type": types[file.split(".").at(-1)] });
  response.end(await readFile(join(folder(name), "site", file)));
});
before(async () => {
  scene = await openScene();
  [site] = await Promise.all([listening(sites), ...names.map(buildPages)]);
});
after(async () => {
  await scene?.close();
  sites.close();
});

testExample("react-18", { scene: () => scene, site: () => `${site}/react-18/main.html`, adapter: true });

for (const name of names) {
  test(`${name}: what a server rendered is taken over; asking while mounting is one request`, () =>
    onPage(scene, async ({ page, requests }) => {
      await page.goto(`${site}/${name}/taken_over.html?proxy=${scene.line.address}`);
      await ended(page, "complete");
      assert.equal(await page.evaluate(() => document.documentElement.dataset.kept), "true");
      assert.equal(await textOf(page), scene.recorded);
      assert.deepEqual(requests, ["POST"]);
    }));
}
