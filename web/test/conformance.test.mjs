// The conformance cases in Node: the package's parser and fingerprint as installed, all else against the same core.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = process.env.TIDEMARK_ROOT;

test("every conformance case", (t) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      `${root}tests/conformance/run_node.mjs`,
      fileURLToPath(import.meta.resolve("tidemark")),
      `${root}build/wasm/tidemark_conformance.wasm`,
    ],
    { encoding: "utf8" },
  );
  for (const line of stdout.trim().split("\n")) t.diagnostic(line);
  assert.match(stdout, /^sse: \d+ cases/);
  assert.equal(status, 0, stderr);
});
