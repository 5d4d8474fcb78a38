// Contract § 3.4: which text somebody has received, in 16 hex digits.
import { check } from "../checks.js";
import { loadEngine } from "../engine/engine.js";

export async function tailFingerprint(text: string): Promise<string> {
  check("tailFingerprint", "text", text, ["a string", (value) => typeof value === "string"]);
  return (await loadEngine()).tailFingerprint(text);
}
