// Where the module comes from: a file beside the script. In `tidemark/inline` inline_source.ts takes this file's place.

/** Bundlers know this form and carry the file along. */
const moduleUrl = (): URL => new URL("./tidemark_core.wasm", import.meta.url);

export async function instantiate(imports: WebAssembly.Imports): Promise<WebAssembly.Instance> {
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
  const bytes = await response.arrayBuffer();
  if (new Uint8Array(bytes)[0] === 0x3c) {
    throw new Error(`${url.href} is an HTML page, not the module (Vite: optimizeDeps.exclude)`);
  }
  return (await WebAssembly.instantiate(bytes, imports)).instance;
}
