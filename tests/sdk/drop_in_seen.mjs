// What an SDK makes of an answer that createRecoveringFetch() gave it, and an observation against it.
import assert from "node:assert/strict";
import { whole } from "./answers.mjs";
import { maxRetries } from "./drop_in_faults.mjs";
import { given } from "./seen.mjs";

const bases = { openai: "OpenAIError", "@anthropic-ai/sdk": "AnthropicError" };
const isHelper = ({ call }) => call.endsWith(".stream");

// An error of the body comes out as it is, or as the cause of the SDK's own.
function bodyError(way, error) {
  const tidemark = error.class === "TidemarkError" ? error.code : undefined;
  if (way.sdk === "ai") return { class: "APICallError", status: 200, tidemark };
  return isHelper(way) ? { class: bases[way.sdk], tidemark } : error;
}

function eventError(way) {
  if (way.api === "anthropic-messages")
    return { class: way.sdk === "ai" ? "Object" : "APIError", code: "overloaded_error" };
  if (way.sdk === "openai") return { class: "APIError", code: "server_error" };
  return way.api === "openai-chat"
    ? { class: "APICallError", status: 500, code: "server_error" }
    : { class: "Object", code: "server_error" };
}

function noStreamError(way) {
  if (way.sdk !== "ai") return isHelper(way) ? { class: bases[way.sdk] } : undefined;
  return way.api === "anthropic-messages" ? { class: "NoOutputGeneratedError" } : undefined;
}

/** Its text's name, and its error. */
export function seenOf(way, answer) {
  const { kind, text, code, cut } = answer;
  switch (kind) {
    case "failed":
      return { text, error: bodyError(way, { class: "TidemarkError", status: 200, code }) };
    case "thrown":
      return { text, error: { class: way.sdk === "ai" ? "APICallError" : "APIConnectionError" } };
    case "noStream":
      return { text, error: cut ? bodyError(way, { class: "TypeError" }) : noStreamError(way) };
    case "endless":
      return { text };
    case "event":
      return way.sdk === "openai" && way.api === "openai-responses"
        ? { text, told: "server_error" }
        : { text, error: eventError(way) };
    default: {
      const { error, told, ...rest } = given(way, answer);
      return { ...rest, error, told: told?.code };
    }
  }
}

// Of what the proxy says in the end, these are taken for a moment's trouble, unless they are to take longer.
const passing = [429, 502, 503, 504, 529];

/** The requests that are made of one call behind the proxy, where that is its answer. */
export function legsBehindProxy({ kind, error }, api) {
  const { status, retryAfter = 0 } = kind === "refused" ? error(api) : {};
  return passing.includes(status) && retryAfter <= 10 ? 1 + maxRetries : 1;
}

/** What is the same however often the line was lost. */
export const heardOf = ({ text, finish, accumulated, error, told }) => ({ text, finish, accumulated, error, told });

/**
 * What is to be expected after all: a reset may overtake all that was said before it, on a busy machine. Then nothing has
 * come, and the request is made again.
 */
export function overtaken(fault, seen, expected) {
  if (fault !== "reset-after=20" || seen.legs !== 1 + maxRetries) return expected;
  const { answer } = expected;
  const nothing = seen.error && seen.text === "" ? { ...answer, code: "network_error", text: "" } : answer;
  return { answer: seen.error ? nothing : whole, legs: seen.legs };
}

const comparable = ({ class: name, status, code, type, tidemark }) => ({
  class: name,
  status,
  code: code ?? type,
  tidemark,
});

/** `texts` are what the names of texts stand for. */
export function checkDropIn(seen, way, answer, legs, texts) {
  const wanted = seenOf(way, answer);
  const named = texts[wanted.text] ?? "";
  const isSaid = typeof named === "function" ? named(seen.text) : seen.text === named;
  assert.deepEqual(
    {
      text: isSaid ? wanted.text : seen.text,
      // What it is where nothing ended the answer is the SDK's own affair.
      ...(wanted.finish && { finish: seen.finish }),
      told: seen.told?.code,
      ...(answer.kind !== "endless" && { error: seen.error && comparable(seen.error) }),
      requests: seen.requests,
      legs: seen.legs,
    },
    {
      text: wanted.text,
      ...(wanted.finish && { finish: wanted.finish }),
      told: wanted.told,
      ...(answer.kind !== "endless" && { error: wanted.error && comparable(wanted.error) }),
      requests: 1,
      legs,
    },
  );
  if (answer.kind === "whole" && seen.accumulated !== undefined) assert.equal(seen.accumulated, seen.text);
}
