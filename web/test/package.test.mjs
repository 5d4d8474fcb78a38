// The package as it is installed: what it holds, how large it is, what importing does, what stays behind.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { chatEvents, endComment, flakyServer } from "./flaky_server.mjs";

const root = new URL("node_modules/tidemark/", import.meta.url);

test("it holds what runs, types and a README, and nothing else", async () => {
  const files = await readdir(root, { recursive: true, withFileTypes: true });
  const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
  for (const name of names) assert.match(name, /^(package\.json|README\.md|LICENSE)$|\.d\.ts$|^(index|inline|cursor|(inline_)?(react|vue))\.js$|\.wasm$|^cursor\.css$/);
  for (const name of ["README.md", "index.d.ts", "index.js", "cursor.js", "cursor.css", "react.js", "vue.js", "inline.js", "tidemark_core.wasm"]) {
    assert.ok(names.includes(name), name);
  }
  const { dependencies, exports, peerDependencies, peerDependenciesMeta } = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
  assert.equal(dependencies, undefined);
  for (const peer of Object.keys(peerDependencies)) assert.equal(peerDependenciesMeta[peer].optional, true, peer);
  for (const target of Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)))) {
    await readFile(new URL(target, root));
  }
});

test("the adapter for React says that it is for clients", async () => {
  for (const name of ["react", "inline_react"]) {
    assert.match(await readFile(new URL(`dist/${name}.js`, root), "utf8"), /^"use client";/);
  }
});

test("before it is built it can't be packed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-package-"));
  try {
    await cp(new URL("package.json", root), join(folder, "package.json"));
    await assert.rejects(promisify(execFile)("npm", ["pack", "--dry-run"], { cwd: folder }), /scripts\/build/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("client and core are at most 30 kB, brotli", async (t) => {
  let total = 0;
  for (const file of ["dist/index.js", "dist/tidemark_core.wasm"]) {
    const size = brotliCompressSync(await readFile(new URL(file, root))).length;
    t.diagnostic(`${file}: ${size} bytes`);
    total += size;
  }
  assert.ok(total <= 30000, `${total} bytes`);
});

const node = (code) =>
  promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd: fileURLToPath(new URL(".", import.meta.url)) });

test("importing has no effect: no module is loaded, no global is added, the process ends", async () => {
  const { stdout } = await node(`
    const before = Object.getOwnPropertyNames(globalThis).length;
    const compile = WebAssembly.instantiate;
    WebAssembly.instantiate = () => console.log("compiled");
    await import("tidemark");
    await import("tidemark/inline");
    await import("tidemark/cursor");
    console.log(Object.getOwnPropertyNames(globalThis).length - before);
  `);
  assert.equal(stdout, "0\n");
});

test("the module's memory is used again: it grows to what is needed at once, and no further", async () => {
  const { stdout } = await node(`
    const instantiate = WebAssembly.instantiate;
    let memory;
    WebAssembly.instantiate = async (...all) => {
      const made = await instantiate(...all);
      memory = made.instance.exports.memory;
      return made;
    };
    const { SseParser } = await import("tidemark");
    const event = new TextEncoder().encode("data: " + "x".repeat(100_000) + "\\n\\n");
    async function use() {
      const parsers = [await SseParser.create(), await SseParser.create()];
      let data = "";
      for (let at = 0; at < event.length; at += 5000) {
        for (const parser of parsers) for (const got of parser.feed(event.subarray(at, at + 5000))) data += got.data;
      }
      for (const parser of parsers) parser.free();
      return data.length;
    }
    const sizes = new Set([await use()]);
    const first = memory.buffer.byteLength;
    for (let i = 0; i < 200; ++i) sizes.add(await use());
    console.log(JSON.stringify({ sizes: [...sizes], grown: memory.buffer.byteLength - first, small: first < 4 << 20 }));
  `);
  assert.deepEqual(JSON.parse(stdout), { sizes: [200_000], grown: 0, small: true });
});

test("nothing stays behind after an answer: no timer, no listener, and the process ends by itself", async () => {
  const events = chatEvents(["a", "b"], { epoch: "e1" });
  const head = { "Tidemark-Stream": "s", "Tidemark-Epoch": "e1" };
  const server = await flakyServer(
    (answer) => answer.head(200, head).send(events[0]).reset(),
    (answer) => answer.head(200, head).send(events.slice(1).join("") + endComment).end(),
    (answer) => answer.head(200, head).send(events[0]),
    (answer) => answer.head(401).end(),
  );
  try {
    const { stdout } = await node(`
      // A page of which only the listeners are there.
      const page = new EventTarget();
      const counted = { timers: new Set(), set: 0, listeners: 0, added: 0 };
      const { setTimeout: set, clearTimeout: clear } = globalThis;
      globalThis.setTimeout = (run, ...rest) => {
        const timer = set(() => { counted.timers.delete(timer); run(); }, ...rest);
        // Node's own fetch uses some, too.
        if (new Error().stack.includes("tidemark/dist")) counted.timers.add(timer);
        if (counted.timers.has(timer)) ++counted.set;
        return timer;
      };
      globalThis.clearTimeout = (timer) => { counted.timers.delete(timer); clear(timer); };
      globalThis.addEventListener = (...all) => { ++counted.listeners; ++counted.added; page.addEventListener(...all); };
      globalThis.removeEventListener = (...all) => { --counted.listeners; page.removeEventListener(...all); };
      globalThis.document = { visibilityState: "visible", addEventListener, removeEventListener };
      const { recoverStream } = await import("tidemark");
      const options = { body: { stream: true }, firstRetryDelayMs: 0 };
      const url = "${server.url}/v1/chat/completions";
      const answer = recoverStream(url, options);
      for await (const _ of answer);
      const left = recoverStream(url, options);
      for await (const _ of left) break;
      try { for await (const _ of recoverStream(url, options)); } catch {}
      console.log(JSON.stringify({ text: answer.text, timers: counted.timers.size, listeners: counted.listeners, added: counted.added, set: counted.set > 0 }));
    `);
    assert.deepEqual(JSON.parse(stdout), { text: "ab", timers: 0, listeners: 0, added: 9, set: true });
  } finally {
    await server.close();
  }
});

test("where the module can't be had, only the first request is wasted, and later ones wait for it", async () => {
  const events = chatEvents(["a", "b"]);
  const stream = (answer) => answer.head().send(events.join("")).end();
  const server = await flakyServer(stream, stream);
  const copy = await mkdtemp(join(tmpdir(), "tidemark-"));
  try {
    await cp(new URL("dist/", root), copy, { recursive: true });
    const wasm = join(copy, "tidemark_core.wasm");
    await rename(wasm, `${wasm}.away`);
    const { recoverStream, createRecoveringFetch } = await import(pathToFileURL(join(copy, "index.js")));
    const url = `${server.url}/v1/chat/completions`;
    const body = { stream: true };
    let answer;
    const ask = async () => {
      answer = recoverStream(url, { body });
      for await (const _ of answer);
      return answer.text;
    };
    const unavailable = { name: "TidemarkError", code: "engine_unavailable", message: /could not be loaded: .*tidemark_core\.wasm/ };
    await assert.rejects(ask(), unavailable);
    assert.equal(answer.state, "finalized");
    await assert.rejects(ask(), unavailable);
    await assert.rejects(createRecoveringFetch()(url, { method: "POST", body: JSON.stringify(body) }), unavailable);
    assert.ok(server.seen.length <= 1, `${server.seen.length} requests`);
    await rename(`${wasm}.away`, wasm);
    assert.equal(await ask(), "ab");
  } finally {
    await server.close();
    await rm(copy, { recursive: true });
  }
});

test("online, pageshow and becoming visible wake a waiting retry", async () => {
  const events = chatEvents(["a", "b"], { epoch: "e1" });
  const head = { "Tidemark-Stream": "s", "Tidemark-Epoch": "e1" };
  for (const signal of ["online", "pageshow", "visibilitychange"]) {
    const server = await flakyServer(
      (answer) => answer.head(503).end(),
      (answer) => answer.head(200, head).send(events.join("") + endComment).end(),
    );
    try {
      const { stdout } = await node(`
        const page = new EventTarget();
        globalThis.addEventListener = (...all) => page.addEventListener(...all);
        globalThis.removeEventListener = (...all) => page.removeEventListener(...all);
        globalThis.document = { visibilityState: "visible", addEventListener, removeEventListener };
        const { recoverStream } = await import("tidemark");
        const answer = recoverStream("${server.url}/v1/chat/completions", {
          body: { stream: true },
          // Longer than this test may take.
          baseDelayMs: 1e6, maxDelayMs: 1e6,
          onRetry: () => page.dispatchEvent(new Event("${signal}")),
        });
        for await (const _ of answer);
        console.log(answer.text);
      `);
      assert.equal(stdout, "ab\n");
    } finally {
      await server.close();
    }
  }
});
