// What can go wrong, and over which way a question goes.

/** @typedef {"proxy" | "upstream"} Base  Which of the page's two servers is asked. */

/** `body` makes the request's body out of the question. */
export const routes = {
  "proxy-chat": {
    label: "through the proxy, OpenAI chat",
    base: "proxy",
    path: "/v1/chat/completions",
    body: (question) => ({ model: "simulated", stream: true, messages: [{ role: "user", content: question }] }),
  },
  "proxy-messages": {
    label: "through the proxy, Anthropic messages",
    base: "proxy",
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: (question) => ({ model: "simulated", max_tokens: 1024, stream: true, messages: [{ role: "user", content: question }] }),
  },
  "proxy-responses": {
    label: "through the proxy, OpenAI responses",
    base: "proxy",
    path: "/v1/responses",
    body: (question) => ({ model: "simulated", stream: true, input: question }),
  },
  "proxy-seq": {
    label: "through the proxy, numbered deltas",
    base: "proxy",
    path: "/v1/seq",
    body: (question) => ({ stream: true, prompt: question }),
  },
  "direct-seq": {
    label: "straight to the model server",
    base: "upstream",
    path: "/v1/seq",
    body: (question) => ({ stream: true, prompt: question }),
  },
};

const before = "Before the answer";
const within = "In the middle of it";
const manner = "In its manners";
const hopeless = "What no retry helps";

/** `value` goes out as X-Simulate; `route` is one on which an answer is possible. */
export const faults = [
  { group: manner, value: "none", label: "nothing", route: "proxy-chat" },
  { group: manner, value: "crlf", label: "lines end in CRLF", route: "proxy-chat" },
  { group: manner, value: "split", label: "every byte comes alone", route: "proxy-chat" },
  { group: before, value: "status=504", label: "504, the gateway gives up", route: "proxy-chat" },
  { group: before, value: "connect-reset", label: "the connection is refused", route: "proxy-chat" },
  { group: before, value: "empty", label: "200, then nothing at all", route: "proxy-chat" },
  { group: before, value: "preamble-only", label: "a beginning, and no answer", route: "proxy-chat" },
  { group: before, value: "error-event", label: "an error in place of an answer", route: "proxy-chat" },
  { group: before, value: "silence", label: "200, then silence", route: "proxy-chat" },
  { group: before, value: "pings-only", label: "keepalives for ever", route: "proxy-chat" },
  { group: within, value: "reset-after=40", label: "a reset", route: "direct-seq" },
  { group: within, value: "eof-after=40", label: "an end that is none", route: "direct-seq" },
  { group: within, value: "stall-after=40", label: "the line goes dead", route: "direct-seq" },
  {
    group: within,
    value: "status=504,reset-after=40,stall-after=30",
    label: "a 504, a reset and a dead line",
    route: "direct-seq",
  },
  {
    group: within,
    value: "reset-after=60,overlap=20",
    label: "a reset behind the proxy: the model goes on",
    route: "proxy-chat",
  },
  { group: hopeless, value: "reasoning-only", label: "thoughts, and no answer", route: "proxy-chat" },
  { group: hopeless, value: "challenge-json", label: "a challenge in JSON", route: "proxy-chat" },
  { group: hopeless, value: "challenge-html", label: "a captcha page", route: "proxy-chat" },
  { group: hopeless, value: "challenge-html-cut", label: "half a captcha page", route: "proxy-chat" },
];
