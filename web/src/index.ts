/** The package's front door: everything that `import … from "tidemark"` gives. @module tidemark */
export { recoverStream, type RecoveredAnswer, type RecoverStreamOptions } from "./client/answer.js";
export { createRecoveringFetch, type RecoveringFetchOptions } from "./client/recovering_fetch.js";
export { SilentStreamRecoverer, type AnswerSummary } from "./client/silent_stream_recoverer.js";
export { tailFingerprint } from "./client/tail_fingerprint.js";
export type { FetchFunction, RecoveryOptions, Retry, Seam, StreamEvent } from "./client/options.js";
export { TidemarkError, type TidemarkErrorFacts } from "./engine/error.js";
export type { EndState, EventKind, FinishReason, LossCause, StreamState } from "./engine/actions.js";
export type { DialectName, ResumeMode } from "./engine/recoverer.js";
export { SseParser, type SseEvent, type SseParserOptions } from "./engine/sse_parser.js";
