// Streams that keep coming, so many at a time, each read through the package and judged.
import { setTimeout } from "node:timers/promises";
import { readAnswer } from "./reading.mjs";

// Retries that are quick, and last longer than a server that comes back needs: what is judged is the answer, not the wait.
export const patience = { baseDelayMs: 150, factor: 1.3, jitterMs: 150, maxDelayMs: 2000, maxRetries: 1000 };

/** What the proxy tells of a stream; asked again while nobody is there to answer. */
async function page(url, headers) {
  for (;;) {
    const response = await fetch(url, { headers: { ...headers, Accept: "application/json" } }).catch(() => undefined);
    if (response && response.status < 500) return response.json();
    await setTimeout(20);
  }
}

/**
 * `address`: where the proxy is. Of every `followEvery`th answer a second reader asks by name when it is over, and must get the
 * same. `streams` says of each what readAnswer() does, when it began and ended (ms since 1970), and what the proxy told of it.
 */
export function startLoad({ atOnce, recordings, address, followEvery = 5 }) {
  const texts = recordings.map(({ text }) => text);
  const streams = [];
  let coming = true;
  let events = 0;

  async function oneStream() {
    const number = streams.length;
    const record = { number, from: Date.now() };
    streams.push(record);
    const expected = texts[number % texts.length];
    const headers = { Authorization: `Bearer reader-${number % 7}` };
    const body = { model: "recorded", stream: true, messages: [{ role: "user", content: `Question ${number}` }] };
    const judged = (url, more) => readAnswer(url, { expected, others: texts, headers, onEvent: () => ++events, ...patience, ...more });
    Object.assign(record, await judged(`${address}/${number}/v1/chat/completions`, { body }));
    record.to = Date.now();
    record.told = await page(`${address}/tidemark/streams/${record.stream}`, headers);
    if (record.faults.length === 0 && number % followEvery === 0) {
      const again = await judged(`${address}/tidemark/streams/${record.stream}`);
      record.faults.push(...again.faults.map((fault) => `read again by name: ${fault}`));
      if (again.end !== record.end || again.events !== record.events) {
        record.faults.push(`read again by name: ${again.end} after ${again.events} events, before ${record.end} after ${record.events}`);
      }
    }
  }
  async function inTurn() {
    do await oneStream();
    while (coming);
  }
  const turns = Array.from({ length: atOnce }, inTurn);
  return {
    streams,
    /** Resolves when there is one more that a reader has got. */
    async event() {
      const before = events;
      while (events === before) await setTimeout(5);
    },
    /** No new ones; resolves when all are over. */
    async end() {
      coming = false;
      await Promise.all(turns);
    },
  };
}
