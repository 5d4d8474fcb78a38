// A process of its own: a server that keeps its streams resumable by the npm package resumable-stream, as its README tells to.
//   POST /v1/…?stream=ID starts one, GET /streams/ID?skip=CHARACTERS goes on with it. The upstream is the first argument.
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { createResumableStreamContext } from "resumable-stream";

const [upstream] = process.argv.slice(2);
// process.env.REDIS_URL says where Redis is.
const context = createResumableStreamContext({ waitUntil: (promise) => void promise });

async function streamFor(method, url, body) {
  if (method === "GET") {
    return context.resumeExistingStream(url.pathname.slice("/streams/".length), Number(url.searchParams.get("skip")));
  }
  const response = await fetch(upstream + url.pathname, { method, body, headers: { "Content-Type": "application/json" } });
  return context.createNewResumableStream(url.searchParams.get("stream"), () => response.body.pipeThrough(new TextDecoderStream()));
}

const server = createServer(async (request, answer) => {
  try {
    const parts = [];
    for await (const part of request) parts.push(part);
    const stream = await streamFor(request.method, new URL(request.url, "http://h"), Buffer.concat(parts));
    if (!stream) {
      answer.writeHead(stream === null ? 422 : 404).end();
      return;
    }
    answer.writeHead(200, { "Content-Type": "text/event-stream" });
    answer.flushHeaders();
    const text = Readable.fromWeb(stream);
    answer.on("close", () => text.destroy());
    text.on("error", () => answer.destroy());
    text.pipe(answer);
  } catch (error) {
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(503).end(String(error.message));
  }
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log(`listening on http://127.0.0.1:${server.address().port}`);
