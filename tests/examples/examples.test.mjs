// An example a stack, built with the stack's own tool and driven in Chromium.
import { join } from "node:path";
import { after, before } from "node:test";
import { openScene, testExample } from "../e2e/drive_example.mjs";
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
  for (const name of names) sites[name] = await stacks[name].serve(name);
});
after(async () => {
  for (const site of Object.values(sites)) await site.stop();
  await scene?.close();
});

for (const name of names) {
  testExample(name, { scene: () => scene, site: () => `${sites[name].address}/`, adapter: stacks[name].adapter });
}
