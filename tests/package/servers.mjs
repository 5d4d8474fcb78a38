// What lies between page and proxy: a static server with a strict policy, and a line that can be cut.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createLine } from "node:net";
import { extname } from "node:path";

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** The contract's policy; an inline import map is allowed by its hash. */
function policy(html) {
  const hashes = [...html.matchAll(/<script type="importmap">(.*?)<\/script>/gs)].map(
    ([, map]) => ` 'sha256-${createHash("sha256").update(map).digest("base64")}'`,
  );
  return `script-src 'self' 'wasm-unsafe-eval'${hashes.join("")}`;
}

/** Serves a folder. Of a .wasm only one half is sent before release() is called. `asked` has the paths of all requests. */
export async function serveFolder(folder) {
  const asked = [];
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const server = createServer(async (request, response) => {
    const path = request.url.split("?")[0];
    asked.push(path);
    const name = path === "/" ? "/index.html" : path;
    const content = await readFile(folder + name.slice(1)).catch(() => undefined);
    if (content === undefined) return response.writeHead(404).end();
    response.setHeader("Content-Type", types[extname(name)]);
    if (name.endsWith(".html")) response.setHeader("Content-Security-Policy", policy(content.toString()));
    if (name.endsWith(".wasm")) {
      response.write(content.subarray(0, content.length / 2));
      await released;
      return response.end(content.subarray(content.length / 2));
    }
    response.end(content);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => (server.closeAllConnections(), server.close());
  return { address: `http://127.0.0.1:${server.address().port}`, asked, release, close };
}

/** A line to `target`. The first event stream on it comes to a halt after `size` bytes; cut() resets its connection then. */
export async function openLine(target, size) {
  const { hostname, port } = new URL(target);
  const open = new Set();
  let halt;
  const halted = new Promise((resolve) => (halt = resolve));
  let past = false;
  const server = createLine((page) => {
    const far = connect(port, hostname);
    // Bytes till the halt; Infinity: no event stream has begun here.
    let left = Infinity;
    for (const [one, other] of [[page, far], [far, page]]) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => (open.delete(one), other.destroy()));
    }
    page.pipe(far);
    far.on("data", (chunk) => {
      if (left === Infinity && chunk.includes("text/event-stream")) left = size;
      if (past || chunk.length < left) {
        left -= chunk.length;
        page.write(chunk);
        return;
      }
      // No more than that, however much has come at once: it may be all of it.
      page.write(chunk.subarray(0, left));
      past = true;
      far.pause();
      halt(page);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => (open.forEach((each) => each.destroy()), server.close());
  return { address: `http://127.0.0.1:${server.address().port}`, cut: async () => (await halted).resetAndDestroy(), close };
}
