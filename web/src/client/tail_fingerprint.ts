// Contract § 3.4: which text somebody has received, in 16 hex digits.
import { loadEngine } from "../engine/engine.js";

export async function tailFingerprint(text: string): Promise<string> {
  if (typeof text !== "string") throw new TypeError(`tailFingerprint: text is ${typeof text}; allowed: a string`);
  return (await loadEngine()).tailFingerprint(text);
}
