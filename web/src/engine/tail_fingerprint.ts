// Contract § 3.4: which text somebody has received.
import type { Core } from "./module.js";

/** 16 lower-case hex digits. */
export function fingerprintOf(core: Core, text: string): string {
  const size = core.inputStrings([text])[0]!;
  const half = (upper: number) => (core.exports.tidemark_tail_fingerprint(size, upper) >>> 0).toString(16).padStart(8, "0");
  return half(1) + half(0);
}
