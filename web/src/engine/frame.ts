// Reading frames, as wasm/frame_abi.hpp writes them.
import type { Action, EndState, EventAction, EventKind, FinishReason, LossCause, StreamState } from "./actions.js";
import type { Address, Core } from "./module.js";

// In the order of the core's enums.
const states: readonly StreamState[] = ["handshaking", "streaming", "compensating", "merging", "finalized"];
const kinds: readonly EventKind[] = [
  "silence",
  "progress",
  "text",
  "reasoning",
  "refusal",
  "tool-fragment",
  "finish",
  "terminal",
  "error",
  "challenge",
  "malformed",
];
const finishReasons: readonly FinishReason[] = [
  "none",
  "stop",
  "length",
  "tool-calls",
  "content-filter",
  "refusal",
  "error",
  "other",
];
const causes: readonly LossCause[] = [
  "network_error",
  "http_status",
  "heartbeat_timeout",
  "stream_interrupted",
  "sequence_hole",
  "not_event_stream",
];
const ends: readonly Exclude<EndState, "failed">[] = ["complete", "stopped", "truncated"];

const enum Op {
  Connect,
  Disconnect,
  State,
  Event,
  Seam,
  Retry,
  Finished,
  Failed,
  SseEvent,
  SseId,
}

const enum EventFlag {
  BlockInRaw = 1,
  DataInRaw = 2,
  Named = 4,
}

// Offsets of the header's fields, in words.
const enum Header {
  WordsAt,
  WordsSize,
  TextAt,
  TextSize,
  RawAt,
  RawSize,
  State,
  Attempts,
  Number,
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const noBytes = new Uint8Array();

/** What the events of one frame share. */
interface Source {
  /** The frame's descriptors, a copy. */
  readonly words: Uint32Array;
  readonly chunk: Uint8Array;
  readonly raw: Uint8Array;
}

// Offsets of an event's fields, in words after the first.
const enum Field {
  Seq = 1,
  Text = 3,
  Reasoning,
  BlockAt,
  BlockSize,
  DataAt,
  DataSize,
  NameAt,
  NameSize,
  Count,
}

class DeliveredEvent implements EventAction {
  readonly type = "event";
  readonly kind: EventKind;
  readonly finish: FinishReason;
  readonly seq: number;
  readonly text: string;
  readonly reasoning: string;
  // No # here: such fields make objects, of which there is one an event, much slower to construct.
  private readonly source: Source;
  // Index of the descriptor's first word.
  private readonly at: number;

  constructor(source: Source, at: number, text: string, reasoning: string) {
    const first = source.words[at]!;
    this.kind = kinds[(first >>> 8) & 0xff]!;
    this.finish = finishReasons[(first >>> 16) & 0xff]!;
    this.seq = wide(source.words, at + Field.Seq);
    this.text = text;
    this.reasoning = reasoning;
    this.source = source;
    this.at = at;
  }

  get name(): string | undefined {
    if (!this.has(EventFlag.Named)) return undefined;
    return utf8.decode(this.part(EventFlag.BlockInRaw, Field.NameAt));
  }
  get data(): string {
    return utf8.decode(this.part(EventFlag.DataInRaw, Field.DataAt));
  }
  get bytes(): Uint8Array {
    return this.part(EventFlag.BlockInRaw, Field.BlockAt);
  }

  private has(flag: EventFlag): boolean {
    return ((this.source.words[this.at]! >>> 24) & flag) !== 0;
  }
  private part(inRaw: EventFlag, field: Field): Uint8Array {
    const { words, chunk, raw } = this.source;
    const at = words[this.at + field]!;
    return (this.has(inRaw) ? raw : chunk).subarray(at, at + words[this.at + field + 1]!);
  }
}

/** A 64-bit number, the lower word first; exact up to 2^53. */
function wide(words: Uint32Array, at: number): number {
  const upper = words[at + 1]! | 0;
  return upper === 0 ? words[at]! : upper * 4294967296 + words[at]!;
}

/** Cuts a frame's text up into the strings of its descriptors, in order. */
class Strings {
  readonly #all: string;
  #at = 0;
  constructor(all: string) {
    this.#all = all;
  }
  take(length: number): string {
    if (length === 0) return "";
    if (length === this.#all.length) return this.#all;
    const from = this.#at;
    this.#at += length;
    return this.#all.slice(from, this.#at);
  }
}

/** What the core says about one of its objects after a call. */
export class FrameReader {
  readonly #core: Core;
  // Address / 4 of the header.
  readonly #header: number;

  constructor(core: Core, header: Address) {
    this.#core = core;
    this.#header = header >>> 2;
  }

  get state(): StreamState {
    return states[this.stateNumber]!;
  }
  get stateNumber(): number {
    return this.#core.words[this.#header + Header.State]!;
  }
  get attempts(): number {
    return this.#core.words[this.#header + Header.Attempts]!;
  }
  get number(): number {
    return this.#core.float((this.#header + Header.Number) << 2);
  }

  /** A recoverer's orders. Events refer to `chunk`, which the call was given. */
  actions(chunk: Uint8Array = noBytes): Action[] {
    const memory = this.#core.words;
    const header = this.#header;
    const end = memory[header + Header.WordsSize]!;
    const actions: Action[] = [];
    if (end === 0) return actions;
    // The module's memory is used again by the next call: what events refer to is copied, once a frame.
    const wordsAt = memory[header + Header.WordsAt]! >>> 2;
    const words = memory.slice(wordsAt, wordsAt + end);
    const rawAt = memory[header + Header.RawAt]!;
    const rawSize = memory[header + Header.RawSize]!;
    const raw = rawSize === 0 ? noBytes : this.#core.bytes.slice(rawAt, rawAt + rawSize);
    const source: Source = { words, chunk, raw };
    const strings = new Strings(this.#core.text(memory[header + Header.TextAt]!, memory[header + Header.TextSize]!));

    let at = 0;
    while (at < end) {
      const first = words[at]!;
      const a = (first >>> 8) & 0xff;
      const flags = first >>> 24;
      switch (first & 0xff) {
        case Op.Event: {
          const text = strings.take(words[at + Field.Text]!);
          const reasoning = strings.take(words[at + Field.Reasoning]!);
          actions.push(new DeliveredEvent(source, at, text, reasoning));
          at += Field.Count;
          break;
        }
        case Op.Connect: {
          const resumeSeq = wide(words, at + 2);
          const receivedLength = wide(words, at + 4);
          const headers: Record<string, string> = {};
          const epoch = strings.take(words[at + 6]!);
          const lastEventId = strings.take(words[at + 7]!);
          const tailFingerprint = strings.take(words[at + 8]!);
          if (flags & 1) headers["X-Resume-Seq"] = String(resumeSeq);
          if (epoch !== "") headers["Tidemark-Epoch"] = epoch;
          if (lastEventId !== "") headers["Last-Event-ID"] = lastEventId;
          actions.push({
            type: "connect",
            attempt: words[at + 1]!,
            headers,
            bodyFields: flags & 2 ? { resumeSeq, receivedLength, tailFingerprint } : undefined,
          });
          at += 9;
          break;
        }
        case Op.Disconnect:
          actions.push({ type: "disconnect", attempt: words[at + 1]! });
          at += 2;
          break;
        case Op.State:
          actions.push({ type: "state", state: states[a]! });
          at += 1;
          break;
        case Op.Seam:
          actions.push({
            type: "seam",
            attempt: words[at + 1]!,
            afterSeq: wide(words, at + 2),
            duplicates: wide(words, at + 4),
          });
          at += 6;
          break;
        case Op.Retry:
          actions.push({ type: "retry", attempt: words[at + 1]!, delayMs: words[at + 2]!, cause: causes[a]! });
          at += 3;
          break;
        case Op.Finished:
          actions.push({ type: "finished", end: ends[a]!, reason: strings.take(words[at + 1]!) });
          at += 2;
          break;
        case Op.Failed: {
          const status = words[at + 1]!;
          actions.push({
            type: "failed",
            code: strings.take(words[at + 5]!),
            message: strings.take(words[at + 6]!),
            status: status === 0 ? undefined : status,
            retryAfterMs: flags & 2 ? wide(words, at + 2) : undefined,
            attempts: words[at + 4]!,
            inBand: (flags & 1) !== 0,
          });
          at += 7;
          break;
        }
        default:
          throw new Error(`unknown descriptor ${first & 0xff} in a frame`);
      }
    }
    return actions;
  }

  /** A parser's events. `memory` holds what later frames refer back to. */
  events(memory: SseMemory): SseEventFields[] {
    const { words } = this.#core;
    const header = this.#header;
    let at = words[header + Header.WordsAt]! >>> 2;
    const end = at + words[header + Header.WordsSize]!;
    const events: SseEventFields[] = [];
    if (at === end) return events;
    const strings = new Strings(this.#core.text(words[header + Header.TextAt]!, words[header + Header.TextSize]!));
    while (at < end) {
      const first = words[at]!;
      if ((first & 0xff) === Op.SseId) {
        memory.id = strings.take(words[at + 1]!);
        at += 2;
        continue;
      }
      const flags = first >>> 24;
      if (flags & 1) memory.name = strings.take(words[at + 1]!);
      events.push({ event: flags === 0 ? undefined : memory.name, data: strings.take(words[at + 2]!), id: memory.id });
      at += 3;
    }
    return events;
  }
}

export interface SseEventFields {
  readonly event: string | undefined;
  readonly data: string;
  readonly id: string;
}

export interface SseMemory {
  id: string;
  name: string;
}
