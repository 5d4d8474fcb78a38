// What the proxy answers (contract § 4), apart from any SDK.

/** The row of § 4.2's table for `cause`, in the API's own words. */
const causes = {
  challenge: {
    status: 503,
    type: "upstream_unavailable",
    code: "upstream_challenge",
    retryAfter: 30,
    message: "verification challenge",
  },
  paused: { status: 503, type: "upstream_unavailable", code: "upstream_paused", retryAfter: 59, message: "paused" },
  empty: { status: 502, type: "upstream_error", code: "upstream_empty", retryAfter: 1, message: "" },
  timeout: {
    status: 504,
    type: "upstream_error",
    code: "upstream_timeout",
    retryAfter: 1,
    message: "sent nothing in time",
  },
  unreachable: {
    status: 502,
    type: "upstream_error",
    code: "upstream_unreachable",
    retryAfter: 1,
    message: "the connection to the upstream was lost",
  },
};
const anthropicTypes = { 502: "api_error", 503: "overloaded_error", 504: "timeout_error" };

function ownError(cause, api) {
  const { code, ...error } = causes[cause];
  if (api !== "anthropic-messages") return { ...error, code };
  return { ...error, status: error.status === 503 ? 529 : error.status, type: anthropicTypes[error.status] };
}

/** The simulated upstream's own error, passed on. */
function upstreamError(status, api) {
  const message = `The simulated upstream answers with status ${status}.`;
  return api === "anthropic-messages"
    ? { status, type: "api_error", message }
    : { status, type: "server_error", code: "simulated_status", message };
}

/** An error as an event of the API has it: without a status, and not always with a type. */
function inEvent({ status, type, code, ...error }, api) {
  if (api === "anthropic-messages") return { type, ...error };
  return api === "openai-responses" ? { code, ...error } : { type, code, ...error };
}

const truncated = (api) => ({
  type: api === "anthropic-messages" ? "api_error" : "upstream_error",
  code: "upstream_truncated",
  message: "broke off",
});

// An answer is one of
//   whole      all of the text
//   cut        the text so far, and the API's own ending
//   reasoning  the reasoning, which was all there was, as text
//   refused    a status other than 200, with `error(api)` for a body
//   broken     200, the text so far, which may be none, and `error(api)` as the API's error event
// An error's `message` is a part of it.
export const whole = { kind: "whole", text: "whole", finish: "stop" };
export const cut = { kind: "cut", text: "cut", finish: "stop" };
export const cutAsLength = { ...cut, finish: "length" };
export const cutAsError = { kind: "broken", text: "cut", error: (api) => inEvent(truncated(api), api) };
export const reasoning = { kind: "reasoning", text: "reasoning", finish: "stop" };
export const refused = (cause, says = {}) => ({
  kind: "refused",
  error: (api) => ({ ...ownError(cause, api), ...says }),
});
export const passedOn = (status, says = {}) => ({
  kind: "refused",
  error: (api) => ({ ...upstreamError(status, api), ...says }),
});
export const broken = (cause) => ({ kind: "broken", text: "", error: (api) => inEvent(ownError(cause, api), api) });
