// Loading the WebAssembly core: compiled at the first use, in browsers, workers and Node alike.
import { decoder, encoder } from "./utf8.js";
import { TidemarkError } from "./error.js";
import { instantiate } from "./module_source.js";

/** An address in the module's memory. */
export type Address = number;

/** What wasm/bindings.cpp exports. Handles are addresses. */
export interface CoreExports {
  // No WebAssembly.Memory: the types are for programs without lib "dom", too.
  readonly memory: { readonly buffer: ArrayBuffer };
  _initialize(): void;
  tidemark_input(size: number): Address;
  tidemark_dialect_from_path(size: number): number;
  tidemark_tail_fingerprint(size: number, upperHalf: number): number;

  tidemark_recoverer_new(): Address;
  tidemark_recoverer_free(handle: Address): void;
  tidemark_recoverer_frame(handle: Address): Address;
  tidemark_tell(handle: Address, what: number, now: number, attempt: number, value: number): void;
  tidemark_response(
    handle: Address,
    now: number,
    attempt: number,
    status: number,
    shouldNotRetry: number,
    retryAfterMs: number,
    contentTypeSize: number,
    streamSize: number,
    epochSize: number,
  ): void;

  tidemark_parser_new(maxEventBytes: number): Address;
  tidemark_parser_free(handle: Address): void;
  tidemark_parser_frame(handle: Address): Address;
  tidemark_parser_feed(handle: Address, size: number): void;
  tidemark_parser_end(handle: Address): void;
}

const copiesSize = 8192;
const shortText = 12;
// Within what the module keeps of the input buffer.
const mostRoom = 1 << 17;

/** The module's memory, and the one buffer through which bytes and strings go in. */
export class Core {
  readonly exports: CoreExports;
  // Views of the whole memory; made anew when it has grown, since growing detaches them, which leaves them empty.
  #bytes = new Uint8Array();
  #words = new Uint32Array();
  #floats = new Float64Array();
  // The input buffer, where it is known to have so much room.
  #inputAt: Address = 0;
  #inputRoom = 0;
  // Small copies of the module's memory, as many bytes of them as #copied says.
  #copies = new Uint8Array();
  #copied = 0;

  constructor(exports: CoreExports) {
    this.exports = exports;
  }

  get bytes(): Uint8Array {
    this.#look();
    return this.#bytes;
  }

  /** Indexed by address / 4. */
  get words(): Uint32Array {
    this.#look();
    return this.#words;
  }

  /** Indexed by address / 8. */
  get floats(): Float64Array {
    this.#look();
    return this.#floats;
  }

  #look(): void {
    if (this.#bytes.length > 0) return;
    const { buffer } = this.exports.memory;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#floats = new Float64Array(buffer);
  }

  /** Copies `bytes` into the input buffer; returns how many. */
  input(bytes: Uint8Array): number {
    const at = this.#inputFor(bytes.length);
    this.bytes.set(bytes, at);
    return bytes.length;
  }

  /** Copies strings into it, one after the other; returns the size of each. */
  inputStrings(strings: readonly string[]): number[] {
    let at = this.#inputFor(strings.reduce((most, { length }) => most + length * 3, 0));
    return strings.map((text) => {
      if (text === "") return 0;
      const size = encoder.encodeInto(text, this.bytes.subarray(at)).written;
      at += size;
      return size;
    });
  }

  #inputFor(size: number): Address {
    if (size > this.#inputRoom) {
      this.#inputAt = this.exports.tidemark_input(size);
      this.#inputRoom = Math.min(size, mostRoom);
    }
    return this.#inputAt;
  }

  /** A copy of the module's bytes, and where in it they begin: many small copies share one array. */
  copy(at: Address, size: number): { readonly copies: Uint8Array; readonly from: number } {
    const { bytes } = this;
    if (size > copiesSize / 4) return { copies: bytes.slice(at, at + size), from: 0 };
    let from = this.#copied;
    if (from + size > this.#copies.length) {
      this.#copies = new Uint8Array(copiesSize);
      from = 0;
    }
    this.#copied = from + size;
    this.#copies.set(bytes.subarray(at, at + size), from);
    return { copies: this.#copies, from };
  }

  text(at: Address, size: number): string {
    if (size === 0) return "";
    const { bytes } = this;
    const end = at + size;
    if (size <= shortText) {
      // A token or two, most often ASCII: cheaper than a call of the decoder.
      let text = "";
      let i = at;
      for (; i + 4 <= end; i += 4) {
        const [a, b, c, d] = [bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!];
        if ((a | b | c | d) >= 0x80) break;
        text += String.fromCharCode(a, b, c, d);
      }
      for (; i < end && bytes[i]! < 0x80; ++i) text += String.fromCharCode(bytes[i]!);
      if (i === end) return text;
    }
    return decoder.decode(bytes.subarray(at, end));
  }
}

// The one thing that it asks for: called where the C++ library gives up. A trap follows, a RuntimeError to the caller.
const imports = { wasi_snapshot_preview1: { proc_exit() {} } };

let loading: Promise<Core> | undefined;

/** The same core for everybody; a failed attempt is not remembered. */
export function loadCore(): Promise<Core> {
  // A download that broke is made once more.
  loading ??= instantiate(imports)
    .catch(() => instantiate(imports))
    .then(
      ({ instance }) => {
        const exports = instance.exports as unknown as CoreExports;
        exports._initialize();
        return new Core(exports);
      },
      (cause: unknown) => {
        loading = undefined;
        throw new TidemarkError("engine_unavailable", `the WebAssembly core could not be loaded: ${cause}`, { cause });
      },
    );
  return loading;
}
