// Servers as processes of their own: where the program is, and how one is started and ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const program = process.env.TIDEMARK_PROGRAM ?? join(root, "build/release/tidemark");

/** Starts a server; `address` is the first that it prints, as in "… listening on ADDRESS". */
export async function start(command, ...parameters) {
  const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const said = new Promise((resolve) => {
    lines.on("line", (line) => {
      const [address] = line.match(/https?:\/\/\S+/) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  const address = await Promise.race([
    said,
    once(child, "exit").then(([code]) => Promise.reject(new Error(`${command} ${parameters[0]} ended with ${code}`))),
  ]);
  return {
    address,
    pid: child.pid,
    stop: () => end(child, "SIGTERM"),
    kill: () => end(child, "SIGKILL"),
  };
}

async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
