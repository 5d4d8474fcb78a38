// Answers that differ in every word, so that a character of another one, or from another place, is seen wherever it lands.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomFrom } from "./random.mjs";

const words = "tide ebb moon harbour 潮汐 月 réflexion 海 salt 🌊 Küste shoal прилив buoy 灯台 neap spring wharf 👩‍🚀 surge".split(" ");

/** Writes `count` recordings of openai-chat with `tokens` pieces of text each; gives their files and texts. */
export function writeRecordings(folder, count, tokens, seed) {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, answer) => {
    const pieces = Array.from({ length: tokens }, (_, at) => ` ${words[Math.floor(random() * words.length)]}${answer}.${at}`);
    const chunk = (delta, finish_reason = null) => ({
      id: `chatcmpl-${answer}`,
      object: "chat.completion.chunk",
      created: 1,
      model: "recorded",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const events = [chunk({ role: "assistant", content: "" }), ...pieces.map((content) => chunk({ content })), chunk({}, "stop")];
    const file = join(folder, `answer-${answer}.jsonl`);
    writeFileSync(file, [...events.map((event) => JSON.stringify(event)), "[DONE]", ""].join("\n"));
    return { file, text: pieces.join("") };
  });
}
