// Many simulated upstreams behind one address that counts.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { secondsOf } from "./processor_time.mjs";
import { program, start } from "../../tests/e2e/start.mjs";

/** `recordings`: one simulated upstream for each, an event every `interval` ms. */
export async function openUpstream(recordings, interval) {
  const simulators = await Promise.all(
    recordings.map(({ file }) => start(program, "simulate", "--listen", "127.0.0.1:0", "--recording", file, "--interval", String(interval))),
  );
  const router = fork(fileURLToPath(new URL("router.mjs", import.meta.url)), simulators.map(({ address }) => new URL(address).port));
  const [{ port }] = await once(router, "message");
  return {
    address: `http://127.0.0.1:${port}`,
    processorSeconds: () => [router, ...simulators].reduce((sum, { pid }) => sum + secondsOf(pid), 0),
    /** All requests, by stream: [{ from, to, status, whole }]. */
    async requests() {
      router.send("tell");
      const [noted] = await once(router, "message");
      const byStream = new Map();
      for (const each of noted) byStream.set(each.stream, [...(byStream.get(each.stream) ?? []), each]);
      return byStream;
    },
    async close() {
      router.kill();
      await Promise.all(simulators.map((simulator) => simulator.stop()));
    },
  };
}
