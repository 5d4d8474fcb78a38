// tidemark/inline: the same package with the module inside the script.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as inline from "tidemark/inline";
import * as plain from "tidemark";
import { chatEvents, endComment, flakyServer } from "./flaky_server.mjs";

const script = new URL("node_modules/tidemark/dist/inline.js", import.meta.url);

test("it exports what tidemark does", () => {
  assert.deepEqual(Object.keys(inline), Object.keys(plain));
});

test("its script needs no file beside it, no network, and no code made from text", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-inline-"));
  try {
    const alone = join(folder, "inline.mjs");
    await copyFile(script, alone);
    const code = `
      globalThis.fetch = () => { throw new Error("fetched"); };
      const { SseParser, tailFingerprint } = await import(${JSON.stringify(pathToFileURL(alone))});
      const parser = await SseParser.create();
      const [{ data }] = parser.feed(new TextEncoder().encode("data: high water\\n\\n"));
      console.log(data, await tailFingerprint("abc"));
    `;
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", code];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: folder });
    assert.equal(stdout, "high water e71fa2190541574b\n");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("an answer is recovered, and its errors are of its own class", async () => {
  const events = chatEvents(["a", "b"], { epoch: "e1" });
  const head = { "Tidemark-Stream": "s", "Tidemark-Epoch": "e1" };
  const server = await flakyServer(
    (answer) => answer.head(200, head).send(events[0]).reset(),
    (answer) => answer.head(200, head).send(events.slice(1).join("") + endComment).end(),
    (answer) => answer.head(401).end(),
  );
  try {
    const ask = () => inline.recoverStream(`${server.url}/v1/chat/completions`, { body: { stream: true }, firstRetryDelayMs: 0 });
    const answer = ask();
    for await (const _ of answer);
    assert.deepEqual([answer.text, answer.attempts], ["ab", 2]);
    await assert.rejects(async () => {
      for await (const _ of ask());
    }, inline.TidemarkError);
  } finally {
    await server.close();
  }
});

for (const name of ["react", "vue"]) {
  test(`tidemark/inline/${name} is tidemark/${name} over tidemark/inline`, async () => {
    const source = (file) => readFile(new URL(file, script), "utf8");
    const [plainOne, inlineOne] = await Promise.all([source(`${name}.js`), source(`inline_${name}.js`)]);
    const imports = (text) => [...text.matchAll(/(?:from|import\()"(\.[^"]*)"/g)].map(([, path]) => path);
    assert.ok(imports(plainOne).includes("./index.js"));
    assert.deepEqual(imports(inlineOne).sort(), imports(plainOne).map((path) => path.replace("index", "inline")).sort());
  });
}

for (const [stack, name] of [["react-18", "react"], ["react-19", "react"], ["vue", "vue"]]) {
  test(`in ${stack} tidemark/inline/${name} gives what tidemark/${name} does`, async () => {
    const code = `
      const [plain, inline] = await Promise.all([import("tidemark/${name}"), import("tidemark/inline/${name}")]);
      console.log(JSON.stringify([plain, inline].map(Object.keys)));
    `;
    const cwd = fileURLToPath(new URL(`stacks/${stack}/`, import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd });
    assert.deepEqual(JSON.parse(stdout), [["TideCursor", "useRecoveredStream"], ["TideCursor", "useRecoveredStream"]]);
  });
}
