// The official SDKs, each in the ways in which it hands out a streamed answer, brought down to what can be compared.
import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import OpenAI from "openai";

export const model = "simulated-1";

/** `retries` undefined: the SDK's default. */
function clientOptions({ fetch, headers, retries }) {
  return {
    apiKey: "sk-sdk-test",
    fetch,
    defaultHeaders: headers,
    // Says nothing in Node.
    dangerouslyAllowBrowser: true,
    ...(retries !== undefined && { maxRetries: retries }),
  };
}
const openai = (site, asking) => new OpenAI({ baseURL: `${site}/v1`, ...clientOptions(asking) });
const anthropic = (site, asking) => new Anthropic({ baseURL: site, ...clientOptions(asking) });
const messages = (prompt) => [{ role: "user", content: prompt }];

async function chatCreate(site, asking, heard) {
  const stream = await openai(site, asking).chat.completions.create({
    model,
    messages: messages(asking.prompt),
    stream: true,
  });
  for await (const { choices } of stream) {
    heard.text += choices[0]?.delta.content ?? "";
    heard.finish = choices[0]?.finish_reason ?? heard.finish;
  }
}

async function chatStream(site, asking, heard) {
  const stream = openai(site, asking).chat.completions.stream({ model, messages: messages(asking.prompt) });
  stream.on("content", (delta) => (heard.text += delta));
  heard.final = await stream.finalChatCompletion();
  const [{ message, finish_reason: finish }] = heard.final.choices;
  Object.assign(heard, { finish, accumulated: message.content });
}

async function responsesCreate(site, asking, heard) {
  const stream = await openai(site, asking).responses.create({ model, input: asking.prompt, stream: true });
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") heard.text += event.delta;
    if (event.response) Object.assign(heard, { finish: event.response.status, told: event.response.error });
  }
}

async function responsesStream(site, asking, heard) {
  const stream = openai(site, asking).responses.stream({ model, input: asking.prompt, ...asking.more });
  stream.on("response.output_text.delta", ({ delta }) => (heard.text += delta));
  heard.final = await stream.finalResponse();
  const { status: finish, error: told, output_text: accumulated } = heard.final;
  Object.assign(heard, { finish, told, accumulated });
}

async function messagesCreate(site, asking, heard) {
  const stream = await anthropic(site, asking).messages.create({
    model,
    max_tokens: 999,
    messages: messages(asking.prompt),
    stream: true,
  });
  for await (const event of stream) {
    if (event.delta?.type === "text_delta") heard.text += event.delta.text;
    heard.finish = event.delta?.stop_reason ?? heard.finish;
  }
}

async function messagesStream(site, asking, heard) {
  const stream = anthropic(site, asking).messages.stream({ model, max_tokens: 999, messages: messages(asking.prompt) });
  stream.on("text", (delta) => (heard.text += delta));
  heard.final = await stream.finalMessage();
  const { stop_reason: finish, content } = heard.final;
  Object.assign(heard, { finish, accumulated: content.map((block) => block.text ?? "").join("") });
}

const ai = (provider) => async (site, asking, heard) => {
  const { retries } = asking;
  const result = streamText({
    model: provider(`${site}/v1`, { apiKey: "sk-sdk-test", fetch: asking.fetch, headers: asking.headers }),
    prompt: asking.prompt,
    ...(retries !== undefined && { maxRetries: retries }),
    onError: () => {},
  });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") heard.text += part.text;
    if (part.type === "finish") heard.finish = part.finishReason;
    if (part.type === "error") heard.error = part.error;
  }
};

/** What a table's column stands for. `ask` fills `heard` in as it goes along; it throws what the SDK throws. */
export const ways = [
  { api: "openai-chat", sdk: "openai", call: "chat.completions.create", ask: chatCreate },
  { api: "openai-chat", sdk: "openai", call: "chat.completions.stream", ask: chatStream },
  {
    api: "openai-chat",
    sdk: "ai",
    call: "streamText",
    ask: ai((baseURL, rest) => createOpenAI({ baseURL, ...rest }).chat(model)),
  },
  { api: "openai-responses", sdk: "openai", call: "responses.create", ask: responsesCreate },
  { api: "openai-responses", sdk: "openai", call: "responses.stream", ask: responsesStream },
  {
    api: "openai-responses",
    sdk: "ai",
    call: "streamText",
    ask: ai((baseURL, rest) => createOpenAI({ baseURL, ...rest }).responses(model)),
  },
  { api: "anthropic-messages", sdk: "@anthropic-ai/sdk", call: "messages.create", ask: messagesCreate },
  { api: "anthropic-messages", sdk: "@anthropic-ai/sdk", call: "messages.stream", ask: messagesStream },
  {
    api: "anthropic-messages",
    sdk: "ai",
    call: "streamText",
    ask: ai((baseURL, rest) => createAnthropic({ baseURL, ...rest })(model)),
  },
];
