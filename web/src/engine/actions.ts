// What the engine tells its owner to do, as plain objects.

/**
 * Where a stream is, in the order of a healthy life. `compensating`: the leg is lost, a retry is under way. `merging`: the
 * new leg is connected, and its first events are being joined on.
 */
export type StreamState = "handshaking" | "streaming" | "compensating" | "merging" | "finalized";
/**
 * `complete` only after the provider's own terminal marker; `stopped` by stop(), whoever called it; `truncated`: cut, and
 * could not be continued; `failed`: with a TidemarkError.
 */
export type EndState = "complete" | "stopped" | "truncated" | "failed";
/**
 * What an event brings. `silence`: nothing (a ping); `progress`: a valid event without content; `text`, `reasoning`,
 * `refusal`, `tool-fragment`: content; `finish`: why the answer ends; `terminal`: the provider's end marker; `error` and
 * `challenge`: a refusal within the stream; `malformed`: not of the dialect.
 */
export type EventKind =
  | "silence"
  | "progress"
  | "text"
  | "reasoning"
  | "refusal"
  | "tool-fragment"
  | "finish"
  | "terminal"
  | "error"
  | "challenge"
  | "malformed";
/** Why the model ended its answer, in one set of words for all dialects; `none`: this event does not say. */
export type FinishReason = "none" | "stop" | "length" | "tool-calls" | "content-filter" | "refusal" | "error" | "other";
/**
 * Why a leg counts as lost. `http_status`: 429, 502, 503, 504 or 529; `heartbeat_timeout`: no byte for
 * `heartbeatTimeoutMs`; `stream_interrupted`: its end came without a terminal marker; `sequence_hole`: an event is missing;
 * `not_event_stream`: a retry was answered with something else.
 */
export type LossCause =
  | "network_error"
  | "http_status"
  | "heartbeat_timeout"
  | "stream_interrupted"
  | "sequence_hole"
  | "not_event_stream";

/** Send the request (again). Headers and fields that are absent: the request as the page made it. */
export interface ConnectAction {
  readonly type: "connect";
  /** Counts from 1; every input about this leg names it. */
  readonly attempt: number;
  /** `X-Resume-Seq`, `Tidemark-Epoch`, `Last-Event-ID` and `X-Tail-Fingerprint`, those that are to be sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be put into the JSON body. */
  readonly bodyFields:
    | { readonly resumeSeq: number | undefined; readonly receivedLength: number; readonly tailFingerprint: string }
    | undefined;
}
/** Give up this leg (abort its request or cancel its body). What it still says is not listened to. */
export interface DisconnectAction {
  readonly type: "disconnect";
  readonly attempt: number;
}
export interface StateAction {
  readonly type: "state";
  readonly state: StreamState;
}
/**
 * An event, delivered exactly once and in order. `name`, `data` and `bytes` are decoded when asked for. An event of which a
 * seam (`tail`) has left some text out is written anew, without it.
 */
export interface EventAction {
  readonly type: "event";
  /** What it brings. */
  readonly kind: EventKind;
  /** Why the answer ends; `none` for most events. */
  readonly finish: FinishReason;
  /** The stream's number of this event; -1 for one that has none. */
  readonly seq: number;
  /** Answer text; "" where the event brings none. */
  readonly text: string;
  /** The model's reasoning; "" where the event brings none. */
  readonly reasoning: string;
  /** The `event` field; undefined where the event names none. */
  readonly name: string | undefined;
  /** The `data` field, as it came: JSON in most dialects. */
  readonly data: string;
  /** The event as it came, with the blank line that closes it: ready to be handed to another reader. */
  readonly bytes: Uint8Array;
}
/** A new leg has been joined on. */
export interface SeamAction {
  readonly type: "seam";
  /** Number of the request that brought it; the first is 1. */
  readonly attempt: number;
  /** The last event before it; -1: none. */
  readonly afterSeq: number;
  /** Events that the new leg sent again, and that were dropped. */
  readonly duplicates: number;
  /**
   * `resumed`: it went on behind the last event. With `resume: "tail"` also `trimmed`, it repeated some of the end, and
   * `replayed`, it began again and said the same. With `persist` `restored`: an answer from before a reload, which had come
   * as far as `afterSeq`, comes again from its beginning.
   */
  readonly kind: "resumed" | "trimmed" | "replayed" | "restored";
  /** Text that came again and was left out, as JavaScript's `length` counts. */
  readonly trimmed: number;
}
export interface RetryAction {
  readonly type: "retry";
  /** Number of the coming attempt. */
  readonly attempt: number;
  /** Milliseconds till then. */
  readonly delayMs: number;
  /** Why the leg before it is lost. */
  readonly cause: LossCause;
}
export interface FinishedAction {
  readonly type: "finished";
  readonly end: Exclude<EndState, "failed">;
  /** `terminal-marker`, `end-of-body`, `client-stop`, or what the proxy's last comment says. */
  readonly reason: string;
}
export interface FailedAction {
  readonly type: "failed";
  readonly code: string;
  readonly message: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly attempts: number;
  /** An error event said so, and has been delivered. */
  readonly inBand: boolean;
}
export type Action =
  | ConnectAction
  | DisconnectAction
  | StateAction
  | EventAction
  | SeamAction
  | RetryAction
  | FinishedAction
  | FailedAction;
