// The conformance cases in Chromium: the package's parser and fingerprint, all else against the same core.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";
import { openPage, openStage } from "./stage.mjs";

const vectors = new URL("../conformance/", import.meta.url);
const coreFile = new URL("../../build/wasm/tidemark_conformance.wasm", import.meta.url);
const seams = ["overlap", "joiner", "weight", "backoff", "retry_after", "watermark"];

test("every conformance case in Chromium", async (t) => {
  const stage = await openStage();
  try {
    const { page } = await openPage(stage);
    await page.route("**/vectors/*", async (route) => {
      const name = new URL(route.request().url()).pathname.split("/").at(-1);
      const wasm = name.endsWith(".wasm");
      await route.fulfill({
        contentType: wasm ? "application/wasm" : "text/javascript",
        body: await readFile(wasm ? coreFile : new URL(name, vectors)),
      });
    });
    const json = async (file) => JSON.parse(await readFile(new URL(file, vectors), "utf8"));
    const dialects = (await readdir(new URL("dialect/", vectors))).filter((name) => name.endsWith(".json"));
    const files = ["sse/cases", "seam/fingerprint", ...seams.map((name) => `seam/${name}`)].map((name) => `${name}.json`);
    files.push(...dialects.map((name) => `dialect/${name}`));
    const cases = Object.fromEntries(await Promise.all(files.map(async (file) => [file, await json(file)])));

    const results = await page.evaluate(
      async ([cases, seams]) => {
        const [{ SseParser, tailFingerprint }, { loadConformanceCore }, { runSse }, { runDialect }, { runFingerprints, runSeam }] =
          await Promise.all(
            ["tidemark/index.js", "vectors/conformance_core.mjs", "vectors/run_sse.mjs", "vectors/run_dialect.mjs", "vectors/run_seam.mjs"].map(
              (file) => import(new URL(file, location.href)),
            ),
          );
        const core = await loadConformanceCore(await WebAssembly.compileStreaming(fetch("vectors/core.wasm")));
        const results = {};
        results.sse = await runSse(cases["sse/cases.json"].cases, SseParser);
        results.fingerprint = await runFingerprints(cases["seam/fingerprint.json"], tailFingerprint);
        for (const name of seams) results[name] = runSeam(name, cases[`seam/${name}.json`], core);
        for (const file of Object.keys(cases)) if (file.startsWith("dialect/")) results[file] = runDialect(cases[file], core);
        return results;
      },
      [cases, seams],
    );
    assert.equal(Object.keys(results).length, files.length);
    for (const [name, { cases: count, runs, failures }] of Object.entries(results)) {
      t.diagnostic(`${name}: ${count} cases, ${runs} runs`);
      assert.ok(count > 0, name);
      assert.deepEqual(failures, [], name);
    }
  } finally {
    await stage.close();
  }
});
