// The committed page is the one that the table makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { markdown, page } from "./page.mjs";

test("docs/faults.md is what `npm run table --prefix tests/sdk` writes", () => {
  assert.equal(readFileSync(page, "utf8"), markdown());
});
