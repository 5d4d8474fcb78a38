// Runs the cases in Node against the built package: node tests/conformance/run_node.mjs [DIRECTORY OF THE BUILT ENGINE]
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { runSse } from "./run_sse.mjs";

const here = new URL(".", import.meta.url);
const engine = process.argv[2] ? pathToFileURL(resolve(process.argv[2]) + "/") : new URL("../../web/dist/engine/", here);
const cases = async (file) => JSON.parse(await readFile(new URL(file, here), "utf8")).cases;

const { SseParser } = await import(new URL("sse_parser.js", engine).href);
const results = { sse: await runSse(await cases("sse/cases.json"), SseParser) };

let bad = false;
for (const [name, { cases, runs, skipped, failures }] of Object.entries(results)) {
  console.log(`${name}: ${cases} cases, ${runs} runs, ${skipped} not for this parser, ${failures.length} failed`);
  for (const failure of failures) console.error(failure);
  bad ||= failures.length > 0 || cases === 0;
}
process.exitCode = bad ? 1 : 0;
