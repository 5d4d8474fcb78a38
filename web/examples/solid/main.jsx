// A question and its answer, with Solid. ?proxy=URL says where Tidemark's proxy is, &simulate=FAULT what the simulated
// upstream shall do.
import { createEffect, createSignal, onCleanup, Show } from "solid-js";
import { render } from "solid-js/web";
import { recoverStream } from "tidemark";
import "tidemark/cursor";
import "tidemark/cursor.css";

const { proxy = "http://127.0.0.1:8787", simulate = "none" } = Object.fromEntries(new URLSearchParams(location.search));

function Answer(props) {
  let answer;
  const [text, setText] = createSignal("");
  const [cursor, setCursor] = createSignal("");
  const [end, setEnd] = createSignal();
  const [error, setError] = createSignal();

  async function follow(messages, signal) {
    setText("");
    setEnd();
    setError();
    const current = recoverStream(`${proxy}/v1/chat/completions`, {
      body: { model: "simulated", stream: true, messages },
      headers: { "X-Simulate": simulate },
      signal,
      onState: (state) => signal.aborted || setCursor(state),
    });
    answer = current;
    try {
      for await (const event of current) setText((before) => before + event.text);
    } catch (reason) {
      if (!signal.aborted) setError(reason);
    }
    if (!signal.aborted) setEnd(current.end);
  }

  createEffect(() => {
    const leaving = new AbortController();
    onCleanup(() => leaving.abort());
    follow(props.messages, leaving.signal);
  });

  return (
    <article data-end={end()}>
      <p class="text">
        {text()}
        <tide-cursor class="cursor" state={cursor()} />
      </p>
      <Show when={error()}>
        <p role="alert">{error().message}</p>
      </Show>
      <Show when={!end()}>
        <button id="stop" onClick={() => answer.stop().catch(setError)}>
          Stop
        </button>
      </Show>
      <button id="leave" onClick={props.onLeave}>
        Leave
      </button>
    </article>
  );
}

function App() {
  const [messages, setMessages] = createSignal();
  const onSubmit = (event) => {
    event.preventDefault();
    setMessages([{ role: "user", content: new FormData(event.target).get("question") }]);
  };
  return (
    <main>
      <form onSubmit={onSubmit}>
        <input name="question" aria-label="Question" value="What moves the tides?" />
        <button id="ask">Ask</button>
      </form>
      <Show when={messages()}>
        <Answer messages={messages()} onLeave={() => setMessages()} />
      </Show>
    </main>
  );
}

render(() => <App />, document.getElementById("root"));
