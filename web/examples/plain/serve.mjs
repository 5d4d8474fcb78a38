// Serves the page, and at ./tidemark/ the package's files as npm has installed them: what any static server does once
// node_modules/tidemark/dist has been copied to tidemark/. PORT says where, 5173 by default; 0 takes a free one.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", wasm: "application/wasm" };
const installed = import.meta.resolve("tidemark/package.json");

const server = createServer(async ({ url }, response) => {
  const [, packaged, name] = url.match(/^\/(tidemark\/)?([\w-]+\.(?:html|js|css|wasm))?(?:\?|$)/) ?? [];
  const file = packaged ? name && new URL(`dist/${name}`, installed) : url.match(/^\/(\?|$)/) && new URL("index.html", import.meta.url);
  try {
    const content = await readFile(file || "");
    response.writeHead(200, { "Content-Type": types[file.pathname.split(".").at(-1)] }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
server.listen(Number(process.env.PORT ?? 5173), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
