// The packed tarball, looked over by the tools that its users look it over with.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import esbuild from "esbuild";
import { app, tarball, workshop } from "./app.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** Runs an installed tool; what it says is in the error where it is not content. */
async function run(name, ...parameters) {
  const env = { ...process.env, FORCE_COLOR: "0", NO_COLOR: "1" };
  try {
    return (await promisify(execFile)(`${folder}node_modules/.bin/${name}`, parameters, { cwd: folder, env })).stdout;
  } catch ({ stdout, stderr, message }) {
    throw new Error(`${message}\n${stdout}${stderr}`);
  }
}

test("publint has nothing to say", async () => {
  assert.match(await run("publint", tarball(), "--strict"), /All good!/);
});

// The package is ES modules only, as the contract says. A second copy in CommonJS would be another client with another
// TidemarkError in the same program, and would have no import.meta to find its module by; Node has require() of ES modules
// from 20.19 and 22.12 on, which the next test sees to. So that one rule is left out; the types of all the ways to resolve
// stay checked, those before `exports` (node10) too. The .wasm is no code: nobody imports it by its types.
test("every entry has its types, however they are resolved", async () => {
  await run("attw", tarball(), "--ignore-rules", "cjs-resolves-to-esm", "--exclude-entrypoints", "tidemark_core.wasm");
});

test("require() gives the same module that import does", { skip: !process.features.require_module }, async () => {
  const code = `
    import { createRequire } from "node:module";
    const require = createRequire(process.cwd() + "/");
    for (const name of ["tidemark", "tidemark/inline", "tidemark/cursor"]) console.log(require(name) === (await import(name)));
  `;
  const flags = ["--no-warnings", "--input-type=module", "-e", code];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: app });
  assert.equal(stdout, "true\n".repeat(3));
});

test("sizes, brotli", async (t) => {
  const bundle = { bundle: true, minify: true, format: "esm", outdir: `${workshop}sse`, logLevel: "silent" };
  const { warnings } = await esbuild.build({ entryPoints: [`${app}parser.js`], ...bundle });
  assert.deepEqual(warnings, []);
  for (const { name, size, sizeLimit, passed } of JSON.parse(await run("size-limit", "--json"))) {
    t.diagnostic(`${name}: ${size} of ${sizeLimit} bytes`);
    assert.ok(passed, name);
  }
});

test("who takes the parser alone is given nothing of the client", async () => {
  const parser = await readFile(`${workshop}sse/parser.js`, "utf8");
  const whole = await readFile(`${app}node_modules/tidemark/dist/index.js`, "utf8");
  // A word of each: of requests, of the page's signals, of the answer, of the drop-in, of the callbacks.
  for (const word of ["Idempotency-Key", "visibilitychange", "asyncIterator", "ReadableByteStreamController", "onDelta"]) {
    assert.ok(whole.includes(word), word);
    assert.ok(!parser.includes(word), word);
  }
});
