// Builds dist/: the bundled modules, their types, the style sheet and the WebAssembly module.
// The module comes from the `wasm` preset's build, or from where TIDEMARK_WASM says.
import { execFileSync } from "node:child_process";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = new URL("../", import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, web));
const wasm = process.env.TIDEMARK_WASM ?? path("../build/wasm/tidemark_core.wasm");

await rm(path("dist"), { recursive: true, force: true });
await mkdir(path("dist"), { recursive: true });
execFileSync(process.execPath, [path("node_modules/typescript/bin/tsc"), "-p", path("."), "--emitDeclarationOnly"], {
  stdio: "inherit",
});
await build({
  entryPoints: { index: path("src/index.ts"), cursor: path("src/cursor/cursor.ts") },
  outdir: path("dist"),
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  legalComments: "none",
});
await copyFile(path("src/cursor/cursor.css"), path("dist/cursor.css"));
// So that TypeScript, too, finds something where the style sheet is imported.
await writeFile(path("dist/cursor.css.d.ts"), "export {};\n");
await copyFile(wasm, path("dist/tidemark_core.wasm"));
