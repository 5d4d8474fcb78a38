// A server that is killed and comes back: the same command, the same folder, the same port.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { secondsOf } from "./processor_time.mjs";

/** Starts it; what it says goes to the end of `file`. Resolves when it listens on `port`. */
export async function openServer({ command, port, file }) {
  let child;
  let ending = false;
  let used = 0;
  const ownEnds = [];
  const isThere = () => child.exitCode === null && child.signalCode === null;

  function begin() {
    const output = openSync(file, "a");
    child = spawn(command[0], command.slice(1), { stdio: ["ignore", output, output] });
    closeSync(output);
    ending = false;
    child.once("exit", (code, signal) => ending || ownEnds.push(`${command[0]} ended by itself with ${code ?? signal}, see ${file}`));
  }
  async function listens() {
    while (!(await takesConnections(port))) {
      if (!isThere()) throw new Error(`${command[0]} is gone, see ${file}`);
      await setTimeout(5);
    }
  }
  async function end(signal) {
    if (!isThere()) return;
    used += secondsOf(child.pid);
    ending = true;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }
  begin();
  await listens();
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    begin,
    listens,
    end,
    /** Sentences about ends that nobody asked for. */
    ownEnds,
    async restart(signal, pauseMs = 0) {
      await end(signal);
      if (pauseMs > 0) await setTimeout(pauseMs);
      begin();
      await listens();
    },
    /** It stands still for so long. */
    async pause(ms) {
      child.kill("SIGSTOP");
      await setTimeout(ms);
      child.kill("SIGCONT");
    },
    /** Of all its processes. */
    processorSeconds: () => used + (isThere() ? secondsOf(child.pid) : 0),
  };
}

async function takesConnections(port) {
  const socket = connect({ host: "127.0.0.1", port });
  const there = await new Promise((resolve) => socket.once("connect", () => resolve(true)).once("error", () => resolve(false)));
  socket.destroy();
  return there;
}
