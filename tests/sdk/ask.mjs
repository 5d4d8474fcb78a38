// One question to one SDK, and what came of it, in the words of seen.mjs.
import { hurried } from "./clock.mjs";
import { described, failure } from "./described.mjs";
import { model, ways } from "./sdks.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

export const nameOf = ({ sdk, call }) => `${sdk} ${call}`;
export const apis = [...new Set(ways.map(({ api }) => api))];
export { ways };

/** More than any client asks for. */
export const always = (fault) => Array(12).fill(fault).join();
export const withRetries = undefined;
export const withoutRetries = 0;

let questions = 0;

/** Asks a proxy that is alone, with `simulate` as X-Simulate and `more` in its body; `retries` undefined: the SDK's default. */
export async function ask(stage, way, { simulate, retries, fresh, more }) {
  const question = (site) =>
    hurried(async () => {
      const heard = { text: "", requests: 0 };
      const counted = (...parameters) => {
        ++heard.requests;
        return fetch(...parameters);
      };
      // No two questions are the same, or the upstream would take one for a repetition of the other.
      const asking = {
        prompt: `question ${++questions}`,
        fetch: counted,
        headers: { "X-Simulate": simulate },
        retries,
        more,
      };
      try {
        await way.ask(site, asking, heard);
      } catch (error) {
        heard.error = error;
      }
      return heard;
    });
  const heard = await stage.alone(question, { fresh });
  const { error, told } = heard;
  return { ...heard, error: error && described(error), told: told && failure(told) };
}

/** So many events come before the first that has text. */
const preamble = { "openai-chat": 1, "openai-responses": 4, "anthropic-messages": 3 };

/** What the upstream says, asked without a proxy: its text, whole and up to an event, and its reasoning. */
export async function recorded(stage) {
  const deltas = async (fault) => {
    const response = await fetch(`${stage.upstream}/v1/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Simulate": fault },
      body: JSON.stringify({ model, stream: true, messages: [] }),
    });
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    return lines.map((line) => JSON.parse(line.slice(6)).choices[0].delta);
  };
  const pieces = (await deltas("none")).map((delta) => delta.content).filter(Boolean);
  return {
    whole: pieces.join(""),
    upTo: (count, api) => pieces.slice(0, count - preamble[api]).join(""),
    reasoning: (await deltas("reasoning-only")).map((delta) => delta.reasoning_content ?? "").join(""),
  };
}
