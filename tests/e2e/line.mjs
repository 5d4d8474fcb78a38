// A connection between browser and proxy that can be cut, or go dead.
import { connect, createServer } from "node:net";
import { once } from "node:events";

export async function listening(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** A line to `target` that can be cut, or go dead. */
export async function openLine(target) {
  const { hostname: host, port } = new URL(target);
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect({ host, port });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => (sockets.delete(socket), other.destroy()));
      socket.pipe(other);
    }
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  // Nothing passes any more on what is open, and nobody is told.
  const hold = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { address: await listening(server), cut, hold, close: () => (cut(), server.close()) };
}
