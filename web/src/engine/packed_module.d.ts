// What scripts/build.mjs makes of the module for inline_source.ts.
declare module "tidemark_core.wasm" {
  /** Compressed (zlib), in base64. */
  const packed: string;
  export default packed;
}
