// What the SDKs wait for before they ask again, noted, and shortened to a hundredth.
import { AsyncLocalStorage } from "node:async_hooks";

const notes = new AsyncLocalStorage();
const unhurried = globalThis.setTimeout;

// Below are the SDKs' own small tasks, above their limits for a whole request.
const least = 300;
const most = 120000;

// fetch itself has timers too.
const isSdk = () => new Error().stack.split("\n")[3].includes("/node_modules/");

globalThis.setTimeout = Object.assign((callback, delay, ...parameters) => {
  const waits = notes.getStore();
  if (!waits || !(delay >= least && delay <= most) || !isSdk()) return unhurried(callback, delay, ...parameters);
  waits.push(delay);
  return unhurried(callback, delay / 100, ...parameters);
}, unhurried);

/** Runs `ask`; `waits` are the milliseconds that it has waited for, in order. */
export async function hurried(ask) {
  const waits = [];
  return { ...(await notes.run(waits, ask)), waits };
}
