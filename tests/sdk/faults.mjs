// The table: every fault of contract § 7 but those of seams, and what becomes of it. The tests ask for it, and
// docs/faults.md shows it.
import { broken, cut, cutAsError, cutAsLength, passedOn, reasoning, refused, whole } from "./answers.mjs";

// `once` and `always` are the answers to one request of a client, where the upstream fails at its first request and
// where it fails at all; `asked` says how many attempts the proxy makes of it. `stage` names one of faults.test.mjs.
// `fresh`: by way of a proxy that has no connection yet, since one that breaks before it has brought anything is no
// attempt where it was left over from an earlier request.
const repeated = (attempts, last) => ({ once: { answer: whole, asked: 2 }, always: { answer: last, asked: attempts } });
const atOnce = (answer) => ({ once: { answer, asked: 1 }, always: { answer, asked: 1 } });

export const faults = [
  { fault: "none", says: "Answers well.", ...atOnce(whole) },
  { fault: "crlf", says: "Answers well, lines ended by CRLF.", ...atOnce(whole) },
  { fault: "split", says: "Answers well, every byte its own write.", ...atOnce(whole) },
  { fault: "status=401", says: "The credential is refused.", ...atOnce(passedOn(401)) },
  { fault: "status=403", says: "The credential does not allow it.", ...atOnce(passedOn(403)) },
  { fault: "status=404", says: "There is no such model.", ...atOnce(passedOn(404)) },
  { fault: "status=408", says: "The request took too long.", ...repeated(3, passedOn(408)) },
  { fault: "status=409", says: "A conflict.", ...repeated(3, passedOn(409)) },
  { fault: "status=429", says: "Too many requests.", ...repeated(3, passedOn(429)) },
  { fault: "status=500", says: "It failed.", ...repeated(3, passedOn(500)) },
  { fault: "status=503", says: "Not available.", ...repeated(3, passedOn(503)) },
  { fault: "status=504", says: "Something behind it took too long.", ...repeated(3, passedOn(504)) },
  { fault: "status=529", says: "Overloaded.", ...repeated(3, passedOn(529)) },
  {
    fault: "connect-reset",
    says: "Reset before a byte of the response.",
    fresh: true,
    ...repeated(3, refused("unreachable")),
  },
  { fault: "reset-after=1", says: "Reset before content.", stage: "paced", ...repeated(2, refused("empty")) },
  { fault: "reset-after=20", says: "Reset in the middle of the answer.", stage: "paced", ...atOnce(cut) },
  { fault: "eof-after=0", says: "The head, and no event.", ...repeated(2, refused("empty")) },
  { fault: "eof-after=1", says: "The end before content.", ...repeated(2, refused("empty")) },
  { fault: "eof-after=20", says: "The end in the middle of the answer.", ...atOnce(cut) },
  { fault: "stall-after=0", says: "The head, and then nothing.", stage: "hasty", ...repeated(2, refused("timeout")) },
  {
    fault: "stall-after=1",
    says: "Nothing more before content, for longer than `commit_hold_ms`.",
    stage: "hasty",
    ...repeated(2, broken("timeout")),
  },
  { fault: "stall-after=20", says: "Nothing more in the middle of the answer.", stage: "hasty", ...atOnce(cut) },
  { fault: "empty", says: "An empty body.", ...repeated(2, refused("empty")) },
  { fault: "preamble-only", says: "All that comes before content, then the end.", ...repeated(2, refused("empty")) },
  { fault: "reasoning-only", says: "Reasoning, then the end.", ...atOnce(reasoning) },
  {
    fault: "error-event",
    says: "An error event instead of content.",
    ...repeated(2, refused("empty", { message: "The simulated model is overloaded." })),
  },
  { fault: "challenge-json", says: "A captcha as JSON.", ...atOnce(refused("challenge")) },
  { fault: "challenge-html", says: "A captcha page.", ...atOnce(refused("challenge")) },
  { fault: "challenge-html-cut", says: "A captcha page, cut in the middle.", ...atOnce(refused("challenge")) },
  { fault: "silence", says: "The head, and then nothing.", stage: "hasty", ...repeated(2, refused("timeout")) },
  { fault: "pings-only", says: "Keepalives for ever.", stage: "hasty", ...repeated(2, refused("timeout")) },
];

/** An answer that breaks off after text, by `truncated_finish`. */
export const truncations = [
  { finish: "stop", answer: cut },
  { finish: "length", answer: cutAsLength },
  { finish: "error", answer: cutAsError },
];

/** Of a proxy whose breaker is open, whatever the upstream would say. */
export const paused = { always: { answer: refused("paused"), asked: 0 } };

/** Of a proxy that has two keys: as it finds out that both are refused, and from then on. */
const bothKeys = (status) => {
  const answer = passedOn(status, { shouldRetry: "false" });
  return { fault: `status=${status}`, always: { answer, asked: 2 }, later: { answer, asked: 0 } };
};
export const refusedKeys = [bothKeys(401), bothKeys(403)];
