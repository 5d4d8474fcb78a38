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

/**
 * All of the stream, or what came of it within `maxWaitMs`; undefined where that is more than `max` bytes. A stream that
 * is not read to its end is cancelled.
 */
export async function readAtMost(
  max: number,
  stream: ReadableStream<Uint8Array>,
  maxWaitMs?: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const blocks: Uint8Array[] = [];
  const reader = stream.getReader();
  const leave = () => void reader.cancel().catch(() => {});
  const timer = maxWaitMs && setTimeout(leave, maxWaitMs);
  try {
    for (let left = max; ; ) {
      const { done, value } = await reader.read();
      if (done) return concatenated(blocks);
      left -= value.length;
      if (left < 0) return void leave();
      blocks.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
}
