// Reading frames, as wasm/frame_abi.hpp writes them.
import type { Action, EndState, EventAction, EventKind, FinishReason, LossCause, SeamAction, StreamState } from "./actions.js";
import type { Address, Core } from "./module.js";
import { decoder, encoder } from "./utf8.js";

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
const seamKinds: readonly SeamAction["kind"][] = ["resumed", "trimmed", "replayed"];
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

const noBytes = /* @__PURE__ */ new Uint8Array();

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
  Trimmed,
  Count,
}

/** A frame's raw bytes, which begin at `from`. */
interface Raw {
  readonly copies: Uint8Array;
  readonly from: number;
}
const noRaw: Raw = { copies: noBytes, from: 0 };

class DeliveredEvent implements EventAction {
  readonly kind: EventKind;
  readonly finish: FinishReason;
  readonly seq: number;
  readonly text: string;
  readonly reasoning: string;
  // No # here: such fields make objects, of which there is one an event, much slower to construct.
  // The chunk or raw, and where in them; a name lies beside its block.
  private readonly blockIn: Uint8Array;
  private readonly blockAt: number;
  private readonly blockSize: number;
  private readonly dataIn: Uint8Array;
  private readonly dataAt: number;
  private readonly dataSize: number;
  // -1: none.
  private readonly nameAt: number;
  private readonly nameSize: number;
  private readonly trimmed: number;

  constructor(words: Uint32Array, at: number, text: string, reasoning: string, chunk: Uint8Array, raw: Raw) {
    const first = words[at]!;
    this.kind = kinds[(first >>> 8) & 0xff]!;
    this.finish = finishReasons[(first >>> 16) & 0xff]!;
    this.seq = wide(words, at + Field.Seq);
    this.text = text;
    this.reasoning = reasoning;
    const flags = first >>> 24;
    const blockInRaw = (flags & EventFlag.BlockInRaw) !== 0;
    const dataInRaw = (flags & EventFlag.DataInRaw) !== 0;
    const blockFrom = blockInRaw ? raw.from : 0;
    this.blockIn = blockInRaw ? raw.copies : chunk;
    this.blockAt = words[at + Field.BlockAt]! + blockFrom;
    this.blockSize = words[at + Field.BlockSize]!;
    this.dataIn = dataInRaw ? raw.copies : chunk;
    this.dataAt = words[at + Field.DataAt]! + (dataInRaw ? raw.from : 0);
    this.dataSize = words[at + Field.DataSize]!;
    this.nameAt = flags & EventFlag.Named ? words[at + Field.NameAt]! + blockFrom : -1;
    this.nameSize = words[at + Field.NameSize]!;
    this.trimmed = words[at + Field.Trimmed]!;
  }

  get type(): "event" {
    return "event";
  }
  get name(): string | undefined {
    return this.nameAt < 0 ? undefined : decoder.decode(part(this.blockIn, this.nameAt, this.nameSize));
  }
  get data(): string {
    const data = decoder.decode(part(this.dataIn, this.dataAt, this.dataSize));
    return this.trimmed ? withoutText(data, this.trimmed) : data;
  }
  get bytes(): Uint8Array {
    const bytes = part(this.blockIn, this.blockAt, this.blockSize);
    if (!this.trimmed) return bytes;
    const others = decoder.decode(bytes).split(/[\r\n]+/).filter((line) => line && !/^data\b/.test(line));
    return encoder.encode([...others, `data: ${this.data}`, "", ""].join("\n"));
  }
}

/** An event's JSON without the first `length` units of what is text in it, under each name that text has. */
function withoutText(data: string, length: number): string {
  const left: Record<string, number> = {};
  return JSON.stringify(
    JSON.parse(data, (key, value: unknown) => {
      if (typeof value !== "string" || !/^(content|text|delta|thinking|reasoning(_content)?)$/.test(key)) return value;
      const before = left[key] ?? length;
      left[key] = Math.max(before - value.length, 0);
      return value.slice(before);
    }),
  );
}

const part = (bytes: Uint8Array, at: number, size: number): Uint8Array => bytes.subarray(at, at + size);

/** A 64-bit number, the lower word first; exact up to 2^53. */
function wide(words: Uint32Array, at: number): number {
  const upper = words[at + 1]! | 0;
  return upper === 0 ? words[at]! : upper * 4294967296 + words[at]!;
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

  get stateNumber(): number {
    return this.#core.words[this.#header + Header.State]!;
  }
  get number(): number {
    return this.#core.floats[(this.#header + Header.Number) >>> 1]!;
  }

  /** A recoverer's orders. Events refer to `chunk`, which the call was given. */
  actions(chunk: Uint8Array = noBytes): Action[] {
    const { words } = this.#core;
    const header = this.#header;
    const actions: Action[] = [];
    let at = words[header + Header.WordsAt]! >>> 2;
    const end = at + words[header + Header.WordsSize]!;
    if (at === end) return actions;
    // The module's memory is used again by the next call: what events refer to is copied, once a frame.
    const rawAt = words[header + Header.RawAt]!;
    const rawSize = words[header + Header.RawSize]!;
    const raw = rawSize === 0 ? noRaw : this.#core.copy(rawAt, rawSize);
    // The strings of all descriptors in order, and how much of it has been taken.
    const all = this.#core.text(words[header + Header.TextAt]!, words[header + Header.TextSize]!);
    let taken = 0;
    const string = (length: number): string => {
      if (length === 0) return "";
      if (length === all.length) return all;
      return all.slice(taken, (taken += length));
    };

    while (at < end) {
      const first = words[at]!;
      const a = (first >>> 8) & 0xff;
      const flags = first >>> 24;
      switch (first & 0xff) {
        case Op.Event: {
          const text = string(words[at + Field.Text]!);
          const reasoning = string(words[at + Field.Reasoning]!);
          actions.push(new DeliveredEvent(words, at, text, reasoning, chunk, raw));
          at += Field.Count;
          break;
        }
        case Op.Connect: {
          const resumeSeq = wide(words, at + 2);
          const receivedLength = wide(words, at + 4);
          const headers: Record<string, string> = {};
          const epoch = string(words[at + 6]!);
          const lastEventId = string(words[at + 7]!);
          const tailFingerprint = string(words[at + 8]!);
          if (flags & 1) headers["X-Resume-Seq"] = String(resumeSeq);
          if (flags & 4) headers["X-Tail-Fingerprint"] = tailFingerprint;
          if (epoch !== "") {
            headers["Tidemark-Epoch"] = epoch;
            // The event's own epoch, which may be a later one than the response's.
            if (resumeSeq >= 0) headers["Last-Event-ID"] = `${epoch}-${resumeSeq}`;
          }
          if (lastEventId !== "") headers["Last-Event-ID"] = lastEventId;
          actions.push({
            type: "connect",
            attempt: words[at + 1]!,
            headers,
            bodyFields: flags & 2 ? { resumeSeq: flags & 1 ? resumeSeq : undefined, receivedLength, tailFingerprint } : undefined,
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
            kind: seamKinds[a]!,
            trimmed: wide(words, at + 6),
          });
          at += 8;
          break;
        case Op.Retry:
          actions.push({ type: "retry", attempt: words[at + 1]!, delayMs: words[at + 2]!, cause: causes[a]! });
          at += 3;
          break;
        case Op.Finished:
          actions.push({ type: "finished", end: ends[a]!, reason: string(words[at + 1]!) });
          at += 2;
          break;
        case Op.Failed:
          actions.push({
            type: "failed",
            code: string(words[at + 5]!),
            message: string(words[at + 6]!),
            status: words[at + 1]! || undefined,
            retryAfterMs: flags & 2 ? wide(words, at + 2) : undefined,
            attempts: words[at + 4]!,
            inBand: (flags & 1) !== 0,
          });
          at += 7;
          break;
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
    const all = this.#core.text(words[header + Header.TextAt]!, words[header + Header.TextSize]!);
    let taken = 0;
    const string = (length: number): string => all.slice(taken, (taken += length));
    while (at < end) {
      const first = words[at]!;
      if ((first & 0xff) === Op.SseId) {
        memory.id = string(words[at + 1]!);
        at += 2;
        continue;
      }
      const flags = first >>> 24;
      if (flags & 1) memory.name = string(words[at + 1]!);
      events.push({ event: flags === 0 ? undefined : memory.name, data: string(words[at + 2]!), id: memory.id });
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
