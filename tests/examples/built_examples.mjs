// The examples, each built with its own tool from the package as it was packed, and served.
import { execFile } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { listening } from "../e2e/line.mjs";
import { root, start } from "../e2e/start.mjs";

const examples = join(root, "web/examples");
const made = ["dist", ".next", ".nuxt", ".output", "node_modules/.cache", "node_modules/.vite"];
const silent = { NEXT_TELEMETRY_DISABLED: "1", NUXT_TELEMETRY_DISABLED: "1" };

/** Puts the packed package, which `npm pack` made of the tree as it is now, in the place of the one that npm installed. */
export function takePackage(tidemark) {
  const modules = join(examples, "node_modules");
  if (!existsSync(modules)) throw new Error("the examples are not installed: npm ci --prefix web/examples");
  for (const each of ["tidemark", ".cache", ".vite"]) rmSync(join(modules, each), { recursive: true, force: true });
  cpSync(tidemark, join(modules, "tidemark"), { recursive: true });
}

/** Builds from nothing; resolves with the seconds that it took. */
async function build(name) {
  const folder = join(examples, name);
  if (existsSync(join(folder, "node_modules/tidemark"))) throw new Error(`${name} has a package of its own`);
  for (const each of made) rmSync(join(folder, each), { recursive: true, force: true });
  const begin = performance.now();
  await promisify(execFile)("npm", ["run", "build", "--silent"], { cwd: folder, env: { ...process.env, ...silent } }).catch((error) => {
    throw new Error(`${name} was not built:\n${error.stdout}${error.stderr}`);
  });
  return (performance.now() - begin) / 1000;
}

/** Two at a time, in this order; resolves with each one's seconds. */
export async function buildExamples(names) {
  const left = [...names];
  const seconds = {};
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) seconds[name] = await build(name);
  };
  await Promise.all([work(), work()]);
  return seconds;
}

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** What the build left in the example's dist/, from a server that knows nothing of it. */
async function serveFiles(name) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, "http://host");
    const file = join(examples, name, "dist", pathname === "/" ? "index.html" : pathname);
    const content = await readFile(file).catch(() => undefined);
    if (content === undefined) return response.writeHead(404).end();
    return response.writeHead(200, { "Content-Type": types[extname(file)] }).end(content);
  });
  return { address: await listening(server), stop: () => server.close() };
}

async function freePort() {
  const server = createServer();
  const { port } = new URL(await listening(server));
  await new Promise((closed) => server.close(closed));
  return port;
}

/** A server of its own, that is told where the proxy is. Its port is chosen here, since Nuxt's takes 0 for none given. */
const serveItself =
  (...command) =>
  async (name, proxy) => {
    const PORT = await freePort();
    const variables = Object.entries({ ...silent, PORT, HOST: "127.0.0.1", TIDEMARK_PROXY: proxy, NUXT_PROXY: proxy });
    const where = ["--chdir", join(examples, name), ...variables.map((each) => each.join("="))];
    return start("env", ...where, process.execPath, ...command);
  };

/**
 * Name -> how it is built and served, and whether the package's adapter is what shows the answer. With `hydrated` the
 * page is rendered on a server first; that says in the page whether it has been taken over.
 */
export const stacks = {
  next: {
    built: true,
    serve: serveItself(join(examples, "node_modules/next/dist/bin/next"), "start", "-H", "127.0.0.1"),
    adapter: true,
    hydrated: () => Object.keys(document.querySelector("form")).some((key) => key.startsWith("__reactProps")),
  },
  nuxt: {
    built: true,
    serve: serveItself(".output/server/index.mjs"),
    adapter: true,
    hydrated: () => Object.getOwnPropertySymbols(document.querySelector("form")).some(({ description }) => description === "_vei"),
  },
  plain: { serve: serveItself("serve.mjs") },
  react: { built: true, serve: serveFiles, adapter: true },
  vue: { built: true, serve: serveFiles, adapter: true },
  svelte: { built: true, serve: serveFiles },
  solid: { built: true, serve: serveFiles },
};
