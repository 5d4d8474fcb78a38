// The files of deploy/ as they are, but for named values: ports, paths and what only this machine has.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../e2e/start.mjs";

export const deployed = (name) => readFileSync(join(root, "deploy", name), "utf8");

/** Each value must be there `times` times, once where nothing is said, and is replaced there. */
export function adapted(name, values) {
  let text = deployed(name);
  for (const [value, replacement, times = 1] of values) {
    const parts = text.split(value);
    assert.equal(parts.length - 1, times, `deploy/${name}: how often it says ${value}`);
    text = parts.join(replacement);
  }
  return text;
}
