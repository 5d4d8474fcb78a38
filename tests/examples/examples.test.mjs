// An example a stack, built with the stack's own tool and driven in Chromium.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ended, onPage, openScene, testExample, textOf } from "../e2e/drive_example.mjs";
import { textOfEvents } from "../e2e/stage.mjs";
import { root } from "../e2e/start.mjs";
import { buildExamples, stacks, takePackage } from "./built_examples.mjs";

const names = Object.keys(stacks);
const sites = {};
let scene;

before(async () => {
  takePackage(join(root, "build/installed/node_modules/tidemark"));
  const seconds = await buildExamples(names.filter((name) => stacks[name].built));
  for (const [name, each] of Object.entries(seconds)) console.log(`${name} was built in ${each.toFixed(1)} s`);
  scene = await openScene();
  for (const name of names) sites[name] = await stacks[name].serve(name, scene.line.address);
});
after(async () => {
  for (const site of Object.values(sites)) await site.stop();
  await scene?.close();
});

for (const name of names) {
  const { adapter, hydrated } = stacks[name];
  testExample(name, { scene: () => scene, site: () => `${sites[name].address}/`, adapter, hydrated });
  if (hydrated === undefined) continue;

  test(`${name}: what the server rendered is taken over, and its question answered`, async () => {
    const address = `${sites[name].address}/?proxy=${scene.line.address}&question=Ebb+or+flow%3F`;
    const served = await (await fetch(address)).text();
    assert.match(served, /<input[^>]* value="Ebb or flow\?"/);
    assert.match(served, /<p class="text">(<!--.*?-->)*<tide-cursor [^>]*aria-hidden="true"[^>]*><\/tide-cursor>/);
    await onPage(scene, async ({ page, requests, before }) => {
      await page.addInitScript(() =>
        addEventListener("DOMContentLoaded", () => (globalThis.served = document.querySelector("article"))),
      );
      await page.goto(address);
      await ended(page, "complete");
      assert.equal(await page.evaluate(() => served !== null && served === document.querySelector("article")), true);
      assert.equal(await textOf(page), scene.recorded);
      assert.deepEqual(requests, ["POST"]);
      assert.equal((await scene.status()).all, before.all + 1);
    });
  });

  test(`${name}: what breaks between its server and the proxy is healed on the server`, async () => {
    const before = await scene.status();
    const cut = scene.line.cutAfter(20000);
    const response = await fetch(`${sites[name].address}/api/chat`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "?" }] }),
    });
    assert.equal(response.status, 200);
    assert.equal(textOfEvents(await response.text()), scene.recorded);
    await cut;
    assert.equal((await scene.status()).all, before.all + 1);
  });
}
