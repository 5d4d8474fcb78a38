// The cases of seams and retries against the WebAssembly build; the same function in Node and in a browser.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as README.md has them written. */
function bytesOf(value) {
  if (typeof value === "string") return encoder.encode(value);
  if (Array.isArray(value)) return Uint8Array.from(value.flatMap((part) => [...bytesOf(part)]));
  if ("hex" in value) return Uint8Array.from(value.hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  return bytesOf(Array(value.times).fill(value.repeat));
}

const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

function seamOf(core, { delivered, continuer = "same-generation", overlap_min = 12, events }) {
  const model = { "same-generation": 0, model: 1 }[continuer];
  const trimmer = core.exports.conformance_trimmer_new(...core.input(bytesOf(delivered)), model, overlap_min);
  let dropped = -1;
  let released;
  events.forEach((event, index) => {
    const trim = core.exports.conformance_trimmer_offer(trimmer, ...core.input(bytesOf(event)));
    if (trim < 0 || released !== undefined) return;
    dropped = trim;
    released = index + 1;
  });
  if (released === undefined) dropped = core.exports.conformance_trimmer_finish(trimmer);
  core.exports.conformance_trimmer_free(trimmer);
  return { dropped: hexOf(bytesOf(events).subarray(0, dropped)), released };
}

function joined(core, { delivered, continuer = "model", overlap_min = 12, stripped = 0, events }) {
  const before = bytesOf(delivered);
  const kind = { "same-generation": 0, model: 1, echo: 2 }[continuer];
  const joiner = core.exports.conformance_joiner_new(...core.input(before), kind, overlap_min, stripped);
  let text = [...before];
  let held = [];
  let refused = null;
  const take = (step) => {
    if (step === 1) held = [];
    if (step === 2) text = [...text, ...held.slice(core.exports.conformance_joiner_trim(joiner))];
    if (step === 2) held = [];
    if (step === 3) {
      core.exports.conformance_joiner_why(joiner);
      const { words, take: takeText } = core.frame();
      refused = takeText(words[0]);
    }
    return step;
  };
  let step = 0;
  for (const event of events) {
    const bytes = bytesOf(event);
    held = [...held, ...bytes];
    step = take(core.exports.conformance_joiner_offer(joiner, ...core.input(bytes)));
    if (step === 3) break;
  }
  if (step < 2) take(core.exports.conformance_joiner_finish(joiner));
  core.exports.conformance_joiner_free(joiner);
  return { text: hexOf(text), refused };
}

const orNull = (number, none) => (number === none ? null : number);

// For each file, what the core makes of a case and what it should.
const runners = {
  overlap: (core, item) => [seamOf(core, item), { dropped: hexOf(bytesOf(item.dropped)), released: item.released }],
  joiner: (core, item) => [
    joined(core, item),
    { text: hexOf(bytesOf(item.refused ? item.delivered : item.text)), refused: item.refused ?? null },
  ],
  weight: (core, { text, weight }) => [core.exports.conformance_weight(...core.input(text)), weight],
  backoff: (core, { base_ms, factor, jitter_ms, max_ms, delays }) => [
    delays.map(({ attempt, unit }) =>
      core.exports.conformance_backoff(base_ms, factor, jitter_ms, max_ms, attempt, unit),
    ),
    delays.map(({ ms }) => ms),
  ],
  retry_after: (core, { retry_after = "", retry_after_ms = "", now = 1796014800000, wait }) => [
    orNull(core.exports.conformance_retry_after(...core.input(retry_after, retry_after_ms), now), -1),
    wait,
  ],
  watermark: (core, { text, watermark }) => [
    orNull(core.exports.conformance_watermark(...core.input(text)), -2),
    watermark,
  ],
};

/** Runs one file's cases (`name`: the file's, without its ending). Returns { cases, runs, skipped, failures }. */
export function runSeam(name, { cases }, core) {
  const failures = [];
  for (const item of cases) {
    const [got, expected] = runners[name](core, item).map((value) => JSON.stringify(value));
    if (got !== expected) failures.push(`seam/${name}: "${item.name}": expected ${expected}, got ${got}`);
  }
  return { cases: cases.length, runs: cases.length, skipped: 0, failures };
}

/** The fingerprint cases against the package's tailFingerprint, which takes a string: ill-formed bytes are not for it. */
export async function runFingerprints({ cases }, tailFingerprint) {
  const failures = [];
  const runnable = cases.filter(({ text }) => !JSON.stringify(text).includes('"hex"'));
  for (const item of runnable) {
    const text = decoder.decode(bytesOf(item.text));
    const got = await tailFingerprint(text);
    const where = `seam/fingerprint: "${item.name}"`;
    if (got !== item.fingerprint) failures.push(`${where}: expected ${item.fingerprint}, got ${got}`);
    if (text.length !== item.length) failures.push(`${where}: length is ${text.length}`);
  }
  return { cases: runnable.length, runs: runnable.length, skipped: cases.length - runnable.length, failures };
}
