// Loading the WebAssembly core: compiled at the first use, in browsers, workers and Node alike.
import { TidemarkError } from "./error.js";

/** An address in the module's memory. */
export type Address = number;

/** What wasm/bindings.cpp exports. Handles are addresses. */
export interface CoreExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  tidemark_input(size: number): Address;
  tidemark_dialect_from_path(size: number): number;
  tidemark_tail_fingerprint(size: number, upperHalf: number): number;

  tidemark_recoverer_new(): Address;
  tidemark_recoverer_free(handle: Address): void;
  tidemark_recoverer_frame(handle: Address): Address;
  tidemark_start(handle: Address, now: number): void;
  tidemark_response(
    handle: Address,
    now: number,
    attempt: number,
    status: number,
    shouldNotRetry: number,
    unixNow: number,
    contentTypeSize: number,
    retryAfterSize: number,
    retryAfterMsSize: number,
    streamSize: number,
    epochSize: number,
  ): void;
  tidemark_bytes(handle: Address, now: number, attempt: number, size: number): void;
  tidemark_end(handle: Address, now: number, attempt: number): void;
  tidemark_failure(handle: Address, now: number, attempt: number, size: number): void;
  tidemark_timeout(handle: Address, now: number): void;
  tidemark_wake(handle: Address, now: number): void;
  tidemark_hidden(handle: Address, now: number, hidden: number): void;
  tidemark_abort(handle: Address, now: number): void;
  tidemark_stop(handle: Address, now: number): void;

  tidemark_parser_new(maxEventBytes: number): Address;
  tidemark_parser_free(handle: Address): void;
  tidemark_parser_frame(handle: Address): Address;
  tidemark_parser_feed(handle: Address, size: number): void;
  tidemark_parser_end(handle: Address): void;
}

const shortText = 24;

/** The module's memory, and the one buffer through which bytes and strings go in. */
export class Core {
  readonly exports: CoreExports;
  // Views of the whole memory; made anew when it has grown, since growing detaches them.
  #bytes = new Uint8Array();
  #words = new Uint32Array();
  #encoder = new TextEncoder();
  // A byte order mark inside a stream is text like any other.
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(exports: CoreExports) {
    this.exports = exports;
  }

  get bytes(): Uint8Array {
    if (this.#bytes.buffer !== this.exports.memory.buffer) this.#bytes = new Uint8Array(this.exports.memory.buffer);
    return this.#bytes;
  }

  /** Indexed by address / 4. */
  get words(): Uint32Array {
    if (this.#words.buffer !== this.exports.memory.buffer) this.#words = new Uint32Array(this.exports.memory.buffer);
    return this.#words;
  }

  float(at: Address): number {
    return new DataView(this.exports.memory.buffer).getFloat64(at, true);
  }

  /** Copies `bytes` into the input buffer; returns how many. */
  input(bytes: Uint8Array): number {
    const at = this.exports.tidemark_input(bytes.length);
    this.bytes.set(bytes, at);
    return bytes.length;
  }

  /** The same for strings, one after the other; returns the size of each. */
  inputStrings(strings: readonly string[]): number[] {
    const encoded = strings.map((text) => this.#encoder.encode(text));
    let at = this.exports.tidemark_input(encoded.reduce((sum, bytes) => sum + bytes.length, 0));
    for (const bytes of encoded) {
      this.bytes.set(bytes, at);
      at += bytes.length;
    }
    return encoded.map((bytes) => bytes.length);
  }

  text(at: Address, size: number): string {
    if (size === 0) return "";
    const { bytes } = this;
    const end = at + size;
    if (size <= shortText) {
      // A token or two, most often ASCII: cheaper than a call of the decoder.
      let text = "";
      let i = at;
      for (; i < end && bytes[i]! < 0x80; ++i) text += String.fromCharCode(bytes[i]!);
      if (i === end) return text;
    }
    return this.#decoder.decode(bytes.subarray(at, end));
  }
}

/** Where the package keeps the module: beside this file. Bundlers know this form and carry the file along. */
const moduleUrl = (): URL => new URL("./tidemark_core.wasm", import.meta.url);

const imports = {
  env: { emscripten_notify_memory_growth: () => {} },
  wasi_snapshot_preview1: {
    proc_exit: (status: number) => {
      throw new TidemarkError("engine_failed", `the WebAssembly core gave up (status ${status})`);
    },
  },
};

async function instantiate(): Promise<WebAssembly.Instance> {
  const url = moduleUrl();
  if (url.protocol === "file:") {
    // Node; in a variable, so that bundlers for browsers leave it alone.
    const fileSystem = "node:fs/promises";
    const { readFile } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ fileSystem)) as {
      readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
    };
    return (await WebAssembly.instantiate(await readFile(url), imports)).instance;
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href} was answered ${response.status}`);
  // Only this type may be compiled while it comes in.
  if (response.headers.get("content-type") === "application/wasm") {
    return (await WebAssembly.instantiateStreaming(response, imports)).instance;
  }
  return (await WebAssembly.instantiate(await response.arrayBuffer(), imports)).instance;
}

let loading: Promise<Core> | undefined;

/** The same core for everybody; a failed attempt is not remembered. */
export function loadCore(): Promise<Core> {
  loading ??= instantiate().then(
    (instance) => {
      const exports = instance.exports as unknown as CoreExports;
      exports._initialize();
      return new Core(exports);
    },
    (cause: unknown) => {
      loading = undefined;
      throw new TidemarkError("engine_unavailable", "the WebAssembly core could not be loaded", { cause });
    },
  );
  return loading;
}
