// Side by side in one run: every contestant in turn, again and again, so that what disturbs one disturbs all.
import { contestants } from "./contestants.mjs";

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/**
 * `streams`: [{ dialect, name, size, chunks }]. Returns one row a stream and contestant: megabytes a second, median over
 * the rounds, with the least and the most.
 */
export function measure(streams, modules, { rounds = 41, roundMs = 8 } = {}) {
  const makers = contestants(modules);
  const rows = [];
  for (const { dialect, name, size, chunks } of streams) {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const runners = Object.entries(makers).map(([who, make]) => ({ who, run: make(dialect), rates: [] }));
    // All that give the text must give the same one.
    const texts = runners.filter(({ who }) => who !== "SseParser" && who !== "eventsource-parser").map(({ run }) => run(chunks));
    if (texts.some((text) => text !== texts[0]) || texts[0] === "") {
      throw new Error(`${dialect}/${name}: the contestants disagree: ${texts.map((text) => text.length).join(", ")} characters`);
    }
    for (let round = -2; round < rounds; ++round) {
      for (const runner of runners) {
        let runs = 0;
        const start = performance.now();
        let spent;
        do {
          runner.run(chunks);
          ++runs;
          spent = performance.now() - start;
        } while (spent < roundMs);
        // The first rounds warm up.
        if (round >= 0) runner.rates.push((bytes * runs) / spent / 1000);
      }
    }
    for (const { who, rates } of runners) {
      rows.push({ dialect, name, size, who, rate: median(rates), least: Math.min(...rates), most: Math.max(...rates) });
    }
  }
  return rows;
}
