// The WebAssembly core, as the rest of the package uses it.
import { loadCore, type Core } from "./module.js";
import { Recoverer, type RecovererOptions } from "./recoverer.js";

/** The core, compiled. */
export class Engine {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  createRecoverer(options?: RecovererOptions): Recoverer {
    return new Recoverer(this.#core, options);
  }

  /** The contract's § 3.4: 16 lower-case hex digits. */
  tailFingerprint(text: string): string {
    const size = this.#core.inputStrings([text])[0]!;
    const half = (upper: number) =>
      (this.#core.exports.tidemark_tail_fingerprint(size, upper) >>> 0).toString(16).padStart(8, "0");
    return half(1) + half(0);
  }
}

let engine: Engine | undefined;

/**
 * Compiles the module at the first call, and gives the same engine from then on. Rejects with a TidemarkError,
 * `engine_unavailable`, where it can't be had; the next call tries again.
 */
export async function loadEngine(): Promise<Engine> {
  const core = await loadCore();
  return (engine ??= new Engine(core));
}
