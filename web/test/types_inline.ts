// Compiled, not run: tidemark/inline has the types of tidemark, and its adapters those of the others.
import * as inline from "tidemark/inline";
import * as plain from "tidemark";
import type { RecoveredAnswer, RecoverStreamOptions } from "tidemark/inline";

export const same: typeof plain = inline;
export const back: typeof inline = plain;
export const ask = (options: RecoverStreamOptions): RecoveredAnswer => inline.recoverStream("https://example.test/", options);
// @ts-expect-error: no such option
inline.recoverStream("https://example.test/", { maxRetry: 1 });
