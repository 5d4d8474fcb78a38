// A line to a server, that fails on cue. It carries bytes both ways, and all it knows of HTTP is where a POST begins.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/**
 * `cuts` are taken in turn, one a POST; those after them are carried whole. `after`: so many bytes of the response, its
 * head among them, come through. `how`: `reset`, `end`, or `stall`, silence for as long as the connection is open.
 */
export async function openLine(target, cuts = []) {
  const { hostname, port } = new URL(target);
  let left = [...cuts];
  const sockets = new Set();
  const line = { posts: 0 };

  const server = createServer((near) => {
    const far = connect(port, hostname);
    let cut;
    let carried = 0;
    const close = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", close);
      socket.on("close", () => {
        sockets.delete(socket);
        close();
      });
    }
    near.on("data", (bytes) => {
      if (bytes.subarray(0, 5).toString("latin1") === "POST ") {
        ++line.posts;
        carried = 0;
        cut = left.shift();
      }
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      const room = cut === undefined ? Infinity : cut.after - carried;
      carried += bytes.length;
      if (bytes.length <= room) return void near.write(bytes);
      if (room < 0) return;
      const finish = { reset: () => near.resetAndDestroy(), end: () => near.end(), stall: () => {} }[cut.how];
      near.write(bytes.subarray(0, room), finish);
    });
    far.on("end", () => cut?.how !== "stall" && near.end());
    near.on("end", () => far.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  return Object.assign(line, {
    address: `http://127.0.0.1:${server.address().port}`,
    /** The cuts to come, in place of those that were left. */
    cut(plan) {
      left = [...plan];
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
}

/** Every way to lose a line, at the places that differ: before the head, in it, before content, in it, in an event. */
export const cutPlans = [
  ...[0, 100, 700, 1500, 3001].flatMap((after) => ["reset", "end"].map((how) => [{ after, how }])),
  [{ after: 0, how: "stall" }],
  [{ after: 1500, how: "stall" }],
  [0, 1500, 100, 1800].map((after) => ({ after, how: "reset" })),
];
export const planName = (plan) => plan.map(({ after, how }) => `${how} after ${after} bytes`).join(", then ");
