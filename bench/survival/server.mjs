// A server that is killed and comes back: the same command, the same folder, the same port.
import { closeSync, openSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { secondsOf } from "./processor_time.mjs";

/** Starts it; what it says goes to the end of `file`. Resolves when it listens on `port`. */
export async function openServer({ command, port, file }) {
  let child;
  let ending = false;
  let used = 0;
  const ownEnds = [];
  const begin = async () => {
    const output = openSync(file, "a");
    child = spawn(command[0], command.slice(1), { stdio: ["ignore", output, output] });
    closeSync(output);
    ending = false;
    child.once("exit", (code, signal) => ending || ownEnds.push(`${file}: ended by itself with ${code ?? signal}`));
    const failed = once(child, "exit").then(([code, signal]) => Promise.reject(new Error(`${command[0]} ended with ${code ?? signal}, see ${file}`)));
    failed.catch(() => {});
    await Promise.race([failed, listensOn(port)]);
  };
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    used += secondsOf(child.pid);
    ending = true;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  await begin();
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    end,
    /** Sentences about ends that nobody asked for. */
    ownEnds,
    /** Resolves to the milliseconds until it listens again. */
    async restart(signal, pauseMs = 0) {
      const at = performance.now();
      await end(signal);
      if (pauseMs > 0) await setTimeout(pauseMs);
      await begin();
      return performance.now() - at;
    },
    /** Of all its processes. */
    processorSeconds: () => used + (child.exitCode === null && child.signalCode === null ? secondsOf(child.pid) : 0),
  };
}

async function listensOn(port) {
  for (;;) {
    const socket = connect({ host: "127.0.0.1", port });
    const there = await new Promise((resolve) => socket.once("connect", () => resolve(true)).once("error", () => resolve(false)));
    socket.destroy();
    if (there) return;
    await setTimeout(5);
  }
}
