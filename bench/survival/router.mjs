// A process of its own: one address for many simulated upstreams, each with its own answer, which notes what is asked.
// A request's path is /STREAM/v1/…; stream N is answered by upstream N modulo their number. On any message it tells all requests
// so far: of which stream, from when to when (ms since 1970; without `to` it is still open), and whether the answer was whole.
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";

const ports = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true });
const noted = [];

const server = createServer((asked, answer) => {
  const [, stream, path] = asked.url.match(/^\/(\d+)(\/.*)$/);
  const note = { stream: Number(stream), from: Date.now() };
  noted.push(note);
  const port = ports[note.stream % ports.length];
  const passed = request({ host: "127.0.0.1", port, path, method: asked.method, headers: asked.headers, agent }, (response) => {
    note.status = response.statusCode;
    answer.writeHead(response.statusCode, response.headers);
    response.pipe(answer);
    response.on("error", () => answer.destroy());
  });
  passed.on("error", ({ message }) => {
    note.error = message;
    answer.destroy();
  });
  asked.pipe(passed);
  answer.on("close", () => {
    note.to = Date.now();
    note.whole = answer.writableFinished;
    passed.destroy();
  });
  answer.on("error", () => {});
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.on("message", () => process.send(noted));
process.on("disconnect", () => process.exit());
process.send({ port: server.address().port });
