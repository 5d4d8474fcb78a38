// The client leg's state machine: core/session/recoverer.hpp for JavaScript.
import type { Action, StreamState } from "./actions.js";
import { FrameReader } from "./frame.js";
import type { Address, Core } from "./module.js";

export type DialectName =
  | "openai-chat"
  | "openai-responses"
  | "anthropic-messages"
  | "gemini"
  | "seq-delta"
  | "ai-sdk-ui"
  | "opaque";
export type ResumeMode = "auto" | "tidemark" | "seq" | "last-event-id" | "none";

// In the order of the core's enums.
const dialects: readonly DialectName[] = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "seq-delta",
  "ai-sdk-ui",
  "opaque",
];
const resumeModes: readonly ResumeMode[] = ["auto", "tidemark", "seq", "last-event-id", "none"];

/** Defaults as in the contract's § 8. */
export interface RecovererOptions {
  readonly maxRetries?: number | undefined;
  readonly firstRetryDelayMs?: number | undefined;
  readonly baseDelayMs?: number | undefined;
  readonly factor?: number | undefined;
  readonly jitterMs?: number | undefined;
  readonly maxDelayMs?: number | undefined;
  readonly heartbeatTimeoutMs?: number | undefined;
  readonly maxRetryAfterMs?: number | undefined;
  readonly maxEventBytes?: number | undefined;
  /** `auto` goes by `path` where it tells, else by the first event. */
  readonly dialect?: DialectName | "auto" | undefined;
  /** The request's path. */
  readonly path?: string | undefined;
  readonly resume?: ResumeMode | undefined;
  /** For the jitter; an integer of at most 53 bits. Drawn where absent. */
  readonly seed?: number | undefined;
}

const numberOptions = [
  ["maxRetries", 4],
  ["firstRetryDelayMs", 100],
  ["baseDelayMs", 1000],
  ["factor", 1.8],
  ["jitterMs", 400],
  ["maxDelayMs", 8000],
  ["heartbeatTimeoutMs", 20000],
  ["maxRetryAfterMs", 10000],
  ["maxEventBytes", 4 << 20],
] as const;

const largest = 2 ** 31;

function indexOf<T extends string>(names: readonly T[], name: string, option: string): number {
  const index = names.indexOf(name as T);
  if (index < 0) throw new RangeError(`${option} is "${name}"; allowed: ${names.join(", ")}`);
  return index;
}

function packOptions(core: Core, options: RecovererOptions): void {
  const values: number[] = numberOptions.map(([name, fallback]) => {
    const value = options[name] ?? fallback;
    if (!(value >= 0 && value <= largest)) throw new RangeError(`${name} is ${value}; allowed: 0 to ${largest}`);
    return value;
  });
  const { dialect = "auto", path, resume = "auto", seed = Math.floor(Math.random() * 2 ** 53) } = options;
  let dialectIndex = -1;
  if (dialect !== "auto") {
    dialectIndex = indexOf(dialects, dialect, "dialect");
  } else if (path !== undefined) {
    dialectIndex = core.exports.tidemark_dialect_from_path(core.inputStrings([path])[0]!);
  }
  values.push(dialectIndex, indexOf(resumeModes, resume, "resume"), Math.floor(seed / 2 ** 32), seed >>> 0);
  core.input(new Uint8Array(new Float64Array(values).buffer));
}

// As wasm/bindings.cpp has it.
const enum Tell {
  Start,
  Bytes,
  End,
  Failure,
  Timeout,
  Wake,
  Hidden,
  Abort,
  Stop,
}

/**
 * Every input returns the actions that it led to; carry them out in order. `now` is in milliseconds of a clock that never
 * runs backwards (`performance.now()`). Inputs about a leg name its attempt: those about a leg that has been given up are
 * ignored, as is everything after `finished` or `failed`.
 *
 * Two points on bodies: a response whose handling led to `failed` without a `disconnect` is the owner's, body and all
 * (to be returned, or read for its error); and events refer to the chunk that they came in, which must not be written to.
 */
export class Recoverer {
  readonly #core: Core;
  readonly #frame: FrameReader;
  #handle: Address;

  constructor(core: Core, options: RecovererOptions = {}) {
    this.#core = core;
    packOptions(core, options);
    this.#handle = core.exports.tidemark_recoverer_new();
    this.#frame = new FrameReader(core, core.exports.tidemark_recoverer_frame(this.#handle));
    forgotten.register(this, { core, handle: this.#handle }, this);
  }

  get state(): StreamState {
    this.#live();
    return this.#frame.state;
  }
  /** Requests made so far. */
  get attempts(): number {
    this.#live();
    return this.#frame.attempts;
  }
  /** When handleTimeout() is due, in `now`'s clock; Infinity where nothing is. Ask after every input. */
  get nextDeadline(): number {
    this.#live();
    return this.#frame.number;
  }

  start(now: number): readonly Action[] {
    return this.#tell(Tell.Start, now);
  }

  /** For every response, whatever its status. */
  handleResponse(
    now: number,
    attempt: number,
    response: { readonly status: number; readonly headers: Pick<Headers, "get"> },
  ): readonly Action[] {
    const { headers } = response;
    const handle = this.#live();
    const sizes = this.#core.inputStrings(
      ["content-type", "retry-after", "retry-after-ms", "tidemark-stream", "tidemark-epoch"].map(
        (name) => headers.get(name) ?? "",
      ),
    );
    this.#core.exports.tidemark_response(
      handle,
      now,
      attempt,
      response.status,
      headers.get("x-should-retry") === "false" ? 1 : 0,
      Date.now(),
      ...(sizes as [number, number, number, number, number]),
    );
    return this.#frame.actions();
  }

  /** One network chunk. */
  handleBytes(now: number, attempt: number, chunk: Uint8Array): readonly Action[] {
    return this.#tell(Tell.Bytes, now, attempt, this.#core.input(chunk), chunk);
  }

  handleEnd(now: number, attempt: number): readonly Action[] {
    return this.#tell(Tell.End, now, attempt);
  }

  /** A network error, `TypeError: Load failed`, an abort that the page did not ask for. */
  handleFailure(now: number, attempt: number, message: string): readonly Action[] {
    return this.#tell(Tell.Failure, now, attempt, this.#core.inputStrings([message])[0]!);
  }

  handleTimeout(now: number): readonly Action[] {
    return this.#tell(Tell.Timeout, now);
  }

  /** `online`, `visibilitychange` to visible, `pageshow`: sends a waiting retry off, and never disturbs a healthy leg. */
  wake(now: number): readonly Action[] {
    return this.#tell(Tell.Wake, now);
  }

  setHidden(now: number, hidden: boolean): readonly Action[] {
    return this.#tell(Tell.Hidden, now, 0, hidden ? 1 : 0);
  }

  /** The page leaves: a disconnect where a leg is open, and no `finished`. */
  abort(now: number): readonly Action[] {
    return this.#tell(Tell.Abort, now);
  }

  /** The page has stopped the answer: `finished` with `stopped`. */
  stop(now: number): readonly Action[] {
    return this.#tell(Tell.Stop, now);
  }

  /** Gives its memory back; nothing else may be called afterwards. Doing it again changes nothing. */
  free(): void {
    if (this.#handle === 0) return;
    forgotten.unregister(this);
    this.#core.exports.tidemark_recoverer_free(this.#handle);
    this.#handle = 0;
  }

  #tell(what: Tell, now: number, attempt = 0, value = 0, chunk?: Uint8Array): readonly Action[] {
    this.#core.exports.tidemark_tell(this.#live(), what, now, attempt, value);
    return this.#frame.actions(chunk);
  }

  #live(): Address {
    if (this.#handle === 0) throw new Error("this recoverer has been freed");
    return this.#handle;
  }
}

// For owners that forget to free(): the module's memory is not the garbage collector's.
const forgotten = new FinalizationRegistry(({ core, handle }: { core: Core; handle: Address }) => {
  core.exports.tidemark_recoverer_free(handle);
});
