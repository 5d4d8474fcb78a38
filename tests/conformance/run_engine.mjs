// The binding of the client leg (web/src/engine) against expectations: every split of a stream gives the same events, and
// a cut is healed through the module as it is in the native tests.
import { copyFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const latin1 = (bytes) => String.fromCharCode(...bytes);
const bytesOf = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** Bundles the binding into build/, beside the module. */
async function builtEngine() {
  const require = createRequire(new URL("web/package.json", root));
  const directory = new URL("build/engine-test/", root);
  await mkdir(directory, { recursive: true });
  await require("esbuild").build({
    entryPoints: ["module", "recoverer", "tail_fingerprint", "retry_after"].map((name) => fileURLToPath(new URL(`web/src/engine/${name}.ts`, root))),
    outdir: fileURLToPath(directory),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  await copyFile(new URL("build/wasm/tidemark_core.wasm", root), new URL("tidemark_core.wasm", directory));
  const [{ loadCore }, { Recoverer }, { fingerprintOf }, { retryAfter }] = await Promise.all(
    ["module", "recoverer", "tail_fingerprint", "retry_after"].map((name) => import(new URL(`${name}.mjs`, directory).href)),
  );
  const core = await loadCore();
  const engine = {
    createRecoverer: (options) => new Recoverer(core, options),
    tailFingerprint: (text) => fingerprintOf(core, text),
  };
  return { engine, retryAfter };
}

const eventStream = { status: 200, headers: new Headers({ "content-type": "text/event-stream" }) };

// Latin-1 strings stand for bytes. `bytes` is what another reader must get.
const utf8 = (text) => latin1(encoder.encode(text));
const mixed = [
  { block: "data: one\n", close: "\n", name: undefined, data: "one" },
  { block: `event: n\u00e9\r\ndata: ${utf8("系统😀")}\r\n`, close: "\r\n", name: "n\ufffd", data: "系统😀" },
  { block: "data: a\rdata: b\r", close: "\r", name: undefined, data: "a\nb" },
  { block: "id: 7\nevent: e\ndata\n", close: "\n", name: "e", data: undefined },
  { block: ": comment\ndata: bad \u00ff\u00e7 end\n", close: "\n", name: undefined, data: "bad \ufffd\ufffd end" },
  { block: "data: lf closed by crlf\n", close: "\r\n", closing: "\n", name: undefined, data: "lf closed by crlf" },
  { block: `data: ${"long ".repeat(300)}\n`, close: "\n", name: undefined, data: "long ".repeat(300) },
];

function checkSplits(engine, failures) {
  const stream = bytesOf(mixed.map(({ block, close }) => block + close).join(""));
  // An event with empty data is no event of an opaque stream.
  const expected = mixed
    .filter(({ data }) => data !== undefined)
    .map(({ block, close, closing = close, name, data }) => ({ name, data, bytes: block + closing }));
  const wanted = JSON.stringify(expected);
  let runs = 0;
  const run = (ends) => {
    ++runs;
    const recoverer = engine.createRecoverer({ dialect: "opaque", resume: "none", seed: 1 });
    recoverer.start(0);
    recoverer.handleResponse(1, 1, eventStream);
    const events = [];
    let at = 0;
    for (const end of ends) {
      events.push(...recoverer.handleBytes(2, 1, stream.slice(at, end)).filter(({ type }) => type === "event"));
      at = end;
    }
    // Read after the fact: what an event refers to must not be what the next call writes over.
    const got = JSON.stringify(events.map(({ name, data, bytes }) => ({ name, data, bytes: latin1(bytes) })));
    recoverer.free();
    if (got === wanted || failures.length >= 5) return;
    failures.push(`engine: chunks end at ${ends.slice(0, 5)}: ${got.slice(0, 600)}`);
  };
  for (let at = 0; at <= stream.length; ++at) run([at, stream.length]);
  run(Array.from(stream, (_, i) => i + 1));
  return runs;
}

function checkRecovery(engine, failures) {
  const check = (what, got, expected) => {
    const [a, b] = [JSON.stringify(got), JSON.stringify(expected)];
    if (a !== b) failures.push(`engine: ${what}: expected ${b}, got ${a}`);
  };
  const delta = (seq, text) => encoder.encode(`data: ${JSON.stringify({ seq, delta: text })}\n\n`);
  const recoverer = engine.createRecoverer({ seed: 7, path: "/v1/seq" });
  check("start", recoverer.start(1000), [
    { type: "state", state: "handshaking" },
    { type: "connect", attempt: 1, headers: {} },
  ]);
  check("deadline of the head", recoverer.nextDeadline, 21000);
  check("response", recoverer.handleResponse(1010, 1, eventStream), [{ type: "state", state: "streaming" }]);
  const texts = (actions) =>
    actions.filter(({ type }) => type === "event").map(({ seq, kind, text }) => [seq, kind, text]);
  check("first", texts(recoverer.handleBytes(1020, 1, delta(0, "Hé"))), [[0, "text", "Hé"]]);
  check("second", texts(recoverer.handleBytes(1021, 1, delta(1, "\u{1F600}"))), [[1, "text", "\u{1F600}"]]);
  const lost = recoverer.handleFailure(1030, 1, "TypeError: Load failed");
  check("lost", lost.map(({ type, state, cause }) => [type, state ?? cause]), [
    ["state", "compensating"],
    ["retry", "network_error"],
  ]);
  check("quick", lost[1].delayMs < 100 && recoverer.nextDeadline === 1030 + lost[1].delayMs, true);
  check("resume", recoverer.handleTimeout(recoverer.nextDeadline), [
    {
      type: "connect",
      attempt: 2,
      headers: { "X-Resume-Seq": "1" },
      bodyFields: { resumeSeq: 1, receivedLength: 4, tailFingerprint: engine.tailFingerprint("Hé\u{1F600}") },
    },
  ]);
  check("merging", recoverer.handleResponse(1200, 2, eventStream), [{ type: "state", state: "merging" }]);
  check("duplicate", recoverer.handleBytes(1201, 2, delta(1, "\u{1F600}")), []);
  const joined = recoverer.handleBytes(1202, 2, delta(2, "!"));
  check("seam", joined.slice(0, 2), [
    { type: "seam", attempt: 2, afterSeq: 1, duplicates: 1, kind: "resumed", trimmed: 0 },
    { type: "state", state: "streaming" },
  ]);
  check("joined", texts(joined), [[2, "text", "!"]]);
  recoverer.handleBytes(1203, 2, encoder.encode('data: {"seq":3,"done":true}\n\n'));
  check("end", recoverer.handleEnd(1204, 2), [
    { type: "state", state: "finalized" },
    { type: "finished", end: "complete", reason: "terminal-marker" },
  ]);
  check("nothing is due", recoverer.nextDeadline, Infinity);
  recoverer.free();

  const refused = engine.createRecoverer({ seed: 1 });
  refused.start(0);
  const headers = new Headers({ "content-type": "application/json", "retry-after": "30" });
  check("too long a wait", refused.handleResponse(5, 1, { status: 429, headers }), [
    { type: "state", state: "finalized" },
    {
      type: "failed",
      code: "http_status",
      message: "the server answered",
      status: 429,
      retryAfterMs: 30000,
      attempts: 1,
      inBand: false,
    },
  ]);
  refused.free();

  check("fingerprints", [engine.tailFingerprint(""), engine.tailFingerprint("abc")], [
    "cbf29ce484222325",
    "e71fa2190541574b",
  ]);
  return 1;
}

// Dates are the platform's to read: what is no date, or one that only RFC 9110 tells from another.
const platformDates = /^no date:|^no 29 February|leap second|50 years ahead$/;

function checkRetryAfter(retryAfter, cases, failures) {
  const kept = cases.filter(({ name }) => !platformDates.test(name));
  for (const { name, retry_after = null, retry_after_ms = null, now = 1796014800000, wait } of kept) {
    const given = { "retry-after": retry_after, "retry-after-ms": retry_after_ms };
    const got = retryAfter({ get: (header) => given[header] }, now);
    if (!Object.is(got, wait ?? NaN)) failures.push(`engine/retry_after: "${name}": expected ${wait}, got ${got}`);
  }
  return kept.length;
}

/** `retryAfterCases`: of seam/retry_after.json. Returns { cases, runs, skipped, failures }. */
export async function runEngine(retryAfterCases) {
  const { engine, retryAfter } = await builtEngine();
  const failures = [];
  const read = checkRetryAfter(retryAfter, retryAfterCases, failures);
  const runs = checkSplits(engine, failures) + checkRecovery(engine, failures) + read;
  return { cases: 2 + retryAfterCases.length, runs, skipped: retryAfterCases.length - read, failures };
}
