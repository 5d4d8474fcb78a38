// Bytes out of streams.

export function concatenated(blocks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(blocks.reduce((size, block) => size + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}

/** All of the stream; undefined where that is more than `max` bytes: then the stream is cancelled. */
export async function readAtMost(stream: ReadableStream<Uint8Array>, max: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const blocks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatenated(blocks);
    size += value.length;
    if (size > max) {
      reader.cancel().catch(() => {});
      return undefined;
    }
    blocks.push(value);
  }
}
