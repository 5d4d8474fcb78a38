// Streams that keep coming, so many at a time, each read through the package and judged.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { readAnswer } from "./reading.mjs";

// Retries that are quick, and last longer than a server that comes back needs: what is judged is the answer, not the wait.
export const patience = { baseDelayMs: 150, factor: 1.3, jitterMs: 150, maxDelayMs: 700, maxRetries: 1000 };

/** What the proxy tells of a stream; asked again while nobody is there to answer. */
async function page(url, headers) {
  for (;;) {
    const response = await fetch(url, { headers: { ...headers, Accept: "application/json" } }).catch(() => undefined);
    if (response && response.status < 500) return response.json();
    await setTimeout(20);
  }
}

/**
 * `address`: where the proxy is. Every `followEvery`th answer has a second reader, who comes by name when the first has got something;
 * another one comes when all is over. All must get the same. `streams` says of each answer what readAnswer() does, when it began and
 * ended (ms since 1970), what the proxy told of it, and what its `others` got, and how.
 */
export function startLoad({ atOnce, recordings, address, followEvery = 4 }) {
  const texts = recordings.map(({ text }) => text);
  const streams = [];
  let coming = true;
  let events = 0;

  async function oneStream() {
    const number = streams.length;
    const record = { number, from: Date.now(), others: [] };
    streams.push(record);
    const expected = texts[number % texts.length];
    const headers = { Authorization: `Bearer reader-${number % 7}` };
    const body = { model: "recorded", stream: true, messages: [{ role: "user", content: `Question ${number}` }] };
    const key = randomUUID();
    const judged = (url, more, onEvent = () => ++events) => readAnswer(url, { expected, others: texts, headers, onEvent, ...patience, ...more });
    const byName = async (how) => record.others.push({ how, ...(await judged(`${address}/tidemark/streams/${key}`)) });
    let follower;
    const first = await judged(`${address}/${number}/v1/chat/completions`, { body, headers: { ...headers, "Idempotency-Key": key } }, () => {
      ++events;
      if (number % followEvery === 0) follower ??= byName("followed by name");
    });
    Object.assign(record, first);
    await follower;
    record.to = Date.now();
    record.told = await page(`${address}/tidemark/streams/${key}`, headers);
    if (follower && first.faults.length === 0) await byName("read again by name");
  }
  async function inTurn() {
    do await oneStream();
    while (coming);
  }
  const turns = Array.from({ length: atOnce }, inTurn);
  return {
    streams,
    /** Resolves when readers have got so many more events as there are streams at once. */
    async progress() {
      const enough = events + atOnce;
      while (events < enough) await setTimeout(5);
    },
    /** No new ones; resolves when all are over. */
    async end() {
      coming = false;
      await Promise.all(turns);
    },
  };
}
