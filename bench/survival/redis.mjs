// A Redis server that is restarted with its data.
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../tests/e2e/line.mjs";
import { openServer } from "./server.mjs";

const run = promisify(execFile);

/** `persists`: what it is told is in a file before it is answered, as far as the kernel keeps it. */
export async function openRedis(folder, { persists = true } = {}) {
  const port = await freePort();
  const data = join(folder, "redis");
  mkdirSync(data);
  const command = ["redis-server", "--port", String(port), "--bind", "127.0.0.1", "--dir", data, "--save", "", "--appendonly", persists ? "yes" : "no"];
  const server = await openServer({ command, port, file: join(folder, "redis.log") });
  const ask = async (...words) => (await run("redis-cli", ["-p", String(port), ...words], { maxBuffer: 1 << 26 })).stdout;
  return {
    ...server,
    url: `redis://127.0.0.1:${port}`,
    ask,
    /** The fields of INFO's sections. */
    async info(...sections) {
      const lines = (await ask("INFO", ...sections)).split("\r\n").filter((line) => line.includes(":"));
      return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
    },
  };
}
