// The event-stream cases against the package's SseParser; the same function in Node and in a browser.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function bytesOf(value) {
  if (value === undefined) return new Uint8Array();
  if (typeof value === "string") return encoder.encode(value);
  if (Array.isArray(value)) return concat(value.map(bytesOf));
  if ("hex" in value) return Uint8Array.from(value.hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  if ("repeat" in value) {
    const part = bytesOf(value.repeat);
    const out = new Uint8Array(part.length * value.times);
    for (let i = 0; i < value.times; ++i) out.set(part, i * part.length);
    return out;
  }
  throw new Error(`unknown kind of bytes: ${JSON.stringify(value)}`);
}

function concat(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const textOf = (value) => decoder.decode(bytesOf(value));

/** Every way in which a case's input is cut, as lists of chunk ends. */
function* cuts(size) {
  yield [size];
  if (size > 4096) {
    for (const step of [2, 3, 7, 1400, 16384]) yield every(step, size);
    return;
  }
  yield every(1, size);
  for (let first = 0; first <= size; ++first) yield [first, size];
  if (size > 40) return;
  for (let first = 0; first <= size; ++first) {
    for (let second = first; second <= size; ++second) yield [first, second, size];
  }
}

function every(step, size) {
  const ends = [];
  for (let at = step; at < size; at += step) ends.push(at);
  return [...ends, size];
}

function trace(parser, input, ends) {
  const events = [];
  let error;
  let at = 0;
  try {
    for (const end of ends) {
      // A copy of its own: a parser that looks back at an old chunk would be found out.
      for (const { event, data, id } of parser.feed(input.slice(at, end))) events.push({ event, data, id });
      at = end;
    }
  } catch (caught) {
    error = caught.code;
  }
  return { events, error, retry: parser.retry, lastEventId: parser.lastEventId };
}

/**
 * Runs all cases. `SseParser` is the package's. Returns { cases, runs, skipped, failures }; a failure is a sentence.
 */
export async function runSse(cases, SseParser) {
  const failures = [];
  let run = 0;
  let runs = 0;
  const skipped = [];
  for (const testCase of cases) {
    // This parser has no bound of its own for lines, and drops an unfinished event as the specification says.
    const { limits = {}, tail = "discard" } = testCase;
    if (tail !== "discard" || limits.max_line_bytes !== undefined) {
      skipped.push(testCase.name);
      continue;
    }
    const input = bytesOf(testCase.input);
    const expected = JSON.stringify({
      events: testCase.trace
        .filter((entry) => "data" in entry)
        .map(({ event, data, id }) => ({ event: event && textOf(event), data: textOf(data), id: textOf(id) })),
      error: testCase.error === undefined ? undefined : "event_too_large",
      retry: testCase.retry,
      lastEventId: textOf(testCase.last_event_id),
    });
    ++run;
    for (const ends of cuts(input.length)) {
      const parser = await SseParser.create({ maxEventBytes: limits.max_event_bytes });
      const got = JSON.stringify(trace(parser, input, ends));
      parser.free();
      ++runs;
      if (got === expected) continue;
      const where = `sse: "${testCase.name}", chunks end at ${ends.slice(0, 10)}`;
      failures.push(`${where}: expected ${clip(expected)}, got ${clip(got)}`);
      break;
    }
  }
  return { cases: run, runs, skipped: skipped.length, failures };
}

const clip = (text) => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
