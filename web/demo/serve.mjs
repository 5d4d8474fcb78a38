// Serves the chat page and the built package beside it.
//   node serve.mjs --proxy URL --upstream URL [--port N] [--host NAME]
// When ready it prints `page listening on http://HOST:PORT`. Port 0 takes a free one.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { parseArgs } from "node:util";

const fail = (message) => {
  console.error(`serve: ${message}`);
  process.exit(2);
};

function options() {
  try {
    const { values } = parseArgs({
      options: {
        proxy: { type: "string" },
        upstream: { type: "string" },
        port: { type: "string", default: "0" },
        host: { type: "string", default: "127.0.0.1" },
      },
    });
    for (const name of ["proxy", "upstream"]) {
      if (!/^https?:\/\//.test(values[name] ?? "") || !URL.canParse(values[name])) {
        fail(`--${name} is "${values[name] ?? ""}"; allowed: an http:// or https:// URL`);
      }
      values[name] = new URL(values[name]).origin;
    }
    if (!/^\d+$/.test(values.port) || Number(values.port) > 65535) fail(`--port is "${values.port}"; allowed: 0 to 65535`);
    return values;
  } catch (error) {
    return fail(error.message);
  }
}

const { proxy, upstream, port, host } = options();

const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";
// Path of the request -> file and type. Nothing else is served.
const files = new Map([
  ["/", ["index.html", "text/html; charset=utf-8"]],
  ["/icon.svg", ["icon.svg", "image/svg+xml"]],
  ["/page.css", ["page.css", style]],
  ["/page.js", ["page.js", script]],
  ["/strip.js", ["strip.js", script]],
  ["/weather.js", ["weather.js", script]],
  ["/tidemark/cursor.css", ["../dist/cursor.css", style]],
  ["/tidemark/cursor.js", ["../dist/cursor.js", script]],
  ["/tidemark/index.js", ["../dist/index.js", script]],
  ["/tidemark/tidemark_core.wasm", ["../dist/tidemark_core.wasm", "application/wasm"]],
]);

const manners = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; " +
    `connect-src 'self' ${proxy} ${upstream}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

async function content(path) {
  if (path === "/config.json") return [JSON.stringify({ proxy, upstream }), "application/json"];
  const file = files.get(path);
  return file && [await readFile(new URL(file[0], import.meta.url)), file[1]];
}

const server = createServer(async (request, response) => {
  try {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return response.writeHead(405, { ...manners, Allow: "GET, HEAD" }).end();
    }
    const found = await content(request.url.split("?")[0]);
    if (!found) return response.writeHead(404, { ...manners, "Content-Type": "text/plain" }).end("not found\n");
    response.writeHead(200, { ...manners, "Content-Type": found[1], "Content-Length": Buffer.byteLength(found[0]) });
    return response.end(request.method === "HEAD" ? undefined : found[0]);
  } catch (error) {
    return response.writeHead(500, { ...manners, "Content-Type": "text/plain" }).end(`${error.code}\n`);
  }
});
server.on("error", (error) => {
  console.error(`serve: ${error.message}`);
  process.exit(1);
});
server.listen(Number(port), host, () => console.log(`page listening on http://${host}:${server.address().port}`));
