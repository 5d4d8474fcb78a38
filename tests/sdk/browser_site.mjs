// A site with the bundled page, and a chat's server, POST /api/chat, that answers by streamText(). And a browser for it.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { createOpenAI } from "@ai-sdk/openai";
import { convertToModelMessages, streamText } from "ai";
import { launchBrowser } from "../e2e/stage.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const { build } = createRequire(new URL("../../web/package.json", import.meta.url))("esbuild");

async function bundled() {
  const { outputFiles } = await build({
    entryPoints: [here("browser_entry.mjs")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    keepNames: true,
    minifySyntax: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0].contents;
}

/** `models`: where the chat's model is, by the name that the request's X-Model gives. */
export async function openSite(models = {}) {
  const files = new Map([
    ["/", ["text/html", "<!doctype html><title>page</title><script type=module src=/page.js></script>"]],
    ["/page.js", ["text/javascript", await bundled()]],
    ["/tidemark_core.wasm", ["application/wasm", await readFile(here("../../web/dist/tidemark_core.wasm"))]],
  ]);
  const chats = new Map();

  async function chat(request, response) {
    const name = request.headers["x-chat"];
    chats.set(name, (chats.get(name) ?? 0) + 1);
    const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const headers = { "X-Simulate": request.headers["x-simulate"] };
    const provider = createOpenAI({
      baseURL: `${models[request.headers["x-model"]]}/v1`,
      apiKey: "sk-sdk-test",
      headers,
    });
    const answer = streamText({
      model: provider.chat("simulated-1"),
      messages: await convertToModelMessages(messages),
      maxRetries: 0,
      onError: () => {},
    });
    answer.pipeUIMessageStreamToResponse(response, { onError: (error) => error.message });
  }

  const server = createServer((request, response) => {
    if (request.method === "POST") return void chat(request, response);
    const [type, content] = files.get(request.url) ?? [];
    response.writeHead(content ? 200 : 404, { "Content-Type": type ?? "text/plain" }).end(content);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    /** How often the chat's server was asked under the request's X-Chat. */
    asked: (name) => chats.get(name) ?? 0,
    address: `http://127.0.0.1:${server.address().port}`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

export const noBrowser = !existsSync(process.env.TIDEMARK_CHROMIUM ?? "/usr/bin/chromium") && "no Chromium";

/** A browser. `run(NAME, …)` calls what browser_entry.mjs has under that name, on a fresh page of `address`. */
export async function openBrowser() {
  const browser = await launchBrowser();
  return {
    async withPage(address, use) {
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        // For a machine that has much else to do.
        page.setDefaultTimeout(120000);
        await page.goto(address);
        await page.waitForSelector("html[data-ready]");
        return await use(
          (name, ...parameters) => page.evaluate(([each, given]) => globalThis[each](...given), [name, parameters]),
          page,
        );
      } finally {
        await context.close();
      }
    },
    close: () => browser.close(),
  };
}
