// The dialects' cases against the WebAssembly build; the same function in Node and in a browser.

// In the order of the core's enum.
const dialects = ["openai-chat", "openai-responses", "anthropic-messages", "gemini", "seq-delta", "ai-sdk-ui", "opaque"];

function meaningOf(core, interpreter, { event = "", data }) {
  const [nameSize, dataSize] = core.input(event, data);
  core.exports.conformance_interpret(interpreter, nameSize, dataSize);
  const { words, take } = core.frame();
  const flags = words[2];
  const [kind, finish, text, reasoning, message, type, code] = Array.from(words.subarray(6, 13), take);
  const meaning = { kind };
  if (text !== "") meaning.text = text;
  if (reasoning !== "") meaning.reasoning = reasoning;
  if (words[1] !== 0) meaning.finish = finish;
  if (flags & 1) meaning.terminal = true;
  if (flags & 2) meaning.sequence = words[3] + words[4] * 2 ** 32;
  if (kind === "error" || kind === "challenge") {
    meaning.error = { message, retryable: (flags & 4) !== 0 };
    if (type !== "") meaning.error.type = type;
    if (code !== "") meaning.error.code = code;
    if (words[5] !== 0) meaning.error.status = words[5];
  }
  return meaning;
}

// The module reads answers and ends none: it knows only whether one is complete.
function isComplete(core, interpreter) {
  core.exports.conformance_at_eof(interpreter);
  const { words, take } = core.frame();
  return take(words[0]) === "complete";
}

// The order of an object's keys says nothing.
function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

/** Runs one dialect's file, with the interpreter's shortcut and without. Returns { cases, runs, skipped, failures }. */
export function runDialect({ dialect, cases }, core) {
  const failures = [];
  let runs = 0;
  for (const { name, events, eof } of cases) {
    for (const shortcut of [1, 0]) {
      ++runs;
      const interpreter = core.exports.conformance_interpreter_new(dialects.indexOf(dialect), shortcut);
      const check = (what, got, expected) => {
        if (canonical(got) === canonical(expected)) return;
        failures.push(`${dialect}: "${name}", ${what}: expected ${canonical(expected)}, got ${canonical(got)}`);
      };
      for (const event of events) check(event.data, meaningOf(core, interpreter, event), event.means);
      check("complete at EOF", isComplete(core, interpreter), eof === "complete");
      core.exports.conformance_interpreter_free(interpreter);
    }
  }
  return { cases: cases.length, runs, skipped: 0, failures };
}
