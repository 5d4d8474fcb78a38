// One answer read through the package, and judged event by event.

const { recoverStream } = await import(new URL("../../web/dist/index.js", import.meta.url));

// A reader that is told nothing for so long hangs: longer than any takeover, retry or time-out on the way, on a machine that is
// short of time.
const patienceMs = 150_000;

/**
 * Reads `url` to the end; `expected` is the answer's text. Resolves to { end, reason, attempts, stream, events, code, faults }: `code`
 * is the error's where there is one, `faults` are sentences, none of them where the text is the answer's to the character, or an honest end's beginning of it.
 */
export async function readAnswer(url, { expected, others = [], onEvent, ...options }) {
  const faults = [];
  const leaving = new AbortController();
  let last = performance.now();
  const watch = setInterval(() => {
    if (performance.now() - last < patienceMs) return;
    faults.push(`hangs: no event for ${patienceMs} ms, state ${answer.state}, at character ${at} of ${expected.length}`);
    leaving.abort();
  }, 1000);
  const answer = recoverStream(url, { ...options, signal: leaving.signal });
  let at = 0;
  let next = 0;
  let code;
  try {
    for await (const { seq, text } of answer) {
      last = performance.now();
      onEvent?.();
      if (seq !== next) faults.push(`event ${seq} comes where ${next} should`);
      next = seq + 1;
      const due = expected.slice(at, at + text.length);
      if (text !== due) faults.push(strange(text, due, at, others));
      at += text.length;
      if (faults.length > 0) break;
    }
    if (faults.length === 0) faults.push(...judgeEnd(answer, expected));
  } catch (error) {
    ({ code } = error);
    if (faults.length === 0) faults.push(`failed: ${code ?? error.name} ${error.status ?? ""} ${error.message}: ${error.cause?.cause?.message ?? error.cause?.message}`);
  } finally {
    clearInterval(watch);
  }
  return { end: answer.end, reason: answer.endReason, attempts: answer.attempts, stream: answer.stream, events: next, code, faults };
}

function judgeEnd({ text, end, endReason }, expected) {
  if (end === "complete" && text !== expected) return [`complete, but ${text.length} of ${expected.length} characters`];
  if (end === "truncated" && !endReason) return ["truncated without a reason"];
  if (end !== "complete" && end !== "truncated") return [`ended ${end}, ${endReason}`];
  return [];
}

function strange(text, due, at, others) {
  const owner = others.findIndex((other) => other.includes(text));
  const from = owner < 0 ? "of no answer" : `of answer ${owner}, there at ${others[owner].indexOf(text)}`;
  return `at character ${at} stands ${JSON.stringify(text)} (${from}) where ${JSON.stringify(due)} should`;
}
