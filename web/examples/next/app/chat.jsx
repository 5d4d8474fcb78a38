"use client";
// The question, and its answer below it. Rendered on the server first; asked in the browser.
import { useEffect, useState } from "react";
import { TideCursor, useRecoveredStream } from "tidemark/react";

const messagesOf = (question) => [{ role: "user", content: question }];

function Answer({ proxy, simulate, messages, onLeave }) {
  const { text, state, error, end, ask, stop } = useRecoveredStream(`${proxy}/v1/chat/completions`, {
    headers: { "X-Simulate": simulate },
  });
  useEffect(() => {
    ask({ model: "simulated", stream: true, messages });
  }, [ask, messages]);
  return (
    <article data-end={end}>
      <p className="text">
        {text}
        <TideCursor className="cursor" state={state} />
      </p>
      {error && <p role="alert">{error.message}</p>}
      {!end && (
        <button id="stop" onClick={stop}>
          Stop
        </button>
      )}
      <button id="leave" onClick={onLeave}>
        Leave
      </button>
    </article>
  );
}

export function Chat({ proxy, simulate, asked }) {
  const [messages, setMessages] = useState(() => (asked === undefined ? undefined : messagesOf(asked)));
  const onSubmit = (event) => {
    event.preventDefault();
    setMessages(messagesOf(new FormData(event.target).get("question")));
  };
  return (
    <main>
      <form onSubmit={onSubmit}>
        <input name="question" aria-label="Question" defaultValue={asked ?? "What moves the tides?"} />
        <button id="ask">Ask</button>
      </form>
      {messages && (
        <Answer proxy={proxy} simulate={simulate} messages={messages} onLeave={() => setMessages(undefined)} />
      )}
    </main>
  );
}
