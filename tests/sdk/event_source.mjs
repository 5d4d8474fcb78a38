// One question by @microsoft/fetch-event-source whose requests are made by createRecoveringFetch(). In Node and in pages.
import { fetchEventSource } from "@microsoft/fetch-event-source";
import { createRecoveringFetch } from "../../web/dist/index.js";
import { model } from "./sdks.mjs";

let questions = 0;

/** Calls off what has brought nothing but comments: after so many pieces of them nothing else is to come. */
const patience = 8;

/** As web/README.md says: it neither asks again by itself nor leaves with the page's visibility. */
const recipe = {
  openWhenHidden: true,
  onerror(error) {
    throw error;
  },
};

/**
 * Asks `site`, with `simulate` as X-Simulate. `requests` are those of fetchEventSource, `legs` those on the wire, `most`
 * how many of them there were at a time. `onText` hears the text so far.
 */
export async function listen(site, { simulate, options, endless, salt = "", onText, signal }) {
  const heard = { text: "", ends: 0, requests: 0, legs: 0, most: 0 };
  const open = new Set();
  const leaving = new AbortController();
  const counted = async (input, init) => {
    ++heard.legs;
    const leg = {};
    open.add(leg);
    heard.most = Math.max(heard.most, open.size);
    init.signal?.addEventListener("abort", () => open.delete(leg));
    try {
      const response = await fetch(input, init);
      const end = () => open.delete(leg);
      const watched = new TransformStream({ flush: end });
      response.body.pipeTo(watched.writable).catch(end);
      let pieces = 0;
      const seen = new TransformStream({
        transform(piece, controller) {
          controller.enqueue(piece);
          if (endless && ++pieces === patience) leaving.abort();
        },
      });
      return new Response(watched.readable.pipeThrough(seen), response);
    } catch (error) {
      open.delete(leg);
      throw error;
    }
  };
  const recovering = createRecoveringFetch({
    firstRetryDelayMs: 5,
    baseDelayMs: 5,
    jitterMs: 5,
    ...options,
    fetch: counted,
  });
  try {
    await fetchEventSource(`${site}/v1/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Simulate": simulate },
      body: JSON.stringify({
        model,
        stream: true,
        messages: [{ role: "user", content: `${salt} event ${++questions}` }],
      }),
      signal: signal ?? leaving.signal,
      fetch(input, init) {
        ++heard.requests;
        return recovering(input, init);
      },
      async onopen(response) {
        if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
        const type = response.headers.get("Content-Type");
        if (!type?.startsWith("text/event-stream")) throw new Error(`no event stream: ${type}`);
      },
      onmessage({ data }) {
        if (data === "[DONE]") return void ++heard.ends;
        const { choices, error } = JSON.parse(data);
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        heard.text += choices[0]?.delta.content ?? "";
        onText?.(heard.text);
      },
      ...recipe,
    });
  } catch (error) {
    const { message, status, code, constructor } = error;
    heard.error = { class: constructor.name, message, status, code: code ?? undefined };
  }
  return heard;
}
