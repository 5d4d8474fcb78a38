// What can be set, what is allowed, and what is reported: contract § 8's table.
import type { EventAction, RetryAction, SeamAction, StreamState } from "../engine/actions.js";
import { aFunction, numberFrom, oneOf, type Rule } from "../checks.js";
import { dialects, resumeModes, type RecovererOptions } from "../engine/recoverer.js";

/** An event of the answer: each exactly once and in order, whatever happened underneath. */
export interface StreamEvent extends Omit<EventAction, "type"> {}
/** A new leg has been joined on. */
export interface Seam extends Omit<SeamAction, "type"> {}
/** A leg is lost, and another request will be made. */
export interface Retry extends Omit<RetryAction, "type"> {}

/** As the global one, whichever library declares it. */
export type FetchFunction = (
  input: Parameters<typeof globalThis.fetch>[0],
  init?: Parameters<typeof globalThis.fetch>[1],
) => ReturnType<typeof globalThis.fetch>;

/** What all forms take. A value that is not allowed, or an option that is not known, is a TypeError at the call. */
export interface RecoveryOptions extends Omit<RecovererOptions, "path" | "seed"> {
  /**
   * Default true: a POST is given an `Idempotency-Key`, so that making it again attaches to its answer. false: for a
   * server of another origin that does not allow this header; a request that is repeated is then a new one.
   */
  readonly sendIdempotencyKey?: boolean | undefined;
  /**
   * A request that asks for a stream is remembered by the tab for as long as its answer is not over. Made again (after a
   * reload or a crash: the same URL, body and headers), it gets the same answer, from its beginning, out of the
   * proxy's log; where that is gone it fails, and the next one asks anew. Without a sessionStorage nothing is remembered.
   */
  readonly persist?: "session" | undefined;
  /** What requests are made with, in place of the global `fetch`. */
  readonly fetch?: FetchFunction | undefined;
  /**
   * Told every new state. What a listener throws is reported as nobody's error (in Node an uncaught exception), and the
   * stream goes on.
   */
  readonly onState?: ((state: StreamState) => void) | undefined;
  /** Told how each further leg was joined on. */
  readonly onSeam?: ((seam: Seam) => void) | undefined;
  /** Told of each retry before it is waited for. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

export const recoveryRules: Readonly<Record<keyof RecoveryOptions, Rule>> = {
  maxRetries: numberFrom(0, true),
  firstRetryDelayMs: numberFrom(0),
  baseDelayMs: numberFrom(0),
  factor: numberFrom(1),
  jitterMs: numberFrom(0),
  maxDelayMs: numberFrom(0),
  heartbeatTimeoutMs: numberFrom(0),
  maxRetryAfterMs: numberFrom(0),
  maxEventBytes: numberFrom(1, true),
  dialect: oneOf("auto", ...dialects),
  resume: oneOf(...resumeModes),
  sendIdempotencyKey: oneOf(true, false),
  persist: oneOf("session"),
  fetch: aFunction,
  onState: aFunction,
  onSeam: aFunction,
  onRetry: aFunction,
};

/** What requests are made with. Like the global fetch it is a function, never called as a method of something. */
export const fetchOf =
  ({ fetch }: RecoveryOptions): FetchFunction =>
  (input, init) =>
    (fetch ?? globalThis.fetch)(input, init);
