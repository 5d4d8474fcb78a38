// The package as every bundler makes it, loaded in Chromium: an answer whose line is cut is whole.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { program, start } from "../e2e/start.mjs";
import { launchBrowser, recordedText } from "../e2e/stage.mjs";
import { workshop } from "./app.mjs";
import { devServers, quietVite, ways } from "./builds.mjs";
import { openLine, serveFolder } from "./servers.mjs";

const skip = existsSync(process.env.TIDEMARK_CHROMIUM ?? "/usr/bin/chromium") ? false : "no Chromium";

const running = [];
const keep = async (opening, close = (each) => each.stop()) => {
  const opened = await opening;
  running.push(() => close(opened));
  return opened;
};
let proxy;
let browser;
let text;
before(async () => {
  if (skip) return;
  const { address: upstream } = await keep(start(program, "simulate", "--listen", "127.0.0.1:0", "--interval", "1"));
  const config = `${workshop}proxy.json`;
  const upstreams = [{ name: "simulated", base_url: upstream }];
  await writeFile(config, JSON.stringify({ listen: "127.0.0.1:0", upstreams, cors: { allow_origins: ["*"] }, drain_seconds: 0 }));
  proxy = (await keep(start(program, "serve", "--config", config, "--log-level", "warning"))).address;
  browser = await keep(launchBrowser(), (browser) => browser.close());
  text = await recordedText(upstream);
});
after(async () => {
  for (const close of running.reverse()) await close();
});

/** A page that tells what goes wrong in it, and how it compiles WebAssembly. */
async function openPage() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // The cut itself is one of these.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
  await page.addInitScript(() => {
    globalThis.compiled = [];
    for (const name of Object.getOwnPropertyNames(WebAssembly).filter((name) => /^(instantiate|compile)/.test(name))) {
      const original = WebAssembly[name];
      WebAssembly[name] = (...all) => (globalThis.compiled.push(name), original(...all));
    }
  });
  return { page, errors, close: () => context.close() };
}

/** Opens the page, cuts its answer when some of it is shown, and looks at it when it is whole. */
async function recovers(address, { meanwhile = async () => {} } = {}) {
  const line = await openLine(proxy, 4000);
  const { page, errors, close } = await openPage();
  try {
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await page.goto(`${address}/?proxy=${line.address}`, { waitUntil: "commit" });
    assert.equal((await answered).status(), 200);
    await meanwhile(page);
    await page.waitForFunction(() => document.getElementById("answer").dataset.end ?? document.getElementById("answer").textContent);
    await line.cut();
    await page.waitForSelector("#answer[data-end]");
    const shown = await page.locator("#answer").evaluate(({ textContent, dataset }) => ({ text: textContent, ...dataset }));
    assert.deepEqual(shown, { text, end: "complete", attempts: "2" });
    assert.deepEqual(errors, []);
    return await page.evaluate(() => globalThis.compiled);
  } finally {
    await close();
    line.close();
  }
}

for (const { name, build, inline = false } of ways) {
  test(name, async () => {
    const folder = `${workshop}${name.replaceAll(/\W+/g, "-").toLowerCase()}/`;
    await mkdir(folder, { recursive: true });
    assert.deepEqual(await build(folder), []);
    if (skip) return;
    const site = await serveFolder(folder);
    try {
      // The answer is there, and nobody can read it: of the module one half has been sent.
      const meanwhile = async (page) => {
        if (inline) return;
        await page.waitForFunction(() => globalThis.compiled.length > 0);
        assert.equal(await page.textContent("#answer"), "");
        site.release();
      };
      const compiled = await recovers(site.address, { meanwhile });
      assert.deepEqual(compiled, [inline ? "instantiate" : "instantiateStreaming"]);
      assert.equal(site.asked.filter((path) => path.endsWith(".wasm")).length, inline ? 0 : 1);
    } finally {
      site.close();
    }
  });
}

for (const { name, version, optimizeDeps = {} } of devServers) {
  test(name, { skip }, async () => {
    const { warnings, settings } = quietVite();
    const cacheDir = `${workshop}${name.replaceAll(/\W+/g, "-").toLowerCase()}`;
    const server = await version.createServer({ ...settings, cacheDir, optimizeDeps, server: { host: "127.0.0.1", port: 0 } });
    try {
      await server.listen();
      const compiled = await recovers(server.resolvedUrls.local[0].slice(0, -1));
      assert.deepEqual(compiled, ["instantiateStreaming"]);
      assert.deepEqual(warnings, []);
    } finally {
      await server.close();
    }
  });
}
