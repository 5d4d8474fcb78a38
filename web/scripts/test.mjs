// Packs the package, installs it into an empty folder and runs the tests there, in Node and in Chromium.
// With names as arguments only those: node browser examples (by name only; npm ci --prefix web/examples comes before).
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makeStacks } from "./stacks.mjs";

const web = new URL("../", import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, web));
const installed = path("../build/installed/");
const parts = process.argv.length > 2 ? process.argv.slice(2) : ["node", "browser"];

function tsc(...parameters) {
  execFileSync(process.execPath, [path("node_modules/typescript/bin/tsc"), ...parameters], { stdio: "inherit" });
}

/** The package's own types, and those of programs that use it as installed. */
function checkTypes() {
  tsc("-p", path("."), "--noEmit");
  const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedSideEffectImports", "--target", "es2022", "--module", "nodenext"];
  tsc(...strict, "--lib", "es2022,dom,dom.iterable", `${installed}types.ts`, `${installed}types_inline.ts`);
  // A program for Node has no "dom".
  tsc(...strict, "--lib", "es2022", "--types", "node", "--typeRoots", path("node_modules/@types"), `${installed}types_node.ts`);
  const typed = Object.entries({ "react-18": "types_react.tsx", "react-19": "types_react.tsx", vue: "types_vue.ts" }).map(([name, file]) => {
    cpSync(path(`test/${file}`), `${installed}stacks/${name}/${file}`);
    return `${installed}stacks/${name}/${file}`;
  });
  tsc(...strict, "--lib", "es2022,dom,dom.iterable", "--jsx", "react-jsx", ...typed);
}

rmSync(installed, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", installed], { cwd: path("."), stdio: ["ignore", "ignore", "inherit"] });
const tarball = readdirSync(installed).find((name) => name.endsWith(".tgz"));
writeFileSync(`${installed}package.json`, JSON.stringify({ private: true, type: "module" }));
execFileSync("npm", ["install", "--silent", "--no-package-lock", "--offline", `./${tarball}`], { cwd: installed, stdio: "inherit" });
cpSync(path("test"), installed, { recursive: true });
makeStacks(`${installed}stacks/`, `${installed}node_modules/tidemark`);

if (parts.includes("node")) checkTypes();

const tests = (directory) => readdirSync(directory).filter((name) => name.endsWith(".test.mjs")).map((name) => `${directory}${name}`);
const files = [];
if (parts.includes("node")) files.push(...tests(installed));
const inBrowser = { browser: "../tests/e2e/", examples: "../tests/examples/" };
for (const part of parts.filter((name) => name in inBrowser)) {
  if (existsSync(process.env.TIDEMARK_CHROMIUM ?? "/usr/bin/chromium")) files.push(...tests(path(inBrowser[part])));
  else console.log("no Chromium: the page is not tested here");
}
const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=spec", "--test-concurrency=1", ...files], {
  cwd: installed,
  env: { ...process.env, TIDEMARK_ROOT: path("../") },
  stdio: "inherit",
});
process.exit(status ?? 1);
