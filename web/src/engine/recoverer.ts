// The client leg's state machine: core/session/recoverer.hpp for JavaScript.
import type { Action } from "./actions.js";
import { FrameReader } from "./frame.js";
import type { Address, Core } from "./module.js";
import { retryAfter } from "./retry_after.js";

// In the order of the core's enums.
export const dialects = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "seq-delta",
  "ai-sdk-ui",
  "opaque",
] as const;
/**
 * What the events look like: `openai-chat`, `openai-responses`, `anthropic-messages`, `gemini`, `seq-delta`, `ai-sdk-ui`,
 * or `opaque`, where every event with data is content and the end of the body is its end.
 */
export type DialectName = (typeof dialects)[number];
export const resumeModes = ["auto", "tidemark", "seq", "last-event-id", "tail", "none"] as const;
/**
 * By what a lost leg is resumed. `tidemark`: the response named a stream. `seq`: `X-Resume-Seq` and fields of the body.
 * `last-event-id`: the header of that name. `tail`: by the text. `none`: not at all. `auto`: one of the first three.
 */
export type ResumeMode = (typeof resumeModes)[number];

/** Defaults as in the contract's § 8. What is allowed is checked before (client/options.ts). */
export interface RecovererOptions {
  /** Consecutive attempts without progress; progress fills it up again. Default 4. */
  readonly maxRetries?: number | undefined;
  /** The first retry after progress comes after 0 to this many milliseconds. Default 100. */
  readonly firstRetryDelayMs?: number | undefined;
  /**
   * Further retries come after min(base · factor^attempt + U(0, jitter), max) milliseconds; a Retry-After is a lower bound.
   * Default 1000.
   */
  readonly baseDelayMs?: number | undefined;
  /** See `baseDelayMs`; at least 1. Default 1.8. */
  readonly factor?: number | undefined;
  /** See `baseDelayMs`. Default 400. */
  readonly jitterMs?: number | undefined;
  /** See `baseDelayMs`. Default 8000. */
  readonly maxDelayMs?: number | undefined;
  /**
   * A leg without a byte for so many milliseconds is lost; 0: never. Not judged while the page is hidden. Default 20000.
   */
  readonly heartbeatTimeoutMs?: number | undefined;
  /** A Retry-After longer than so many milliseconds makes the error final. Default 10000. */
  readonly maxRetryAfterMs?: number | undefined;
  /** A larger event ends the stream: `event_too_large`. Default 4 MiB. */
  readonly maxEventBytes?: number | undefined;
  /** `auto`, the default, goes by the request's path where it tells, else by the first event. */
  readonly dialect?: DialectName | "auto" | undefined;
  /**
   * By what a lost leg is resumed; `auto`, the default: by what the response showed, and where it showed nothing only a
   * request that has brought no content is repeated. `tail`, never taken by itself: the request is made again, with
   * `X-Tail-Fingerprint` and the length of what was received, and what comes back is joined on by its text.
   */
  readonly resume?: ResumeMode | undefined;
  /** The request's path. */
  readonly path?: string | undefined;
  /** For the jitter; an integer of at most 53 bits. Drawn where absent. */
  readonly seed?: number | undefined;
}

function packOptions(core: Core, options: RecovererOptions): void {
  const { dialect = "auto", path, resume = "auto", seed = Math.floor(Math.random() * 2 ** 53) } = options;
  let dialectIndex = dialects.indexOf(dialect as DialectName);
  if (dialect === "auto" && path !== undefined) {
    dialectIndex = core.exports.tidemark_dialect_from_path(core.inputStrings([path])[0]!);
  }
  const values = [
    options.maxRetries ?? 4,
    options.firstRetryDelayMs ?? 100,
    options.baseDelayMs ?? 1000,
    options.factor ?? 1.8,
    options.jitterMs ?? 400,
    options.maxDelayMs ?? 8000,
    options.heartbeatTimeoutMs ?? 20000,
    options.maxRetryAfterMs ?? 10000,
    options.maxEventBytes ?? 4 << 20,
    dialectIndex,
    resumeModes.indexOf(resume),
    Math.floor(seed / 2 ** 32),
    seed >>> 0,
  ];
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
  readonly #handle: Address;

  constructor(core: Core, options: RecovererOptions = {}) {
    this.#core = core;
    packOptions(core, options);
    this.#handle = core.exports.tidemark_recoverer_new();
    this.#frame = new FrameReader(core, core.exports.tidemark_recoverer_frame(this.#handle));
  }

  /** When handleTimeout() is due, in `now`'s clock; Infinity where nothing is. Ask after every input. */
  get nextDeadline(): number {
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
    const sizes = this.#core.inputStrings(
      ["content-type", "tidemark-stream", "tidemark-epoch"].map((name) => headers.get(name) ?? ""),
    );
    this.#core.exports.tidemark_response(
      this.#handle,
      now,
      attempt,
      response.status,
      headers.get("x-should-retry") === "false" ? 1 : 0,
      retryAfter(headers, Date.now()),
      ...(sizes as [number, number, number]),
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

  /** Gives its memory back; nothing may be called afterwards, this neither. */
  free(): void {
    this.#core.exports.tidemark_recoverer_free(this.#handle);
  }

  #tell(what: Tell, now: number, attempt = 0, value = 0, chunk?: Uint8Array): readonly Action[] {
    this.#core.exports.tidemark_tell(this.#handle, what, now, attempt, value);
    return this.#frame.actions(chunk);
  }
}
