// docs/faults.md, made from the table that the tests are driven by.
import { createRequire } from "node:module";
import { dropInFaults, maxRetries } from "./drop_in_faults.mjs";
import { seenOf } from "./drop_in_seen.mjs";
import { faults, paused, refusedKeys, truncations } from "./faults.mjs";
import { ways } from "./sdks.mjs";
import { expected, given } from "./seen.mjs";

export const page = new URL("../../docs/faults.md", import.meta.url);

const require = createRequire(import.meta.url);
const { packages } = require("./package-lock.json");
const versions = ["openai", "@anthropic-ai/sdk", "ai", "@ai-sdk/openai", "@ai-sdk/anthropic"];

const code = (text) => `\`${text}\``;
const rows = (...cells) => cells.map((each) => `| ${each.join(" | ")} |`).join("\n");
const table = (head, body) =>
  rows(
    head,
    head.map(() => "---"),
    ...body,
  );

/** The ways of one SDK give the same for the same, so that one of them stands for all. */
const sdksOf = (api) => [...new Map(ways.filter((way) => way.api === api).map((way) => [way.sdk, way])).values()];
const apis = [...new Set(ways.map(({ api }) => api))];
const callsOf = (api) => ways.filter((way) => way.api === api && way.sdk !== "ai").map(({ call }) => code(call));

function errorText({ class: name, status, type, code: errorCode, retryAfter }) {
  const parts = [name === "Object" ? "error" : code(name), status, code(errorCode ?? type)].filter(Boolean);
  return parts.join(" ") + (retryAfter ? `, Retry-After ${retryAfter}` : "");
}

function resultText({ text, finish, told, error }) {
  if (error) {
    const said = errorText({ ...error, class: error.class === "RetryError" ? "APICallError" : error.class });
    return text ? `the text so far, then ${said}` : said;
  }
  if (told) return `${text ? "the text so far, then " : ""}a response, ${code(finish)}: ${code(told.code)}`;
  return text === "whole" ? "whole" : `${text === "cut" ? "the text so far" : text}, ${code(finish)}`;
}

function cell(way, row, times) {
  const without = expected(way, row, times, 0);
  const withRetries = expected(way, row, times);
  const counts =
    without.upstream === withRetries.upstream ? without.upstream : `${without.upstream}; ${withRetries.upstream}`;
  const [first, last] = [without, withRetries].map(resultText);
  return `${first}${first === last ? "" : `; when asked again ${last}`} (${counts})`;
}

function faultTable(api) {
  const sdks = sdksOf(api);
  const head = ["fault", ...["once", "always"].flatMap((times) => sdks.map((way) => `${times}: ${code(way.sdk)}`))];
  return table(
    head,
    faults.map((row) => [
      code(row.fault),
      ...["once", "always"].flatMap((times) => sdks.map((way) => cell(way, row, times))),
    ]),
  );
}

const eachWay = (of) => apis.flatMap((api) => sdksOf(api).map((way) => [api, code(way.sdk), ...of(way)]));

const truncationTable = () =>
  table(
    ["API", "SDK", ...truncations.map(({ finish }) => code(finish))],
    eachWay((way) => truncations.map(({ answer }) => resultText(given(way, answer)))),
  );

const refusalTable = () =>
  table(
    ["API", "SDK", "breaker open", ...refusedKeys.map(({ fault }) => `every key: ${code(fault)}`)],
    eachWay((way) => [
      resultText(expected(way, paused, "always", 0)).replace(/\d+$/, "1 to 59"),
      ...refusedKeys.map((row) => cell(way, row, "always")),
    ]),
  );

const dropInAnswers = {
  whole: () => "whole",
  refused: ({ error }) => `the response, ${error("openai-chat").status}`,
  thrown: () => "what `fetch` threw",
  failed: ({ text, code: name }) => `${text ? "the text so far, then " : ""}${code(name)}`,
  event: () => "the error event",
  noStream: ({ cut }) => `the response, which is no stream${cut ? ", and what `fetch` threw in its middle" : ""}`,
  endless: () => "comments, for as long as the caller waits",
};

const dropInTable = () =>
  table(
    ["fault", "once", "always"],
    dropInFaults.map((row) => [
      code(row.fault),
      ...["once", "always"].map((times) => {
        const { answer, legs } = row[times];
        return `${dropInAnswers[answer.kind](answer)} (${legs})`;
      }),
    ]),
  );

function dropInError(way, answer) {
  const { error, told } = seenOf(way, answer);
  if (!error) return told ? `a response, \`failed\`: ${code(told)}` : "an empty answer, without an error";
  const { class: name, status, code: errorCode, tidemark } = error;
  const parts = [name === "Object" ? "error" : code(name), status, errorCode && code(errorCode)].filter(Boolean);
  return parts.join(" ") + (tidemark ? ", its `cause` the `TidemarkError`" : "");
}

const dropInErrorTable = () => {
  const answerOf = (fault) => dropInFaults.find((row) => row.fault === fault).always.answer;
  const kinds = [
    ["a `TidemarkError`", answerOf("eof-after=0")],
    ["what `fetch` threw", answerOf("connect-reset")],
    ["the error event", answerOf("error-event")],
    ["no stream", answerOf("challenge-html")],
  ];
  return table(
    ["API", "SDK", "call", ...kinds.map(([name]) => name)],
    ways.map((way) => [way.api, code(way.sdk), code(way.call), ...kinds.map(([, answer]) => dropInError(way, answer))]),
  );
};

export const markdown = () => `# What the SDKs see, fault by fault

What the official SDKs return or throw behind the proxy, for every fault of \`tidemark simulate\` but those of seams. This
page is made from the table in \`tests/sdk/\` that drives the tests; \`npm run table --prefix tests/sdk\` writes it. Versions:
${versions.map((name) => `${code(name)} ${packages[`node_modules/${name}`].version}`).join(", ")}.

The proxy runs with its defaults, but for short timeouts and a breaker that is off, and without \`api_keys\`.
Each fault happens **once**, at the upstream's first request, or **always**.

- "whole" is all of the answer, as if there had been no fault.
- An error has its class, its status, its code (its type, where the API's errors have no code), and Retry-After.
- All ways to call an SDK give the same: ${apis.map((api) => callsOf(api).join(", ")).join("; ")};
  of \`ai\`: \`streamText\`. Where \`ai\` has asked more than once, its error is a \`RetryError\`, and this one its
  \`lastError\`.
- In brackets: how many attempts the upstream sees, without the SDK's own retries (\`maxRetries: 0\`) and, where that is
  another number, with them (its default). Each request of an SDK becomes up to three attempts of the proxy's
  (\`retry.attempts\`), or two after a stream without content (\`stream_empty_retry_max\`), and one where the SDK says
  that it asks for the third time; \`ai\` does not say.
- Between its requests an SDK waits for as long as Retry-After says, and else for as long as it finds right.

## The faults

${table(
  ["fault", "the upstream"],
  faults.map(({ fault, says }) => [code(fault), says]),
)}

${apis.map((api) => `## ${api}\n\n${faultTable(api)}`).join("\n\n")}

## What to know of them

- An error without a status came after the 200: the proxy had held the beginning for \`commit_hold_ms\` and handed it on.
- \`openai\` takes an error event of the Responses API for an event like any other: the response that it gives back has
  the status \`failed\`.
- As long as \`ai\` has handed out nothing, it takes an error event of OpenAI's APIs for a response with a status of its
  own finding, and asks again.

## An answer that breaks off after text

By \`truncated_finish\`. The accumulators (\`finalChatCompletion\`, \`finalResponse\`, \`finalMessage\`) make a valid
message of what has an ending.

${truncationTable()}

## Without asking the upstream

While the breaker is open, and as both of two \`api_keys\` are refused. The latter goes out with
\`x-should-retry: false\`, and again, without asking, to every later request.

${refusalTable()}

## Without the proxy, by \`createRecoveringFetch()\`

The same faults where the SDK's \`fetch\` is the package's and asks the upstream itself, with \`maxRetries: ${maxRetries}\` and
without the SDK's own retries. In brackets: the requests that the upstream sees. What has brought content is not asked for
again.

${dropInTable()}

What the SDKs make of it. A response that is no good becomes the SDK's error with its status, as above.

${dropInErrorTable()}
`;
