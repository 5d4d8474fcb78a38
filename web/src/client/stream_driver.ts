// Carries out the recoverer's orders: requests, timers, the page's signals. One driver, one answer.
import type { Action, ConnectAction, EndState, FailedAction, StreamState } from "../engine/actions.js";
import { TidemarkError } from "../engine/error.js";
import { loadCore, type Core } from "../engine/module.js";
import { Recoverer } from "../engine/recoverer.js";
import { crossOriginHint } from "./address.js";
import type { KeptAnswer, Note } from "./kept_answer.js";
import { fetchOf, type FetchFunction, type RecoveryOptions, type StreamEvent } from "./options.js";
import { isOffline, watchPage } from "./page_signals.js";
import type { RequestTemplate } from "./request_template.js";
import { tell } from "./tell.js";

/** How the stream failed, with what was left over. */
export interface Failure {
  readonly error: TidemarkError;
  /** The last response, its body unread, where that was the failure. */
  readonly response: Response | undefined;
  /** What fetch threw, where that was the failure. */
  readonly thrown: unknown;
  /** An event of the stream said so, and has been delivered. */
  readonly inBand: boolean;
}

/** The driver's owner. After finished() or failed(), or its own abort(), it hears nothing more. */
export interface DriverOwner {
  /** The head of a response that is an event stream; for every leg. */
  opened?(response: Response): void;
  event(event: StreamEvent): void;
  /** The events of one network chunk have all been given out. */
  flushed?(): void;
  finished(end: Exclude<EndState, "failed">, reason: string): void;
  failed(failure: Failure): void;
  /** Awaited before more is read from the network; undefined: go on. */
  roomForMore(): Promise<void> | undefined;
}

interface Leg {
  readonly attempt: number;
  readonly controller: AbortController;
  readonly response: Promise<Response>;
  // Of its body, once that is read.
  reader?: ReadableStreamDefaultReader<Uint8Array> | undefined;
}

// The longest delay that setTimeout takes.
const longestDelay = 2 ** 31 - 1;

const now = () => performance.now();

// The last attempt to load the module failed.
let engineMissing = false;

export class StreamDriver {
  /** Requests made. */
  attempts = 0;
  state: StreamState = "handshaking";

  #template: RequestTemplate;
  readonly #options: RecoveryOptions;
  readonly #owner: DriverOwner;
  readonly #fetch: FetchFunction;

  // What the tab remembers of this answer, where it shall, and what that is now.
  readonly #kept: KeptAnswer | undefined;
  #note: Note | undefined;
  // The watermark before a reload; undefined: there was none, or it has been told.
  #before: number | undefined;

  // undefined before the module is there, and after the end.
  #recoverer: Recoverer | undefined;
  #over = false;
  // At most one leg is listened to; its attempt is the recoverer's present one.
  #leg: Leg | undefined;
  // The last response of the present leg, until its body is read: a final failure hands it to the owner.
  #unread: Response | undefined;
  #thrown: unknown;
  // The last response's, of whichever leg; undefined: there has been none.
  #status: number | undefined;

  // Orders not yet carried out. A listener may call in while one is: what that leads to comes after them.
  readonly #orders: Action[] = [];
  #carryingOut = false;

  #timer: ReturnType<typeof setTimeout> | undefined;
  // When #timer fires; never later than the recoverer's next deadline.
  #timerDue = Infinity;
  #unwatchPage: (() => void) | undefined;
  // The heartbeat is not judged while either holds.
  #pageHidden = false;
  // The owner has no room, or there is no network.
  #paused = false;
  // Ends the wait for a network; there while it lasts.
  #online: (() => void) | undefined;

  constructor(template: RequestTemplate, options: RecoveryOptions, owner: DriverOwner, kept?: KeptAnswer) {
    this.#template = template;
    this.#options = options;
    this.#owner = owner;
    this.#fetch = fetchOf(options);
    this.#kept = kept;
  }

  /**
   * The first request goes out while the module loads, unless it could not be had before: then only after it, since a
   * request whose answer nobody can read costs its money all the same. `open`: it has been answered already.
   */
  start(open?: Response): void {
    const [stream, epoch, watermark = -1] = this.#kept?.found ?? [];
    const name = this.#template.headers.get("Idempotency-Key") ?? stream;
    if (epoch !== undefined && name === stream) {
      this.#template = this.#template.follow(stream!, epoch);
      this.#before = watermark;
    } else if (name !== undefined) {
      this.#kept?.keep([name]);
    }
    if (open) {
      const reader = open.body?.getReader();
      this.#leg = { attempt: 1, controller: new AbortController(), response: Promise.resolve(open), reader };
    } else if (!engineMissing) {
      this.#leg = this.#request(1);
    }
    loadCore().then(
      (core) => {
        engineMissing = false;
        this.#begin(core);
      },
      (error: TidemarkError) => {
        engineMissing = true;
        if (this.#over) return;
        this.#close();
        this.#enter("finalized");
        this.#owner.failed({ error, response: undefined, thrown: error, inBand: false });
      },
    );
  }

  /** Leaves: nothing is told any more. */
  abort(): void {
    if (this.#over) return;
    if (this.#recoverer !== undefined) {
      this.#carryOut(this.#recoverer.abort(now()));
    } else {
      this.#enter("finalized");
    }
    this.#close();
  }

  /** Ends the answer as stopped; telling the server so is the owner's. */
  stop(): void {
    this.#kept?.keep();
    if (this.#over) return;
    if (this.#recoverer !== undefined) return this.#input((recoverer) => recoverer.stop(now()));
    this.#close();
    this.#enter("finalized");
    this.#owner.finished("stopped", "client-stop");
  }

  #enter(state: StreamState): void {
    this.state = state;
    tell(this.#options.onState, state);
  }

  #begin(core: Core): void {
    if (this.#over) return;
    const { url } = this.#template;
    this.#recoverer = new Recoverer(core, { ...this.#options, path: url.pathname });
    this.#unwatchPage = watchPage({
      wake: () => {
        if (!isOffline()) this.#online?.();
        this.#input((recoverer) => recoverer.wake(now()));
      },
      hidden: (hidden) => {
        this.#pageHidden = hidden;
        this.#judgeHeartbeat();
      },
    });
    this.#input((recoverer) => recoverer.start(now()));
  }

  /** Everything that the recoverer hears goes through here. */
  #input(give: (recoverer: Recoverer) => readonly Action[]): void {
    if (this.#recoverer === undefined || this.#over) return;
    this.#carryOut(give(this.#recoverer));
    this.#setTimer();
  }

  #carryOut(actions: readonly Action[]): void {
    this.#orders.push(...actions);
    if (this.#carryingOut) return;
    this.#carryingOut = true;
    try {
      for (let action = this.#orders.shift(); action !== undefined; action = this.#orders.shift()) this.#obey(action);
    } finally {
      this.#carryingOut = false;
    }
  }

  #obey(action: Action): void {
    if (this.#over && action.type !== "state") return;
    switch (action.type) {
      case "connect":
        this.#connect(action);
        break;
      case "disconnect":
        this.#disconnect(action.attempt);
        break;
      case "state":
        this.#enter(action.state);
        break;
      case "event":
        if (this.#note && action.seq >= 0) this.#note[2] = action.seq;
        this.#owner.event(action);
        break;
      case "seam":
        tell(this.#options.onSeam, action);
        break;
      case "retry":
        tell(this.#options.onRetry, action);
        break;
      case "finished":
        this.#owner.flushed?.();
        // Where it was to be left, it has been.
        this.#leg = undefined;
        this.#close();
        this.#kept?.keep();
        this.#owner.finished(action.end, action.reason);
        break;
      case "failed":
        this.#owner.flushed?.();
        this.#fail(action);
        break;
    }
  }

  #connect(action: ConnectAction): void {
    const leg =
      action.attempt === 1 && this.#leg !== undefined
        ? this.#leg
        : this.#request(action.attempt, action);
    this.#leg = leg;
    this.#unread = this.#thrown = undefined;
    void this.#follow(leg);
  }

  #request(attempt: number, resume?: ConnectAction): Leg {
    const controller = new AbortController();
    this.attempts = attempt;
    // A fetch that throws instead of rejecting is a lost leg all the same.
    const response = (async () => {
      for (;;) {
        try {
          return await this.#fetch(...this.#template.fetchCall(controller.signal, resume));
        } catch (error) {
          // Without a network it says nothing of the server: the retry is made once more, as soon as there is one.
          if (attempt === 1 || !isOffline()) throw error;
          await this.#pause(new Promise((online) => (this.#online = online)));
        }
      }
    })();
    // Looked at in #follow(), which may come later.
    response.catch(() => {});
    return { attempt, controller, response };
  }

  async #follow(leg: Leg): Promise<void> {
    const { attempt } = leg;
    try {
      const response = await leg.response;
      if (leg !== this.#leg) return;
      this.#unread = response;
      this.#status = response.status;
      this.#input((recoverer) => recoverer.handleResponse(now(), attempt, response));
      // Refused, or left to the owner.
      if (leg !== this.#leg) return;
      this.#unread = undefined;
      this.#opened(response);
      leg.reader ??= response.body?.getReader();
      for (;;) {
        const room = this.#owner.roomForMore();
        if (room !== undefined) await this.#pause(room);
        if (leg !== this.#leg) break;
        const chunk = await leg.reader?.read();
        if (leg !== this.#leg) break;
        if (chunk === undefined || chunk.done) {
          this.#input((recoverer) => recoverer.handleEnd(now(), attempt));
          break;
        }
        this.#input((recoverer) => recoverer.handleBytes(now(), attempt, chunk.value));
        if (!this.#over) this.#kept?.keep(this.#note);
        this.#owner.flushed?.();
      }
    } catch (error) {
      if (leg !== this.#leg) return;
      this.#thrown = error;
      this.#input((recoverer) => recoverer.handleFailure(now(), attempt, `${(error as Error | undefined)?.message ?? error}`));
    }
  }

  #opened(response: Response): void {
    const { headers } = response;
    const stream = headers.get("Tidemark-Stream");
    // Nobody else has a log that it could be had from.
    this.#note = stream === null ? undefined : [stream, headers.get("Tidemark-Epoch")!];
    this.#kept?.keep(this.#note);
    const afterSeq = this.#before;
    this.#before = undefined;
    if (afterSeq !== undefined) {
      tell(this.#options.onSeam, { attempt: this.attempts, afterSeq, duplicates: 0, kind: "restored", trimmed: 0 });
    }
    this.#owner.opened?.(response);
  }

  async #pause(over: Promise<void>): Promise<void> {
    this.#paused = true;
    this.#judgeHeartbeat();
    await over;
    this.#paused = false;
    this.#judgeHeartbeat();
  }

  // Bytes that nobody asked for can't be missed.
  #judgeHeartbeat(): void {
    this.#input((recoverer) => recoverer.setHidden(now(), this.#pageHidden || this.#paused));
  }

  #disconnect(attempt: number): void {
    if (this.#leg?.attempt !== attempt) return;
    this.#leave();
  }

  #leave(): void {
    const leg = this.#leg;
    this.#leg = this.#unread = undefined;
    leg?.controller.abort();
    // One that was open already is ended by this alone.
    leg?.reader?.cancel().catch(() => {});
  }

  #fail(action: FailedAction): void {
    const thrown = this.#thrown;
    const response = this.#unread;
    const { url, headers } = this.#template;
    const unanswered = action.code === "network_error" && this.#status === undefined;
    const detail = unanswered ? crossOriginHint(url, headers) : action.code === "http_status" ? ` ${action.status}` : "";
    // Of itself it is "terminated", "network error" or "Load failed".
    const context = thrown && action.code === "stream_interrupted" ? "the connection was lost: " : "";
    const error = new TidemarkError(action.code, context + action.message + detail, {
      status: action.inBand ? this.#status : action.status,
      retryAfter: action.retryAfterMs,
      attempts: action.attempts,
      cause: thrown,
    });
    // Where the server has refused it, or the model has, there is nothing to come back to.
    if (action.inBand || action.status! < 429) this.#kept?.keep();
    // A response that is handed on must not be aborted with its leg.
    if (response !== undefined) this.#leg = undefined;
    this.#close();
    this.#owner.failed({ error, response, thrown, inBand: action.inBand });
  }

  #close(): void {
    this.#over = true;
    this.#leave();
    this.#unwatchPage?.();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#recoverer?.free();
    this.#recoverer = undefined;
  }

  // A timer that fires too early does no harm: it is kept when the deadline moves away, as it does with every chunk.
  #setTimer(): void {
    if (this.#recoverer === undefined) return;
    const due = this.#recoverer.nextDeadline;
    if (this.#timer !== undefined && this.#timerDue <= due) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (due === Infinity) return;
    this.#timerDue = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#input((recoverer) => recoverer.handleTimeout(now()));
      },
      Math.min(Math.ceil(due - now()), longestDelay),
    );
  }
}
