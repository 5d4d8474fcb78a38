// One answer at a time as a store of snapshots: what a framework's adapter shows. Knows no framework.
import {
  recoverStream,
  type TidemarkError,
  type EndState,
  type RecoveredAnswer,
  type RecoverStreamOptions,
  type StreamEvent,
  type StreamState,
} from "../index.js";
import { tell } from "../client/tell.js";

/** What is known of the latest answer. */
export interface RecoveredStreamState {
  /** The answer's text so far. */
  readonly text: string;
  /** The model's reasoning so far. */
  readonly reasoning: string;
  /** Where the answer is; undefined before the first ask(). */
  readonly state: StreamState | undefined;
  /** Why it failed, or why the server could not be told to stop. */
  readonly error: TidemarkError | undefined;
  /** How it ended; undefined before that, and after a disconnect. */
  readonly end: EndState | undefined;
  /** Why it ended so. */
  readonly endReason: string | undefined;
}

/** For one call: headers are added to those of the adapter's options, others take their place. */
export type AskOptions = Omit<RecoverStreamOptions, "body">;

/** For all answers of the adapter. */
export interface RecoveredStreamOptions extends Omit<AskOptions, "signal"> {
  /** Told every event. */
  readonly onEvent?: ((event: StreamEvent) => void) | undefined;
  /** Told once where an answer is complete, stopped or truncated. */
  readonly onFinish?: ((answer: RecoveredStreamState) => void) | undefined;
  /** Told once where an answer fails. */
  readonly onError?: ((error: TidemarkError) => void) | undefined;
}

/** These functions are the same ones for as long as the adapter is there, and need no `this`. */
export interface RecoveredStreamActions {
  /**
   * Asks, in place of the answer before this one, which is left. Throws a TypeError for what is not allowed; everything
   * else is told by `error`: the promise resolves when the answer is over, with `end` undefined where it was left.
   */
  readonly ask: (payload?: object | string, options?: AskOptions) => Promise<RecoveredStreamState>;
  /** Ends the answer for everybody: the server is told to cut the upstream. Resolves when it has answered. */
  readonly stop: () => Promise<void>;
  /** Leaves the answer: a disconnect. The server may go on, and the same `Idempotency-Key` attaches again. */
  readonly abort: () => void;
}

export interface Settings {
  readonly url: string | URL;
  readonly options: RecoveredStreamOptions;
}

interface Asked {
  readonly send: () => RecoveredAnswer;
  readonly options: RecoveredStreamOptions;
  readonly leaving: AbortController;
  readonly over: (state: RecoveredStreamState) => void;
  answer?: RecoveredAnswer;
}

const before: RecoveredStreamState = {
  text: "",
  reasoning: "",
  state: undefined,
  error: undefined,
  end: undefined,
  endReason: undefined,
};

interface Page {
  readonly document?: { readonly visibilityState: string };
  readonly requestAnimationFrame?: (run: () => void) => number;
}

/** Runs `run` with the next frame; without a page in the next microtask. */
function soon(run: () => void): void {
  const { document, requestAnimationFrame } = globalThis as Page;
  if (document && requestAnimationFrame) requestAnimationFrame(run);
  else queueMicrotask(run);
}

export class StreamStore implements RecoveredStreamActions {
  #shown = before;
  // The answer under way.
  #asked: Asked | undefined;
  // That one, or the last that was.
  #latest: Asked | undefined;
  // Asked for and not yet sent: for want of a mounted owner, or until this turn of it is over.
  #waiting: Asked | undefined;
  // undefined: not yet.
  #mounted: boolean | undefined;
  #scheduled = false;
  readonly #listeners = new Set<() => void>();
  readonly #settings: () => Settings;

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  /** The same object until something has changed. */
  readonly snapshot = (): RecoveredStreamState => this.#shown;

  /** Nothing is sent before this. */
  readonly mount = (): (() => void) => {
    this.#mounted = true;
    this.#sendSoon();
    return () => {
      this.#mounted = false;
      this.abort();
    };
  };

  readonly ask = (payload?: object | string, perCall: AskOptions = {}): Promise<RecoveredStreamState> => {
    const { url, options } = this.#settings();
    const { onEvent: _event, onFinish: _finish, onError: _error, onState, headers: common, ...rest } = options;
    const { signal, headers: own, ...others } = perCall;
    const headers = new Headers(common);
    for (const [name, value] of new Headers(own)) headers.set(name, value);
    const leaving = new AbortController();
    const request: RecoverStreamOptions = {
      ...rest,
      ...others,
      headers,
      ...(payload === undefined ? {} : { body: payload }),
      signal: leaving.signal,
      onState: (state) => {
        (perCall.onState ?? onState)?.(state);
        this.#change(asked);
      },
    };
    // Sends nothing, and throws for what is not allowed.
    recoverStream(url, { ...request, onState: undefined, signal: AbortSignal.abort() });
    this.abort();
    let over!: Asked["over"];
    const promise = new Promise<RecoveredStreamState>((resolve) => (over = resolve));
    const asked: Asked = { send: () => recoverStream(url, request), options, leaving, over };
    this.#asked = this.#latest = this.#waiting = asked;
    this.#show({ ...before, state: "handshaking" });
    const leave = () => this.#leave(asked);
    signal?.addEventListener("abort", leave);
    void promise.then(() => signal?.removeEventListener("abort", leave));
    if (signal?.aborted) leave();
    else this.#sendSoon();
    return promise;
  };

  readonly stop = async (): Promise<void> => {
    const asked = this.#asked;
    if (asked === undefined) return;
    // Nothing was sent that could be stopped.
    if (asked.answer === undefined) {
      this.#finish(asked, { ...this.#shown, state: "finalized", end: "stopped", endReason: "client-stop" });
      return;
    }
    try {
      await asked.answer.stop();
    } catch (error) {
      if (asked === this.#latest) this.#show({ ...this.#shown, error: error as TidemarkError });
    }
  };

  readonly abort = (): void => {
    if (this.#asked !== undefined) this.#leave(this.#asked);
  };

  // Not at once: React's StrictMode mounts, unmounts and mounts again in one turn, and only the last is to be sent.
  #sendSoon(): void {
    queueMicrotask(() => {
      const asked = this.#waiting;
      if (asked === undefined) return;
      if (this.#mounted === false) this.#leave(asked);
      if (!this.#mounted) return;
      this.#waiting = undefined;
      void this.#follow(asked);
    });
  }

  async #follow(asked: Asked): Promise<void> {
    const answer = (asked.answer = asked.send());
    try {
      for await (const event of answer) {
        if (asked !== this.#asked) return;
        tell(asked.options.onEvent, event);
        this.#change(asked);
      }
    } catch (error) {
      this.#finish(asked, { ...stateOf(answer), error: error as TidemarkError });
      return;
    }
    this.#finish(asked, stateOf(answer));
  }

  #leave(asked: Asked): void {
    if (asked !== this.#asked) return;
    const text = asked.answer === undefined ? this.#shown : stateOf(asked.answer);
    this.#finish(asked, { ...text, state: "finalized" });
    asked.leaving.abort();
  }

  #finish(asked: Asked, state: RecoveredStreamState): void {
    if (asked !== this.#asked) return;
    this.#asked = this.#waiting = undefined;
    // At once: in a page that nobody looks at there are no frames.
    this.#show(state);
    asked.over(state);
    if (state.error !== undefined) tell(asked.options.onError, state.error);
    else if (state.end !== undefined) tell(asked.options.onFinish, state);
  }

  #change(asked: Asked): void {
    if (this.#scheduled || asked !== this.#asked) return;
    this.#scheduled = true;
    soon(() => {
      this.#scheduled = false;
      if (this.#asked?.answer !== undefined) this.#show(stateOf(this.#asked.answer));
    });
  }

  #show(state: RecoveredStreamState): void {
    this.#shown = state;
    for (const listener of this.#listeners) listener();
  }
}

const stateOf = ({ text, reasoning, state, end, endReason }: RecoveredAnswer): RecoveredStreamState => ({
  text,
  reasoning,
  state,
  error: undefined,
  end,
  endReason,
});
