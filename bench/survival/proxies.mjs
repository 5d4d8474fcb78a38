// Proxies that are killed and come back, one configuration a file.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../tests/e2e/line.mjs";
import { program } from "../../tests/e2e/start.mjs";
import { openServer } from "./server.mjs";

/** `name` is that of its configuration and of its own log in `folder`; `config` is beside `listen` what the file says. */
export async function openProxy(folder, name, config, level = "warning") {
  const port = await freePort();
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ listen: `127.0.0.1:${port}`, ...config }));
  return openServer({ command: [program, "serve", "--config", file, "--log-level", level], port, file: join(folder, `${name}.log`) });
}
