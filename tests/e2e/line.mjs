// A connection between browser and proxy that can be cut, or held.
import { connect, createServer } from "node:net";
import { once } from "node:events";

export async function listening(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/**
 * For a server that is to come back under its address: below those that Linux gives to connections, one of which could have
 * it by then.
 */
export async function freePort() {
  for (;;) {
    const port = 16384 + Math.floor(Math.random() * 16384);
    const server = createServer();
    const taken = await new Promise((resolve) => {
      server.on("error", () => resolve(true));
      server.listen(port, "127.0.0.1", () => resolve(false));
    });
    if (taken) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/**
 * A line to `target` that can be cut, or held: then nothing passes on what is open, and nobody is told. Either at once or when
 * so many more bytes have come from there: then the promise resolves.
 */
export async function openLine(target) {
  const { hostname: host, port } = new URL(target);
  // Each end with the one that it hands on to.
  const ends = new Map();
  let held = [];
  let left = Infinity;
  let then = () => {};
  const server = createServer((near) => {
    const far = connect({ host, port });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      ends.set(socket, other);
      socket.on("error", () => {});
      socket.on("close", () => (ends.delete(socket), other.destroy()));
      socket.pipe(other);
    }
    far.on("data", ({ length }) => {
      left -= length;
      if (left < 0) then();
    });
  });
  const cut = () => {
    left = Infinity;
    for (const socket of ends.keys()) socket.destroy();
  };
  const after = (size, what) => {
    left = size;
    return new Promise((resolve) => {
      then = () => {
        what();
        resolve();
      };
    });
  };
  const cutAfter = (size) => after(size, cut);
  const holdAfter = (size) => after(size, hold);
  const hold = () => {
    left = Infinity;
    held = [...ends.keys()];
    for (const socket of held) socket.unpipe().pause();
  };
  const go = () => {
    for (const socket of held) if (ends.has(socket)) socket.pipe(ends.get(socket));
    held = [];
  };
  return { address: await listening(server), cut, cutAfter, hold, holdAfter, go, close: () => (cut(), server.close()) };
}
