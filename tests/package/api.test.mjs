// docs/api/ is what the source's comments give, and no public declaration is without one.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { workshop } from "./app.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Path of each file in it -> what it says. */
async function contents(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".md")).sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(folder + name, "utf8")])));
}

test("docs/api/ is what `npm run api --prefix tests/package` writes", async () => {
  const made = `${workshop}api/`;
  const { stdout } = await promisify(execFile)(`${here}node_modules/.bin/typedoc`, ["--out", made], { cwd: here });
  assert.equal(stdout, "");
  assert.deepEqual(await contents(fileURLToPath(new URL("../../docs/api/", import.meta.url))), await contents(made));
});
