// The package beside eventsource-parser with JSON.parse, and beside the cleverest plain JavaScript, on recorded streams.
//   node bench/web/run.mjs [--browser] [--rounds N] [--recordings DIRECTORY]
// Needs web/node_modules and build/wasm/tidemark_core.wasm (or what TIDEMARK_WASM names). With --browser it measures in Chromium in place of Node.
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chunksOf, recordings } from "./recordings.mjs";

const root = new URL("../../", import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const require = createRequire(path("web/package.json"));
const { values: given } = parseArgs({
  options: {
    browser: { type: "boolean", default: false },
    rounds: { type: "string", default: "41" },
    recordings: { type: "string", default: process.env.TIDEMARK_RECORDINGS ?? path("../shared/recordings") },
  },
});
const rounds = Number(given.rounds);
const sizes = [16384, 1400, "event"];

// Those with an answer text of some length; the others measure little but the call.
const wanted = ["deepseek-text", "groq-text", "openai-text", "lmstudio-basic", "xai-text-with-reasoning-streaming", "anthropic-json-output-format", "anthropic-code-execution-20250825"];
const found = (await recordings(given.recordings, ["openai-chat", "openai-responses", "anthropic-messages"])).filter(({ name }) => wanted.includes(name));
if (found.length === 0) throw new Error(`no recordings under ${given.recordings}`);

/** Measures in this process's JavaScript engine: one module with everything, beside the WebAssembly file. */
const directory = new URL("build/bench-web/", root);
await mkdir(directory, { recursive: true });
await require("esbuild").build({
  stdin: {
    contents: `
      export { measure } from "./bench/web/measure.mjs";
      import { loadCore } from "./web/src/engine/module.ts";
      import { Recoverer } from "./web/src/engine/recoverer.ts";
      export const recoverers = async () => { const core = await loadCore(); return (options) => new Recoverer(core, options); };
      export { SseParser } from "./web/src/engine/sse_parser.ts";
      export { createParser } from "eventsource-parser";`,
    resolveDir: path("."),
  },
  nodePaths: [path("web/node_modules")],
  outfile: fileURLToPath(new URL("bench.mjs", directory)),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
});
await copyFile(process.env.TIDEMARK_WASM ?? path("build/wasm/tidemark_core.wasm"), new URL("tidemark_core.wasm", directory));

async function inNode(streams) {
  const { measure, recoverers, SseParser, createParser } = await import(new URL("bench.mjs", directory).href);
  return measure(streams, { createRecoverer: await recoverers(), parser: await SseParser.create(), createParser }, { rounds });
}

async function inBrowser(streams) {
  await writeFile(new URL("index.html", directory), "<!doctype html><title>bench</title>");
  const types = { mjs: "text/javascript", wasm: "application/wasm", html: "text/html" };
  const server = createServer(async (request, response) => {
    const name = request.url === "/" ? "index.html" : request.url.slice(1);
    try {
      const body = await readFile(new URL(name, directory));
      response.writeHead(200, { "Content-Type": types[name.split(".").at(-1)] }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const browser = await require("playwright-core").chromium.launch({
    executablePath: process.env.TIDEMARK_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const plain = streams.map(({ chunks, ...rest }) => ({ ...rest, chunks: chunks.map((chunk) => Array.from(chunk)) }));
    return await page.evaluate(
      async ([all, rounds]) => {
        const { measure, recoverers, SseParser, createParser } = await import("/bench.mjs");
        const streams = all.map(({ chunks, ...rest }) => ({ ...rest, chunks: chunks.map((chunk) => Uint8Array.from(chunk)) }));
        return measure(streams, { createRecoverer: await recoverers(), parser: await SseParser.create(), createParser }, { rounds });
      },
      [plain, rounds],
    );
  } finally {
    await browser.close();
    server.close();
  }
}

const streams = sizes.flatMap((size) => found.map((one) => ({ dialect: one.dialect, name: one.name, size, chunks: chunksOf(one, size) })));
const rows = given.browser ? await inBrowser(streams) : await inNode(streams);

console.log(`${given.browser ? "Chromium" : `Node ${process.versions.node}`}, ${rounds} rounds; MB/s: median (least to most)`);
const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1];
for (const size of sizes) {
  console.log(`\n${size === "event" ? "one event a chunk" : `chunks of ${size} bytes`}`);
  const ratios = new Map();
  // Of each one's best round: what other work on the machine disturbs least.
  const fastest = new Map();
  for (const { name } of found) {
    const of = (who) => rows.find((row) => row.size === size && row.name === name && row.who === who);
    const shown = ({ rate, least, most }) => `${rate.toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)})`;
    const line = [name.padEnd(34)];
    for (const [mine, theirs] of [
      ["tidemark", "eventsource-parser + JSON.parse"],
      ["tidemark", "indexOf + JSON.parse of the value"],
      ["SseParser", "eventsource-parser"],
    ]) {
      const ratio = of(mine).rate / of(theirs).rate;
      const pair = `${mine} / ${theirs}`;
      ratios.set(pair, [...(ratios.get(pair) ?? []), ratio]);
      fastest.set(pair, [...(fastest.get(pair) ?? []), of(mine).most / of(theirs).most]);
      line.push(`${shown(of(mine))} / ${shown(of(theirs))} = ${ratio.toFixed(1)}`);
    }
    console.log(line.join("  |  "));
  }
  for (const [pair, all] of ratios) {
    console.log(
      `${pair}: median ${median(all).toFixed(1)}, least ${Math.min(...all).toFixed(1)}, most ${Math.max(...all).toFixed(1)}; ` +
        `by the best rounds ${median(fastest.get(pair)).toFixed(1)}`,
    );
  }
}
