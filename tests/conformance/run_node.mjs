// Runs the cases in Node against what has been built:
//   node tests/conformance/run_node.mjs [the package's module [the conformance module]]
import { readFile, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { loadConformanceCore } from "./conformance_core.mjs";
import { runDialect } from "./run_dialect.mjs";
import { runEngine } from "./run_engine.mjs";
import { runFingerprints, runSeam } from "./run_seam.mjs";
import { runSse } from "./run_sse.mjs";

const here = new URL(".", import.meta.url);
const given = (argument, fallback) => (argument ? pathToFileURL(resolve(argument)) : new URL(fallback, here));
const packageModule = given(process.argv[2], "../../web/dist/index.js");
const conformanceModule = given(process.argv[3], "../../build/wasm/tidemark_conformance.wasm");
const json = async (file) => JSON.parse(await readFile(new URL(file, here), "utf8"));

const { SseParser, tailFingerprint } = await import(packageModule.href);
const core = await loadConformanceCore(await readFile(conformanceModule));

const results = new Map();
results.set("sse", await runSse((await json("sse/cases.json")).cases, SseParser));
for (const file of (await readdir(new URL("dialect/", here))).filter((name) => name.endsWith(".json")).sort()) {
  results.set(`dialect/${file}`, runDialect(await json(`dialect/${file}`), core));
}
results.set("seam/fingerprint", await runFingerprints(await json("seam/fingerprint.json"), tailFingerprint));
for (const name of ["overlap", "joiner", "weight", "backoff", "retry_after", "watermark"]) {
  results.set(`seam/${name}`, runSeam(name, await json(`seam/${name}.json`), core));
}

results.set("engine", await runEngine((await json("seam/retry_after.json")).cases));

let bad = false;
for (const [name, { cases, runs, skipped, failures }] of results) {
  console.log(`${name}: ${cases} cases, ${runs} runs, ${skipped} not for this runner, ${failures.length} failed`);
  for (const failure of failures) console.error(failure);
  bad ||= failures.length > 0 || cases === 0;
}
process.exitCode = bad ? 1 : 0;
