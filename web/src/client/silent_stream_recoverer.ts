// The callback form: one answer at a time, told as it comes.
import type { EndState } from "../engine/actions.js";
import { TidemarkError } from "../engine/error.js";
import { aFunction, aPayload, check, checkOptions, type Rule } from "../checks.js";
import { resolveUrl } from "./address.js";
import { Answer, requestRules, type RecoverStreamOptions } from "./answer.js";
import type { StreamEvent } from "./options.js";

/** What `onFinish` is given. */
export interface AnswerSummary {
  /** The whole text. */
  readonly text: string;
  /** The model's whole reasoning. */
  readonly reasoning: string;
  /** How it ended. */
  readonly end: Exclude<EndState, "failed">;
  /** Why it ended so, in the words of the contract's § 3.3. */
  readonly endReason: string;
  /** Requests made. */
  readonly attempts: number;
}

const mayBeAFunction: Rule = [aFunction[0], (value) => value == null || aFunction[1](value)];

/** An answer by callbacks, one at a time. */
export class SilentStreamRecoverer {
  readonly #url: string | URL;
  readonly #options: Omit<RecoverStreamOptions, "body">;
  #answer: Answer | undefined;

  /** Throws a TypeError for a URL or an option that is not allowed. */
  constructor(url: string | URL, options: Omit<RecoverStreamOptions, "body"> = {}) {
    resolveUrl("SilentStreamRecoverer", url);
    checkOptions("SilentStreamRecoverer", options, requestRules);
    this.#url = url;
    this.#options = options;
  }

  /**
   * Resolves when it is over: after `onFinish`, after `onError`, or, without either, after abort(). Without an `onError`
   * the failure is what it rejects with. `onDelta` is given the answer's next text, and the event that brought it
   * (which may bring reasoning instead: then the text is "").
   */
  async execute(
    payload: object | string,
    onDelta: (text: string, event: StreamEvent) => void,
    onError?: ((error: TidemarkError) => void) | null,
    onFinish?: ((summary: AnswerSummary) => void) | null,
  ): Promise<void> {
    check("execute", "payload", payload, aPayload);
    check("execute", "onDelta", onDelta, aFunction);
    check("execute", "onError", onError, mayBeAFunction);
    check("execute", "onFinish", onFinish, mayBeAFunction);
    if (this.#answer !== undefined) throw new TypeError("execute(): the last answer is still running");
    const answer = new Answer(this.#url, { ...this.#options, body: payload }, "execute");
    this.#answer = answer;
    // False: it has been left, and another one may run by now.
    const over = () => this.#answer === answer && !(this.#answer = undefined);
    try {
      for await (const event of answer) {
        if (event.text !== "" || event.reasoning !== "") onDelta(event.text, event);
      }
      if (!over()) return;
    } catch (error) {
      over();
      // onDelta's own.
      if (error !== answer.error) throw error;
      // Any other is the reason of an abort that the page asked for.
      if (error instanceof TidemarkError) {
        if (!onError) throw error;
        onError(error);
      }
      return;
    }
    const { text, reasoning, end, endReason, attempts } = answer;
    if (end) onFinish?.({ text, reasoning, end, endReason, attempts } as AnswerSummary);
  }

  /** Leaves: no callback is called any more. */
  abort(): void {
    this.#answer?.disconnect();
    this.#answer = undefined;
  }
}
