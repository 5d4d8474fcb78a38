// The one error class of the package.

export interface TidemarkErrorFacts {
  /** HTTP status of the last response; undefined where there was none. */
  readonly status?: number | undefined;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfter?: number | undefined;
  /** Requests made. */
  readonly attempts?: number | undefined;
  readonly cause?: unknown;
}

export class TidemarkError extends Error {
  static {
    // Consoles print it; minifying would change it.
    Object.defineProperty(this, "name", { value: "TidemarkError" });
  }
  override readonly name = "TidemarkError";
  /** Machine-readable, e.g. `network_error`, `http_status`, `stream_interrupted`, `resume_mismatch`, `seam_refused`, `event_too_large`. */
  readonly code: string;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;
  readonly attempts: number;

  constructor(code: string, message: string, facts: TidemarkErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.retryAfter = facts.retryAfter;
    this.attempts = facts.attempts ?? 0;
  }
}
