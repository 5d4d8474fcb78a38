// The one error class of the package.

/** What is known of a failure. */
export interface TidemarkErrorFacts {
  /** HTTP status of the last response; undefined where there was none. */
  readonly status?: number | undefined;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfter?: number | undefined;
  /** Requests made. Default 0. */
  readonly attempts?: number | undefined;
  /** What led to it: what `fetch` threw, or the JSON body of the response that said no. */
  readonly cause?: unknown;
}

/**
 * How a stream failed for good: what could not be healed, or must not be. Misuse is a TypeError instead, at the call.
 * What led to it is its `cause`: what `fetch` threw, or the JSON body of the response that said no.
 */
export class TidemarkError extends Error {
  static {
    // Consoles print it; minifying would change it.
    Object.defineProperty(this, "name", { value: "TidemarkError" });
  }
  /** The same in minified scripts. */
  override readonly name = "TidemarkError";
  /**
   * For programs: `network_error`, `http_status`, `heartbeat_timeout`, `stream_interrupted`, `sequence_hole`,
   * `not_event_stream`, `resume_mismatch`, `seam_refused`, `event_too_large`, `engine_unavailable`, `stop_refused`, or what
   * the server named.
   */
  readonly code: string;
  /** HTTP status of the last response; undefined where there was none. */
  readonly status: number | undefined;
  /** Milliseconds that the server asked to wait; undefined where it did not. */
  readonly retryAfter: number | undefined;
  /** Requests made. */
  readonly attempts: number;

  constructor(code: string, message: string, facts: TidemarkErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.retryAfter = facts.retryAfter;
    this.attempts = facts.attempts ?? 0;
  }
}
