// How pages come by the package: each of these makes a folder that a static server serves, and gives the tool's warnings.
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import esbuild from "esbuild";
import { rollup } from "rollup";
import * as vite from "vite";
import * as vite7 from "vite-7";
import webpack from "webpack";
import { app, installed } from "./app.mjs";

const page = (folder, change = (html) => html) =>
  readFile(`${app}index.html`, "utf8").then((html) => writeFile(`${folder}index.html`, change(html)));
const module = (folder) => cp(`${installed}dist/tidemark_core.wasm`, `${folder}tidemark_core.wasm`);

/** A logger that only keeps what it is warned of. */
export function quietVite() {
  const warnings = [];
  const warn = (text) => void warnings.push(text);
  const customLogger = { info() {}, warn, warnOnce: warn, error: warn, clearScreen() {}, hasErrorLogged: () => false, hasWarned: false };
  return { warnings, settings: { root: app, configFile: false, logLevel: "warn", customLogger } };
}

const withVite = (version) => async (folder) => {
  const { warnings, settings } = quietVite();
  await version.build({ ...settings, build: { outDir: folder, emptyOutDir: true } });
  return warnings;
};

async function withWebpack(folder) {
  const stats = await new Promise((resolve, reject) =>
    webpack({ mode: "production", context: app, entry: "./main.js", output: { path: folder } }, (error, stats) =>
      error ? reject(error) : resolve(stats),
    ),
  );
  await page(folder);
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  return [...errors, ...warnings].map(({ message }) => message);
}

async function withRollup(folder) {
  const warnings = [];
  const bundle = await rollup({ input: `${app}main.js`, plugins: [nodeResolve()], onwarn: ({ message }) => void warnings.push(message) });
  await bundle.write({ dir: folder });
  await bundle.close();
  await Promise.all([page(folder), module(folder)]);
  return warnings;
}

const withEsbuild = (entry, options, change) => async (folder) => {
  const { warnings } = await esbuild.build({
    entryPoints: { main: app + entry },
    bundle: true,
    minify: true,
    outdir: folder,
    logLevel: "silent",
    ...options,
  });
  await page(folder, change);
  if (entry === "main.js") await module(folder);
  return warnings.map(({ text }) => text);
};

/** No bundler: an import map says where the package is. `entry`: the page's script; `needs`: of the package. */
const plain = (entry, imports, needs) => async (folder) => {
  const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  await mkdir(`${folder}tidemark`, { recursive: true });
  await Promise.all([
    page(folder, (html) => html.replace("<script", `${map}\n  <script`).replace("main.js", entry)),
    ...[entry, "show.js"].map((name) => cp(app + name, folder + name)),
    ...needs.map((name) => cp(`${installed}dist/${name}`, `${folder}tidemark/${name}`)),
  ]);
  return [];
};

export const ways = [
  { name: "Vite 8, built", build: withVite(vite) },
  { name: "Vite 7, built", build: withVite(vite7) },
  { name: "webpack 5", build: withWebpack },
  { name: "Rollup, the module copied", build: withRollup },
  { name: "esbuild, the module copied", build: withEsbuild("main.js", { format: "esm" }) },
  { name: "no bundler, an import map", build: plain("main.js", { tidemark: "./tidemark/index.js" }, ["index.js", "tidemark_core.wasm"]) },
  { name: "tidemark/inline: esbuild, an ES module", inline: true, build: withEsbuild("inline.js", { format: "esm" }) },
  {
    name: "tidemark/inline: esbuild, a script of the old kind",
    inline: true,
    build: withEsbuild("inline.js", { format: "iife" }, (html) => html.replace('type="module"', "defer")),
  },
  { name: "tidemark/inline: no bundler, an import map", inline: true, build: plain("inline.js", { "tidemark/inline": "./tidemark/inline.js" }, ["inline.js"]) },
];
export const devServers = [
  { name: "Vite 8's development server", version: vite },
  { name: "Vite 7's development server, told to leave the package alone", version: vite7, optimizeDeps: { exclude: ["tidemark"] } },
];
