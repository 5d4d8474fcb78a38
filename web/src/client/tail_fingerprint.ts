// The fingerprint of a text that a page has received.
import { check } from "../checks.js";
import { loadCore } from "../engine/module.js";
import { fingerprintOf } from "../engine/tail_fingerprint.js";

/**
 * FNV-1a, 64 bits, over the UTF-8 bytes of the text's last 30 code points: 16 lower-case hex digits. Rejects with a
 * TypeError for what is no string, with a TidemarkError, `engine_unavailable`, where the WebAssembly module can't be had.
 */
export async function tailFingerprint(text: string): Promise<string> {
  check("tailFingerprint", "text", text, ["a string", (value) => typeof value === "string"]);
  return fingerprintOf(await loadCore(), text);
}
