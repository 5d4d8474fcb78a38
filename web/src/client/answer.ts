// recoverStream(): an answer to iterate, whole whatever happens underneath.
import type { EndState, StreamState } from "../engine/actions.js";
import { TidemarkError } from "../engine/error.js";
import { aPayload, check, checkOptions, oneOf, payloadText, type Rule } from "../checks.js";
import { resolveUrl } from "./address.js";
import { keptAnswer } from "./kept_answer.js";
import { fetchOf, recoveryRules, type FetchFunction, type RecoveryOptions, type StreamEvent } from "./options.js";
import { errorOf } from "./refusal.js";
import { ensureIdempotencyKey, RequestTemplate } from "./request_template.js";
import { StreamDriver, type Failure } from "./stream_driver.js";

/** Of recoverStream(). */
export interface RecoverStreamOptions extends RecoveryOptions {
  /** An object or an array is sent as JSON, a string as it is. Default: none. */
  readonly body?: object | string | undefined;
  /** The request's. Where they lack it, `Content-Type` is JSON and `Accept` an event stream. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  /** Default: POST with a body, GET without. */
  readonly method?: string | undefined;
  /** As `fetch` has it. */
  readonly credentials?: "omit" | "same-origin" | "include" | undefined;
  /** Aborting it is a disconnect: the server may go on, and the same key attaches again. */
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Iterate it once. Leaving the loop is a disconnect. The iterator throws a TidemarkError where the answer fails, and the
 * signal's reason where that aborts it.
 */
export interface RecoveredAnswer extends AsyncIterable<StreamEvent> {
  /** The answer's text so far. */
  readonly text: string;
  /** The model's reasoning so far. */
  readonly reasoning: string;
  /** Where it is. */
  readonly state: StreamState;
  /**
   * Its name at the proxy; undefined: none that is known. Another tab of the same user follows it by
   * `recoverStream("/tidemark/streams/" + stream)`, wherever the proxy is.
   */
  readonly stream: string | undefined;
  /** How it ended; undefined before that, and after a disconnect. */
  readonly end: EndState | undefined;
  /** Why it ended so: contract § 3.3's words, or the error's code. */
  readonly endReason: string | undefined;
  /** Requests made. */
  readonly attempts: number;
  /**
   * Ends the answer for everybody: the server is told to cut the upstream. Resolves when it has answered; rejects with a
   * TidemarkError, `stop_refused` or `network_error`, where it could not be told.
   */
  stop(): Promise<void>;
}

const takenByFetch = (name: "headers" | "signal", allowed: string): Rule => [
  allowed,
  (value) => {
    try {
      return Boolean(new Request("http://h", { [name]: value }));
    } catch {
      return false;
    }
  },
];

/** What is allowed where a request is made once for all its answers. */
export const requestRules: Readonly<Record<Exclude<keyof RecoverStreamOptions, "body">, Rule>> = {
  headers: takenByFetch("headers", "what the constructor of Headers takes"),
  method: [
    "GET, POST, PUT, PATCH, DELETE",
    (value) => typeof value === "string" && /^(get|post|put|patch|delete)$/i.test(value),
  ],
  credentials: oneOf("omit", "same-origin", "include"),
  signal: takenByFetch("signal", "an AbortSignal"),
  ...recoveryRules,
};

/**
 * An answer to iterate, whole whatever happens underneath. Sends the request at once. Throws a TypeError for a URL or an
 * option that is not allowed.
 */
export function recoverStream(url: string | URL, options: RecoverStreamOptions = {}): RecoveredAnswer {
  return new Answer(url, options, "recoverStream");
}

// So many events wait for the reader before the network does.
const maxWaitingEvents = 256;

export class Answer implements RecoveredAnswer {
  readonly #template: RequestTemplate;
  readonly #driver: StreamDriver;
  readonly #fetch: FetchFunction;
  readonly #signal: AbortSignal | undefined;
  text = "";
  reasoning = "";
  end: EndState | undefined;
  endReason: string | undefined;
  stream: string | undefined;

  // Events not yet taken. Once #ended, none is added.
  #waiting: StreamEvent[] = [];
  #ended = false;
  /** Thrown to the reader after the last event. */
  error: unknown;
  // Wakes the reader; there while it waits.
  #arrived: (() => void) | undefined;
  // Lets the network go on; there while it waits.
  #taken: (() => void) | undefined;
  #iterated = false;

  constructor(url: string | URL, options: RecoverStreamOptions, where: string) {
    checkOptions(where, options, { body: aPayload, ...requestRules });
    const { body, headers: given, method = body === undefined ? "GET" : "POST", credentials, signal, ...recovery } = options;
    const headers = new Headers(given);
    const verb = method.toUpperCase();
    if (body !== undefined) {
      check(where, "method", method, ["with a body: POST and the like", () => verb !== "GET"]);
      if (!headers.has("Content-Type")) headers.set("Content-Type", "application/json");
    }
    if (!headers.has("Accept")) headers.set("Accept", "text/event-stream");
    const whole = resolveUrl(where, url);
    this.#template = new RequestTemplate(
      whole.href,
      whole,
      { method: verb, credentials } as RequestInit,
      headers,
      payloadText(body),
    );
    const kept = keptAnswer(recovery, this.#template);
    if (verb === "POST" && recovery.sendIdempotencyKey !== false) ensureIdempotencyKey(headers, kept?.found?.[0]);
    this.#fetch = fetchOf(recovery);
    this.#signal = signal ?? undefined;
    this.#driver = new StreamDriver(this.#template, recovery, {
      opened: (response) => {
        this.stream = response.headers.get("Tidemark-Stream") ?? undefined;
      },
      event: (event) => {
        this.text += event.text;
        this.reasoning += event.reasoning;
        this.#waiting.push(event);
      },
      flushed: () => this.#arrived?.(),
      finished: (end, reason) => {
        this.end = end;
        this.endReason = reason;
        this.#close(undefined);
      },
      failed: (failure) => void this.#fail(failure),
      roomForMore: () =>
        this.#waiting.length < maxWaitingEvents ? undefined : new Promise((resolve) => (this.#taken = resolve)),
    }, kept);
    // Until the response says otherwise: the server may know the key already.
    this.stream = headers.get("Idempotency-Key") ?? kept?.found?.[0];
    if (signal?.aborted) {
      this.#driver.abort();
      this.#close(signal.reason);
      return;
    }
    signal?.addEventListener("abort", this.#onAbort);
    this.#driver.start();
  }

  get state(): StreamState {
    return this.#driver.state;
  }
  get attempts(): number {
    return this.#driver.attempts;
  }

  async stop(): Promise<void> {
    // One that was left may still be going on.
    if (this.end) return;
    const { stream } = this;
    this.#driver.stop();
    if (stream === undefined) return;
    const headers = new Headers(this.#template.headers);
    headers.delete("Idempotency-Key");
    const response = await this.#fetch(this.#template.streamUrl(stream), {
      ...this.#template.settings,
      method: "DELETE",
      headers,
      // The page may be on its way out.
      keepalive: true,
    }).catch((cause: unknown) => {
      throw new TidemarkError("network_error", "the server could not be told to stop", { cause });
    });
    await response.body?.cancel();
    // 404: it had not begun, or is over and forgotten.
    if (!response.ok && response.status !== 404) {
      throw new TidemarkError("stop_refused", `the server answered ${response.status} when told to stop`, {
        status: response.status,
      });
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
    if (this.#iterated) throw new TypeError("an answer can be iterated once");
    this.#iterated = true;
    return this.#iterate();
  }

  /** Leaves; the reader, where one waits, is given `reason` as an error. */
  disconnect(reason?: unknown): void {
    this.#waiting = [];
    if (this.#ended) return;
    this.#driver.abort();
    this.#close(reason);
  }

  async *#iterate(): AsyncGenerator<StreamEvent, void, undefined> {
    try {
      for (;;) {
        for (let event; (event = this.#waiting.shift()); ) {
          yield event;
          // All may have come by now, but not all has been read.
          this.#signal?.throwIfAborted();
        }
        this.#taken?.();
        this.#taken = undefined;
        if (this.#ended) break;
        await new Promise<void>((resolve) => (this.#arrived = resolve));
        this.#arrived = undefined;
      }
      if (this.error !== undefined) throw this.error;
    } finally {
      this.disconnect();
    }
  }

  readonly #onAbort = () => this.disconnect(this.#signal?.reason);

  async #fail(failure: Failure): Promise<void> {
    this.end = "failed";
    const error = await errorOf(failure);
    this.endReason = error.code;
    this.#close(error);
  }

  #close(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.error = error;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#taken?.();
    this.#arrived?.();
  }
}
