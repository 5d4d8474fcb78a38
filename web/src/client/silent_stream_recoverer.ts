// The callback form: one answer at a time, told as it comes.
import type { EndState } from "../engine/actions.js";
import { TidemarkError } from "../engine/error.js";
import { Answer, type RecoverStreamOptions } from "./answer.js";
import { checkOptions, resolveUrl, type StreamEvent } from "./options.js";

export interface AnswerSummary {
  readonly text: string;
  readonly reasoning: string;
  readonly end: Exclude<EndState, "failed">;
  readonly endReason: string;
  readonly attempts: number;
}

export class SilentStreamRecoverer {
  readonly #url: string | URL;
  readonly #options: Omit<RecoverStreamOptions, "body">;
  #answer: Answer | undefined;

  /** Throws a TypeError for a URL or an option that is not allowed. */
  constructor(url: string | URL, options: Omit<RecoverStreamOptions, "body"> = {}) {
    resolveUrl("SilentStreamRecoverer", url);
    checkOptions("SilentStreamRecoverer", options, ["headers", "method", "credentials", "signal"]);
    this.#url = url;
    this.#options = options;
  }

  /**
   * Resolves when it is over: after `onFinish`, after `onError`, or, without either, after abort(). `onDelta` is given
   * the answer's next text, and the event that brought it (which may bring reasoning instead: then the text is "").
   */
  async execute(
    payload: object | string,
    onDelta: (text: string, event: StreamEvent) => void,
    onError?: (error: TidemarkError) => void,
    onFinish?: (summary: AnswerSummary) => void,
  ): Promise<void> {
    if (this.#answer !== undefined) throw new TypeError("execute(): the answer before this one is still running");
    const answer = new Answer(this.#url, { ...this.#options, body: payload }, "execute");
    this.#answer = answer;
    let failure: TidemarkError | undefined;
    try {
      const events = answer[Symbol.asyncIterator]();
      for (;;) {
        let next;
        try {
          next = await events.next();
        } catch (error) {
          // Anything else is the reason of an abort that the page asked for.
          if (error instanceof TidemarkError) failure = error;
          break;
        }
        if (next.done) break;
        const event = next.value;
        if (event.text !== "" || event.reasoning !== "") onDelta(event.text, event);
      }
    } finally {
      // Also where onDelta has thrown.
      answer.disconnect();
      this.#answer = undefined;
    }
    if (failure !== undefined) return onError?.(failure);
    const { text, reasoning, end, endReason, attempts } = answer;
    if (end === undefined || end === "failed" || endReason === undefined) return;
    onFinish?.({ text, reasoning, end, endReason, attempts });
  }

  /** Leaves: no callback is called any more. */
  abort(): void {
    this.#answer?.disconnect();
  }
}
