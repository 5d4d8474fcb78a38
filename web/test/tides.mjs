// The answer that most tests have told, in openai-chat, by a proxy; and how it is asked for and read.
import { chatEvents, endComment, flakyServer } from "./flaky_server.mjs";

export const words = ["Tides ", "rise ", "and ", "潮 ", "fall", "."];
export const text = words.join("");
export const events = chatEvents(words, { epoch: "e1" });
/** The head of a proxy's response. */
export const proxied = { "Tidemark-Stream": "s", "Tidemark-Epoch": "e1" };
/** A script's handler: the whole of it, undisturbed. */
export const whole = (answer) => answer.head(200, proxied).send(events.join("") + endComment).end();

export const body = { model: "m", stream: true, messages: [] };
/** Options that leave no time between the attempts. */
export const fast = { baseDelayMs: 1, jitterMs: 1, firstRetryDelayMs: 1 };

/** Runs with a flaky server, which is closed in any case. */
export async function withServer(script, run) {
  const server = await flakyServer(...script);
  try {
    return await run(server);
  } finally {
    await server.close();
  }
}

/** Every event, to the end. */
export async function read(answer) {
  const all = [];
  for await (const event of answer) all.push(event);
  return all;
}
