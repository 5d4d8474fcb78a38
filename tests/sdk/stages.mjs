// The proxies that the faults' table is asked by way of, by the name that a row gives.
import { recorded } from "./ask.mjs";
import { openStage } from "./stage.mjs";

const stages = {
  patient: { proxies: 8 },
  // Gives up what is silent for long, and shows it to its client before.
  hasty: {
    proxies: 16,
    config: { stream_first_byte_timeout_ms: 500, stream_idle_timeout_ms: 500, commit_hold_ms: 150 },
  },
  // Of an upstream that takes its time, since a reset overtakes what was said just before.
  paced: { proxies: 8, interval: 20 },
};

/** All of them, each with what its upstream `says`. `proxies` and `config`: for each, in place of, and besides, its own. */
export async function openStages({ proxies, config } = {}) {
  const open = {};
  await Promise.all(
    Object.entries(stages).map(async ([name, options]) => {
      open[name] = await openStage({
        ...options,
        proxies: proxies ?? options.proxies,
        config: { ...options.config, ...config },
      });
      open[name].says = await recorded(open[name]);
    }),
  );
  return {
    of: (row) => open[row.stage ?? "patient"],
    close: () => Promise.all(Object.values(open).map((stage) => stage.close())),
  };
}

/** What the texts' names stand for, of an upstream that `says` so. */
export function texts({ whole, reasoning, upTo }, fault, api) {
  const count = Number(fault.split("=")[1]);
  // A reset may overtake some of what was said.
  const some = (text) => text !== "" && upTo(count, api).startsWith(text);
  return { whole, reasoning, cut: fault.startsWith("reset") ? some : upTo(count, api) };
}
