// A question and its answer, with React 18 or 19. ?proxy=URL says where Tidemark's proxy is, &simulate=FAULT what the
// simulated upstream shall do.
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { TideCursor, useRecoveredStream } from "tidemark/react";
import "tidemark/cursor.css";

const { proxy = "http://127.0.0.1:8787", simulate = "none" } = Object.fromEntries(new URLSearchParams(location.search));
const url = `${proxy}/v1/chat/completions`;
const options = { headers: { "X-Simulate": simulate } };

function Answer({ messages, onLeave }) {
  const { text, state, error, end, ask, stop } = useRecoveredStream(url, options);
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

function App() {
  const [messages, setMessages] = useState();
  const onSubmit = (event) => {
    event.preventDefault();
    setMessages([{ role: "user", content: new FormData(event.target).get("question") }]);
  };
  return (
    <main>
      <form onSubmit={onSubmit}>
        <input name="question" aria-label="Question" defaultValue="What moves the tides?" />
        <button id="ask">Ask</button>
      </form>
      {messages && <Answer messages={messages} onLeave={() => setMessages(undefined)} />}
    </main>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
