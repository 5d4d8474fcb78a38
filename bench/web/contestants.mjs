// Bytes in, answer text out: the package and those it is measured against. The same in Node and in a browser.

/** The text of one event's parsed data. */
const meanings = {
  "openai-chat": (data) => data.choices?.[0]?.delta?.content ?? "",
  "openai-responses": (data) => (data.type === "response.output_text.delta" ? data.delta : ""),
  "anthropic-messages": (data) =>
    data.type === "content_block_delta" && data.delta.type === "text_delta" ? data.delta.text : "",
};

/** Where plain JavaScript looks for the text without parsing all of it: what to find first, then the key. */
const keys = {
  "openai-chat": ['"delta":', '"content":"'],
  "openai-responses": ['"type":"response.output_text.delta"', '"delta":"'],
  "anthropic-messages": ['"type":"text_delta"', '"text":"'],
};

/**
 * Each is `(dialect) => (chunks) => text`. `createRecoverer` and `parser` (an SseParser) are
 * the package's, `createParser` is eventsource-parser's.
 */
export function contestants({ createRecoverer, parser, createParser }) {
  return {
    // The client leg as the package drives it: events with their meaning, watched over for resuming.
    tidemark: (dialect) => (chunks) => {
      const recoverer = createRecoverer({ dialect, seed: 1, maxRetries: 0 });
      recoverer.start(0);
      recoverer.handleResponse(0, 1, eventStream);
      let text = "";
      for (const chunk of chunks) {
        for (const action of recoverer.handleBytes(0, 1, chunk)) if (action.type === "event") text += action.text;
      }
      recoverer.free();
      return text;
    },
    "eventsource-parser + JSON.parse": (dialect) => {
      const meaning = meanings[dialect];
      return (chunks) => {
        let text = "";
        const parser = createParser({
          onEvent: ({ data }) => {
            if (data !== "[DONE]") text += meaning(JSON.parse(data));
          },
        });
        const decoder = new TextDecoder();
        for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
        return text;
      };
    },
    // Knows where the text is, takes no care of anything else, and is wrong as soon as a provider writes it otherwise.
    "indexOf + JSON.parse of the value": (dialect) => {
      const [first, key] = keys[dialect];
      return (chunks) => {
        let text = "";
        let rest = "";
        const decoder = new TextDecoder();
        for (const chunk of chunks) {
          rest += decoder.decode(chunk, { stream: true });
          let from = 0;
          for (let end; (end = rest.indexOf("\n\n", from)) >= 0; from = end + 2) {
            const at = rest.indexOf(first, from);
            if (at < 0 || at > end) continue;
            const start = rest.indexOf(key, first === '"delta":' ? at : from) + key.length - 1;
            if (start < key.length - 1 || start > end) continue;
            let close = start + 1;
            while (rest.charCodeAt(close) !== 34) close += rest.charCodeAt(close) === 92 ? 2 : 1;
            text += JSON.parse(rest.slice(start, close + 1));
          }
          rest = rest.slice(from);
        }
        return text;
      };
    },
    // Parsing alone: events without their meaning.
    SseParser: () => (chunks) => {
      let size = 0;
      for (const chunk of chunks) for (const { data } of parser.feed(chunk)) size += data.length;
      parser.end();
      return size;
    },
    "eventsource-parser": () => (chunks) => {
      let size = 0;
      const parser = createParser({ onEvent: ({ data }) => void (size += data.length) });
      const decoder = new TextDecoder();
      for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
      return size;
    },
  };
}

const eventStream = { status: 200, headers: new Headers({ "content-type": "text/event-stream" }) };
