// Contract § 3.4: which text somebody has received, in 16 hex digits.
import { check } from "../checks.js";
import { loadEngine } from "../engine/engine.js";

/**
 * FNV-1a, 64 bits, over the UTF-8 bytes of the text's last 30 code points: 16 lower-case hex digits. Rejects with a
 * TypeError for what is no string, with a TidemarkError, `engine_unavailable`, where the WebAssembly module can't be had.
 */
export async function tailFingerprint(text: string): Promise<string> {
  check("tailFingerprint", "text", text, ["a string", (value) => typeof value === "string"]);
  return (await loadEngine()).tailFingerprint(text);
}
