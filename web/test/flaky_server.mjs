// A server of raw sockets that answers as a script says: one handler a request, in turn.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** A request as it came: { method, path, headers (names in lower case), body }. */
async function* requests(socket) {
  let buffer = Buffer.alloc(0);
  for await (const chunk of socket) {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf("\r\n\r\n");
      if (end < 0) break;
      const [first, ...lines] = buffer.subarray(0, end).toString("latin1").split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
      );
      // A chunked body is not taken apart.
      const chunked = headers["transfer-encoding"] === "chunked";
      if (chunked && !buffer.includes("0\r\n\r\n", end + 4)) break;
      const size = chunked ? buffer.indexOf("0\r\n\r\n", end + 4) + 5 - end - 4 : Number(headers["content-length"] ?? 0);
      if (buffer.length < end + 4 + size) break;
      const body = buffer.subarray(end + 4, end + 4 + size).toString();
      buffer = buffer.subarray(end + 4 + size);
      const [method, path] = first.split(" ");
      yield { method, path, headers, body };
    }
  }
}

/** What a handler does with the connection. */
class Answer {
  constructor(socket) {
    this.socket = socket;
    /** How many of the texts of pour() are on their way. */
    this.poured = 0;
  }
  head(status = 200, headers = {}) {
    const all = { "Content-Type": "text/event-stream", Connection: "close", ...headers };
    this.socket.write(
      `HTTP/1.1 ${status} Status\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
    );
    return this;
  }
  send(text) {
    this.socket.write(text);
    return this;
  }
  /** Each text once the network has taken those before it; ends with an error where the client leaves. */
  async pour(texts) {
    for (const text of texts) {
      if (!this.socket.write(text)) await once(this.socket, "drain");
      ++this.poured;
    }
    return this;
  }
  end() {
    this.socket.end();
  }
  /** Once what was written has gone out. */
  reset() {
    this.socket.write("", () => this.socket.resetAndDestroy());
  }
}

/**
 * Waits until `value()` has come to rest. Client and server share one event loop: whoever wanted to go on has had its
 * turns when so many connections of another client have come and gone.
 */
export async function atRest(url, value) {
  const { hostname, port } = new URL(url);
  for (let before; before !== value(); ) {
    before = value();
    for (let turn = 0; turn < 100; ++turn) {
      const other = connect(port, hostname);
      await once(other, "connect");
      other.destroy();
      await once(other, "close");
    }
  }
}

/** Starts it; a request beyond the script is answered 500 and counts as unexpected. */
export async function flakyServer(...script) {
  const seen = [];
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    void (async () => {
      try {
        for await (const request of requests(socket)) {
          seen.push(request);
          const answer = new Answer(socket);
          const handler = script[seen.length - 1];
          if (handler === undefined) answer.head(500).end();
          else await handler(answer, request);
        }
      } catch {
        // The client has gone.
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The events of an openai-chat answer, with `id:` lines where `epoch` is given. */
export function chatEvents(words, { epoch } = {}) {
  const data = [
    ...words.map((content, index) => ({ choices: [{ index: 0, delta: index === 0 ? { role: "assistant", content } : { content } }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ].map((chunk) => JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", ...chunk }));
  return [...data, "[DONE]"].map((line, seq) => `${epoch === undefined ? "" : `id: ${epoch}-${seq}\n`}data: ${line}\n\n`);
}

export const endComment = ": tidemark end=complete reason=terminal-marker\n\n";
