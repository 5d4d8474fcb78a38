// What an SDK makes of an answer: what it returns or throws, how often it asks again by itself, and how long it waits.
import { whole } from "./answers.mjs";

const openaiClasses = {
  401: "AuthenticationError",
  403: "PermissionDeniedError",
  404: "NotFoundError",
  408: "APIError",
  409: "ConflictError",
  429: "RateLimitError",
};
const anthropicClasses = {
  ...openaiClasses,
  408: "RequestTimeoutError",
  503: "ServiceUnavailableError",
  504: "GatewayTimeoutError",
  529: "OverloadedError",
};

const finishes = {
  "openai-chat": { stop: "stop", length: "length" },
  "openai-responses": { stop: "completed", length: "incomplete", error: "failed" },
  "anthropic-messages": { stop: "end_turn", length: "max_tokens" },
};
const aiFinishes = { stop: "stop", length: "length", error: "error" };

const finishOf = (way, finish) => (way.sdk === "ai" ? aiFinishes : finishes[way.api])[finish];

function refusedError(way, error) {
  if (way.sdk === "ai") return { class: "APICallError", ...error };
  const classes = way.sdk === "openai" ? openaiClasses : anthropicClasses;
  return { class: classes[error.status] ?? "InternalServerError", ...error };
}

function brokenError(way, answer) {
  const { retryAfter, ...error } = answer.error(way.api);
  if (way.sdk !== "ai") return { class: "APIError", ...answer.error(way.api) };
  if (answer.text && way.api === "openai-responses") return { class: "Object", ...error, type: "response.failed" };
  if (answer.text || way.api === "anthropic-messages") return { class: "Object", ...error };
  // As long as it has handed out nothing it takes the event for a response, with a status of its own finding.
  return { class: "APICallError", status: 504, ...error };
}

/** What the SDK gives to its caller for one `answer`: text and finish, or an error, or both. */
export function given(way, answer) {
  switch (answer.kind) {
    case "whole":
    case "cut":
    case "reasoning":
      return { text: answer.text, finish: finishOf(way, answer.finish) };
    case "refused":
      return { text: "", error: refusedError(way, answer.error(way.api)) };
    case "broken": {
      // For this SDK it's an event like any other, and the answer is a response that has failed.
      if (way.sdk === "openai" && way.api === "openai-responses") {
        return { text: answer.text, finish: finishOf(way, "error"), told: answer.error(way.api) };
      }
      const error = brokenError(way, answer);
      return { text: answer.text, error, ...(error.class === "Object" && { finish: finishOf(way, "error") }) };
    }
  }
}

/** A wait of the SDK's own choice, with jitter. */
export const backoff = "backoff";

const isRetried = (status) => status === 408 || status === 409 || status === 429 || status >= 500;
const defaultRetries = 2;

/** `fault` is a row of the table; `times` names one of its cases; `retries` 0 or undefined, the SDK's default. */
export function expected(way, fault, times, retries = defaultRetries) {
  const waits = [];
  let upstream = 0;
  for (let requests = 1; ; ++requests) {
    const { answer, asked } = times === "once" && requests > 1 ? { answer: whole, asked: 1 } : fault[times];
    // The proxy asks once only for a client that says it has asked twice before; this SDK doesn't say.
    upstream += way.sdk !== "ai" && requests > 2 ? Math.min(asked, 1) : asked;
    const result = given(way, answer);
    const { error } = result;
    if (!isRetried(error?.status) || requests > retries) {
      if (way.sdk === "ai" && requests > 1 && error) result.error = { ...error, class: "RetryError" };
      return { ...result, requests, upstream, waits };
    }
    waits.push(error.retryAfter ? error.retryAfter * 1000 : way.sdk === "ai" ? 2000 * requests : backoff);
  }
}
