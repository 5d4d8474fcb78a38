// The core as the cases need it: build/wasm/tidemark_conformance.wasm, which exports more than the package does
// (wasm/conformance_abi.cpp).

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `module`: the bytes, or a compiled module. */
export async function loadConformanceCore(module) {
  const compiled = module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module);
  const instance = await WebAssembly.instantiate(compiled, {
    env: { emscripten_notify_memory_growth: () => {} },
    wasi_snapshot_preview1: {
      proc_exit: (status) => {
        throw new Error(`the module gave up (status ${status})`);
      },
    },
  });
  instance.exports._initialize();
  return new ConformanceCore(instance.exports);
}

class ConformanceCore {
  constructor(exports) {
    this.exports = exports;
    this.header = exports.conformance_frame();
  }

  /** Puts strings (or bytes) into the input buffer, one after the other; returns the size of each. */
  input(...values) {
    const parts = values.map((value) => (typeof value === "string" ? encoder.encode(value) : value));
    let at = this.exports.tidemark_input(parts.reduce((sum, part) => sum + part.length, 0));
    for (const part of parts) {
      new Uint8Array(this.exports.memory.buffer).set(part, at);
      at += part.length;
    }
    return parts.map((part) => part.length);
  }

  /** The frame's words, and a function that takes its next string. */
  frame() {
    const [wordsAt, wordsSize, textAt, textSize] = new Uint32Array(this.exports.memory.buffer, this.header, 4);
    const words = new Uint32Array(this.exports.memory.buffer, wordsAt, wordsSize);
    const text = decoder.decode(new Uint8Array(this.exports.memory.buffer, textAt, textSize));
    let at = 0;
    const take = (length) => text.slice(at, (at += length));
    return { words, take };
  }
}
