// One question to an SDK whose requests are made by createRecoveringFetch(), and what came of it. In Node and in pages.
import { createRecoveringFetch } from "../../web/dist/index.js";
import { described, failure } from "./described.mjs";

let questions = 0;

/** Calls off what has brought nothing but comments: after so many pieces of them nothing else is to come. */
const patience = 8;

/**
 * Asks `site`, with `simulate` as X-Simulate; `legs` are the requests made. `endless`: calls the question off when the
 * response goes on without an end.
 */
export async function askDropIn(site, way, { simulate, options, endless, salt = "" }) {
  const heard = { text: "", requests: 0, legs: 0 };
  const leaving = new AbortController();
  const counted = async (input, init) => {
    ++heard.legs;
    const response = await fetch(input, init);
    if (endless) void callOff(response.clone().body.getReader(), leaving);
    return response;
  };
  const recovering = createRecoveringFetch({
    firstRetryDelayMs: 5,
    baseDelayMs: 5,
    jitterMs: 5,
    ...options,
    fetch: counted,
  });
  const asking = {
    // No two questions are the same, or the upstream would take one for a repetition of the other.
    prompt: `${salt} question ${++questions}`,
    fetch(input, init) {
      ++heard.requests;
      return recovering(input, endless ? { ...init, signal: leaving.signal } : init);
    },
    headers: { "X-Simulate": simulate },
    retries: 0,
  };
  try {
    await way.ask(site, asking, heard);
  } catch (error) {
    heard.error = error;
  }
  const { error, told, text, finish, requests, legs, accumulated } = heard;
  return { text, finish, requests, legs, accumulated, error: error && withCause(error), told: told && failure(told) };
}

async function callOff(reader, leaving) {
  for (let pieces = 0; pieces < patience; ++pieces) if ((await reader.read()).done) return;
  leaving.abort();
}

/** `tidemark`: the code of the TidemarkError that another error has for its cause. */
function withCause(error) {
  const { status, code, type, message, class: name } = described(error);
  const { cause } = error;
  return {
    class: name,
    status,
    code: code ?? type,
    message,
    tidemark: cause?.constructor.name === "TidemarkError" ? cause.code : undefined,
  };
}
