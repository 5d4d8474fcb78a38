// Builds dist/: the bundled modules, their types, the style sheet and the WebAssembly module.
// The module comes from the `wasm` preset's build, or from where TIDEMARK_WASM says.
import { execFileSync } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";
import { renameExports } from "./wasm_exports.mjs";
import { smallest } from "./wasm_passes.mjs";

const web = new URL("../", import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, web));
const wasm = process.env.TIDEMARK_WASM ?? path("../build/wasm/tidemark_core.wasm");

// Beside dist/, which somebody may be serving: it is exchanged once it is whole.
const out = path("dist.building");
await rm(out, { recursive: true, force: true });
await mkdir(out);
execFileSync(process.execPath, [path("node_modules/typescript/bin/tsc"), "-p", path("."), "--emitDeclarationOnly", "--outDir", out], {
  stdio: "inherit",
});
// Properties that only the package itself sees are given short names, the module's exports with them. None of these may
// be a property of anything else: of the platform, of an answer, an event or an error.
const internal = [
  "handle(Response|Bytes|End|Failure|Timeout)|setHidden|nextDeadline|stateNumber|inputStrings",
  "copy|copies|floats|words|actions|events|number|input|core|handle|blockIn|(block|data|name)(At|Size)|dataIn|bodyFields",
  "roomForMore|opened|flushed|finished|failed|thrown|inBand|retryAfterMs|controller|reader|response|hidden|wake|disconnect",
  "settings|fetchCall|template|streaming|named|passed|found|keep|follow|streamUrl",
].join("|");
const module = await readFile(wasm);
const exported = WebAssembly.Module.exports(new WebAssembly.Module(module)).filter(({ name }) => name.startsWith("tidemark_"));
const short = Object.fromEntries(exported.map(({ name }, index) => [name, String.fromCharCode(97 + index)]));
const common = {
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  legalComments: "none",
};
const renamed = `${out}/tidemark_core.wasm`;
await writeFile(renamed, renameExports(module, { ...short, memory: "memory", _initialize: "_initialize" }));
const shipped = smallest(renamed);
await writeFile(renamed, shipped);
const client = { ...common, mangleProps: new RegExp(`^(tidemark_\\w+|${internal})$`), mangleCache: short };
await build({ ...client, entryPoints: { index: path("src/index.ts"), cursor: path("src/cursor/cursor.ts") } });
const packed = deflateSync(shipped, { level: 9 });
const inside = {
  name: "module-inside",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/module_source\.js$/ }, () => ({ path: path("src/engine/inline_source.ts") }));
    onResolve({ filter: /^tidemark_core\.wasm$/ }, () => ({ path: wasm, namespace: "packed" }));
    onLoad({ filter: /./, namespace: "packed" }, () => ({ contents: packed, loader: "base64" }));
  },
};
await build({ ...client, entryPoints: { inline: path("src/inline.ts") }, plugins: [inside] });
// The adapters hold nothing of the client: they import it, so that a page has it once.
for (const [index, prefix] of [["index", ""], ["inline", "inline_"]]) {
  const siblings = { "../index.js": `./${index}.js`, "../cursor/cursor.js": "./cursor.js" };
  const besideThem = {
    name: "beside-them",
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\.\.\/(index|cursor\/cursor)\.js$/ }, ({ path }) => ({ path: siblings[path], external: true })),
  };
  await build({
    ...common,
    entryPoints: { [`${prefix}react`]: path("src/react/react.ts"), [`${prefix}vue`]: path("src/vue/vue.ts") },
    external: ["react", "vue"],
    plugins: [besideThem],
  });
}
// What esbuild leaves, terser finds: a fortieth of the client.
for (const name of (await readdir(out)).filter((name) => name.endsWith(".js"))) {
  const { code } = await minify(await readFile(`${out}/${name}`, "utf8"), {
    ecma: 2022,
    module: true,
    compress: { passes: 4, keep_fargs: false, directives: false, pure_getters: true, unsafe_arrows: true, unsafe_methods: true },
  });
  await writeFile(`${out}/${name}`, code);
}
await copyFile(path("src/cursor/cursor.css"), `${out}/cursor.css`);
// So that TypeScript, too, finds something where the style sheet is imported.
await writeFile(`${out}/cursor.css.d.ts`, "export {};\n");
await rm(path("dist"), { recursive: true, force: true });
await rename(out, path("dist"));
