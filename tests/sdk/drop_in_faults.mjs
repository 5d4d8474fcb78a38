// The table of SDKs whose requests are made by createRecoveringFetch(), without a proxy: every fault of contract § 7
// but those of seams. The tests ask for it, and docs/faults.md shows it.
import { broken, passedOn, whole } from "./answers.mjs";
import { faults } from "./faults.mjs";

/** `maxRetries` in all tests, so that all that fails fails soon. */
export const maxRetries = 1;

// An answer is, besides `whole` and `passedOn` (a response that is no good, handed on as fetch would)
//   thrown     no response, and fetch's own error
//   failed     the text so far, which may be none, and a TidemarkError out of the body
//   event      the upstream's own error event, as it came
//   noStream   a 200 that is no event stream, handed on as fetch would; `cut`: with an error in its middle
//   endless    nothing, for as long as the caller waits
const thrown = { kind: "thrown", text: "" };
const failed = (code, text = "") => ({ kind: "failed", text, code });
const event = { ...broken("timeout"), kind: "event" };
const noStream = { kind: "noStream", text: "" };
const noStreamCut = { kind: "noStream", text: "", cut: true };
const endless = { kind: "endless", text: "" };

// `legs`: the requests made of one call, where the upstream fails at its first request and where it fails at all.
const repeated = (last) => ({ once: { answer: whole, legs: 2 }, always: { answer: last, legs: 1 + maxRetries } });
const atOnce = (answer) => ({ once: { answer, legs: 1 }, always: { answer, legs: 1 } });

const rows = {
  none: atOnce(whole),
  crlf: atOnce(whole),
  split: atOnce(whole),
  ...Object.fromEntries([401, 403, 404, 408, 409, 500].map((status) => [`status=${status}`, atOnce(passedOn(status))])),
  ...Object.fromEntries([429, 503, 504, 529].map((status) => [`status=${status}`, repeated(passedOn(status))])),
  "connect-reset": repeated(thrown),
  "reset-after=1": repeated(failed("network_error")),
  "reset-after=20": atOnce(failed("stream_interrupted", "cut")),
  "eof-after=0": repeated(failed("stream_interrupted")),
  "eof-after=1": repeated(failed("stream_interrupted")),
  "eof-after=20": atOnce(failed("stream_interrupted", "cut")),
  "stall-after=0": repeated(failed("heartbeat_timeout")),
  "stall-after=1": repeated(failed("heartbeat_timeout")),
  "stall-after=20": atOnce(failed("stream_interrupted", "cut")),
  empty: repeated(failed("stream_interrupted")),
  "preamble-only": repeated(failed("stream_interrupted")),
  "reasoning-only": atOnce(failed("stream_interrupted")),
  "error-event": atOnce(event),
  "challenge-json": atOnce(noStream),
  "challenge-html": atOnce(noStream),
  "challenge-html-cut": atOnce(noStreamCut),
  silence: repeated(failed("heartbeat_timeout")),
  "pings-only": atOnce(endless),
};

export const dropInFaults = faults.map(({ fault }) => ({ fault, ...rows[fault] }));
