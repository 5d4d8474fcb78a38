// Compiled, not run: the package's types in a program for Node, whose globals are @types/node's.
import { createRecoveringFetch, recoverStream, SilentStreamRecoverer, SseParser, tailFingerprint, TidemarkError, type FetchFunction } from "tidemark";

const recovering: FetchFunction = createRecoveringFetch({ fetch: async (input, init) => fetch(input, init), sendIdempotencyKey: false });

export async function use(): Promise<string> {
  const response: Response = await recovering("http://127.0.0.1/", { method: "POST", body: "{}" });
  const headers = new Headers(response.headers);
  const answer = recoverStream(new URL("http://127.0.0.1/"), { body: {}, headers, credentials: "omit", signal: AbortSignal.timeout(1), fetch });
  for await (const event of answer) event.bytes.subarray(1);
  recoverStream("http://127.0.0.1/", { headers: { a: "b" }, signal: null });
  await new SilentStreamRecoverer("http://127.0.0.1/").execute({}, (text) => text.length, null, ({ end }) => end);
  const parser = await SseParser.create();
  parser.feed(Buffer.from("data: a"));
  // @ts-expect-error: create() makes them
  new SseParser();
  // @ts-expect-error: not a credentials mode
  recoverStream("http://127.0.0.1/", { credentials: "yes" });
  return new TidemarkError("a", "b").code + (await tailFingerprint(""));
}
