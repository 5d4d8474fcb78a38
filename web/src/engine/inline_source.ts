// Where `tidemark/inline` has the module from: the script itself. scripts/build.mjs puts this in module_source.ts's place.
import packed from "tidemark_core.wasm";

/** Nothing is fetched: not even a `data:` URL, which a content security policy would have to allow. */
export async function instantiate(imports: WebAssembly.Imports): Promise<WebAssembly.WebAssemblyInstantiatedSource> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return WebAssembly.instantiate(await new Response(unpacked).arrayBuffer(), imports);
}
