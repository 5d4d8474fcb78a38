// Compiled, not run: the package's types as a user meets them.
import {
  createRecoveringFetch,
  recoverStream,
  SilentStreamRecoverer,
  SseParser,
  tailFingerprint,
  TidemarkError,
  type EndState,
  type StreamEvent,
  type StreamState,
} from "tidemark";
import { TideCursor } from "tidemark/cursor";
import "tidemark/cursor.css";

export const recovering: typeof globalThis.fetch = createRecoveringFetch({ onState: (state: StreamState) => void state });

export async function use(): Promise<EndState | undefined> {
  const answer = recoverStream("https://example.test/", { body: { stream: true }, signal: new AbortController().signal, maxRetries: 2 });
  for await (const event of answer) {
    const taken: StreamEvent = event;
    void [taken.text.length, taken.seq + 1, taken.kind === "tool-fragment", taken.data, taken.reasoning];
  }
  await answer.stop();
  const parser = await SseParser.create({ maxEventBytes: 1 << 20 });
  for (const { event, data, id } of parser.feed(new Uint8Array())) void [event?.length, data.length, id.length];
  await new SilentStreamRecoverer("https://example.test/").execute(
    {},
    (text) => text.length,
    (error: TidemarkError) => error.retryAfter?.toFixed(),
    ({ end, attempts }) => [end, attempts],
  );
  const hex: string = await tailFingerprint("");
  document.createElement("tide-cursor").state = "merging";
  void [hex, TideCursor];
  // @ts-expect-error: no such option
  createRecoveringFetch({ maxRetry: 1 });
  return answer.end;
}
