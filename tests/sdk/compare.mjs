// An observation against what seen.mjs expects of it.
import assert from "node:assert/strict";
import { backoff } from "./seen.mjs";

/** `texts` are what the names of texts stand for; a function says whether it's one. */
export function check(seen, wanted, texts) {
  const { error, told, accumulated } = seen;
  const text =
    typeof texts[wanted.text] === "function" ? texts[wanted.text](seen.text) : seen.text === (texts[wanted.text] ?? "");
  assert.deepEqual(
    {
      text: text ? wanted.text : seen.text,
      finish: seen.finish,
      told: told ? worded(told, wanted.told) : undefined,
      error: error && worded(error, wanted.error),
      requests: seen.requests,
      upstream: seen.upstream,
      waits: seen.waits.map((wait, i) => (wanted.waits[i] === backoff ? backoff : wait)),
    },
    { finish: undefined, told: undefined, error: undefined, ...wanted },
  );
  if (accumulated !== undefined && !told) assert.equal(accumulated, seen.text);
}

/** A message needs to hold the words, and maybe more. */
function worded({ message, ...rest }, wanted) {
  return { ...rest, message: wanted && message.includes(wanted.message) ? wanted.message : message };
}

/** Checks all at once; the test's message names those that fail. */
export async function checkAll(cases, run, name) {
  const failures = await Promise.all(
    cases.map(async (one) => {
      try {
        await run(one);
      } catch (error) {
        return `${name(one)}: ${error.message}`;
      }
    }),
  );
  const failed = failures.filter(Boolean);
  assert.equal(failed.length, 0, failed.join("\n"));
}
