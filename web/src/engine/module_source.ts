// Where the module comes from: a file beside the script. In `tidemark/inline` inline_source.ts takes this file's place.

// Node's. No import(), which bundlers for browsers follow or warn of; and no bare `process`, which some bring along.
declare const globalThis: {
  readonly process: {
    getBuiltinModule(name: "node:fs/promises"): { readFile(path: URL): Promise<Uint8Array<ArrayBuffer>> };
  };
};

export async function instantiate(imports: WebAssembly.Imports): Promise<WebAssembly.WebAssemblyInstantiatedSource> {
  // Bundlers know this form and carry the file along.
  const url = new URL("./tidemark_core.wasm", import.meta.url);
  if (url.protocol === "file:") {
    const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");
    return WebAssembly.instantiate(await readFile(url), imports);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`);
  // Only this type may be compiled while it comes in.
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.instantiateStreaming(response, imports);
  const bytes = await response.arrayBuffer();
  if (new Uint8Array(bytes)[0] === 0x3c) {
    throw new Error(`${url} is an HTML page, not the module (Vite: optimizeDeps.exclude)`);
  }
  return WebAssembly.instantiate(bytes, imports);
}
