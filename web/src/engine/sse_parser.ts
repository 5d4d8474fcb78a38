// Server-sent events, bytes to events, by the WebAssembly core.
import { check, checkOptions, numberFrom } from "../checks.js";
import { TidemarkError } from "./error.js";
import { FrameReader, type SseMemory } from "./frame.js";
import { loadCore, type Address, type Core } from "./module.js";

/** A server-sent event. */
export interface SseEvent {
  /** Its name; undefined where the stream gives none. */
  readonly event: string | undefined;
  /** Its data, the lines joined by line feeds. */
  readonly data: string;
  /** The last event id in force. */
  readonly id: string;
}

/** Of SseParser.create(). */
export interface SseParserOptions {
  /** A larger event is a TidemarkError, `event_too_large`. Default 4 MiB. */
  readonly maxEventBytes?: number | undefined;
}

/** The bytes themselves, of whichever view. Throws a TypeError for what holds none. */
export function bytesOf(where: string, bytes: unknown): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  if (ArrayBuffer.isView(bytes)) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  check(where, "bytes", bytes, ["an ArrayBuffer or a view of one", (value) => value instanceof ArrayBuffer]);
  return new Uint8Array(bytes as ArrayBuffer);
}

/**
 * Server-sent events, as the HTML standard has them: bytes in, events out, however the bytes are cut. It holds memory of
 * the WebAssembly module's: free() it.
 */
export class SseParser {
  readonly #core: Core;
  readonly #frame: FrameReader;
  readonly #maxEventBytes: number;
  #handle: Address;
  // What later frames refer back to.
  #memory: SseMemory = { id: "", name: "" };

  /**
   * Loads the WebAssembly module where that has not been done. Rejects with a TypeError for an option that is not allowed,
   * with a TidemarkError, `engine_unavailable`, where the module can't be had.
   */
  static async create(options: SseParserOptions = {}): Promise<SseParser> {
    checkOptions("SseParser.create", options, { maxEventBytes: numberFrom(1, true) });
    return new SseParser(await loadCore(), options.maxEventBytes);
  }

  private constructor(core: Core, maxEventBytes = 4 << 20) {
    this.#core = core;
    this.#maxEventBytes = maxEventBytes;
    this.#handle = core.exports.tidemark_parser_new(maxEventBytes);
    this.#frame = new FrameReader(core, core.exports.tidemark_parser_frame(this.#handle));
    forgotten.register(this, { core, handle: this.#handle }, this);
  }

  /** The last valid `retry` field, in milliseconds. */
  get retry(): number | undefined {
    this.#live();
    const retry = this.#frame.number;
    return retry < 0 ? undefined : retry;
  }

  /** The last event id in force; "" before the first. */
  get lastEventId(): string {
    return this.#memory.id;
  }

  /**
   * The events that this chunk completes, in order. Throws a TypeError for what holds no bytes. An event larger than
   * allowed is a TidemarkError, `event_too_large`: thrown in place of that event, after those before it, and by every
   * feed() from then on, until end().
   */
  feed(bytes: ArrayBuffer | ArrayBufferView): Iterable<SseEvent> {
    const handle = this.#live();
    const chunk = bytesOf("feed", bytes);
    if (this.#failed) throw this.#tooLarge();
    this.#core.exports.tidemark_parser_feed(handle, this.#core.input(chunk));
    const events = this.#frame.events(this.#memory);
    if (!this.#failed) return events;
    if (events.length === 0) throw this.#tooLarge();
    return this.#thenFail(events);
  }

  /**
   * End of the connection: an unfinished event is dropped, and the parser is ready for the stream's next one. `lastEventId`
   * and `retry` stay, as the specification has it; for another stream make another parser.
   */
  end(): void {
    this.#core.exports.tidemark_parser_end(this.#live());
  }

  /** Gives its memory back; nothing else may be called afterwards. Doing it again changes nothing. */
  free(): void {
    if (this.#handle === 0) return;
    forgotten.unregister(this);
    this.#core.exports.tidemark_parser_free(this.#handle);
    this.#handle = 0;
  }

  get #failed(): boolean {
    return this.#frame.stateNumber !== 0;
  }

  *#thenFail(events: readonly SseEvent[]): Iterable<SseEvent> {
    yield* events;
    throw this.#tooLarge();
  }

  #tooLarge(): TidemarkError {
    return new TidemarkError(
      "event_too_large",
      `an event is larger than maxEventBytes (${this.#maxEventBytes})`,
    );
  }

  #live(): Address {
    if (this.#handle === 0) throw new Error("this parser has been freed");
    return this.#handle;
  }
}

// For owners that forget to free(): the module's memory is not the garbage collector's.
const forgotten = new FinalizationRegistry(({ core, handle }: { core: Core; handle: Address }) => {
  core.exports.tidemark_parser_free(handle);
});
