// A question and its answer, with Vue 3. Build it into a folder of its own:
//   esbuild main.js --bundle --splitting --format=esm --outdir=site
// and put index.html and the package's tidemark_core.wasm there. ?proxy=URL says where Tidemark's proxy is,
// &simulate=FAULT what the simulated upstream shall do.
import { createApp, defineComponent, h, shallowRef, watch } from "vue";
import { TideCursor, useRecoveredStream } from "tidemark/vue";
import "tidemark/cursor.css";

const { proxy = "http://127.0.0.1:8787", simulate = "none" } = Object.fromEntries(new URLSearchParams(location.search));
const url = `${proxy}/v1/chat/completions`;
const options = { headers: { "X-Simulate": simulate } };

const Answer = defineComponent({
  props: { question: { type: String, required: true } },
  emits: ["leave"],
  setup(props, { emit }) {
    const { text, state, error, end, ask, stop } = useRecoveredStream(url, options);
    watch(
      () => props.question,
      (content) => void ask({ model: "simulated", stream: true, messages: [{ role: "user", content }] }),
      { immediate: true },
    );
    return () =>
      h("article", { "data-end": end.value }, [
        h("p", { class: "text" }, [text.value, h(TideCursor, { class: "cursor", state: state.value })]),
        error.value && h("p", { role: "alert" }, error.value.code),
        h("button", { id: "stop", onClick: stop }, "Stop"),
        h("button", { id: "leave", onClick: () => emit("leave") }, "Leave"),
      ]);
  },
});

const App = defineComponent({
  setup() {
    const question = shallowRef();
    const onSubmit = (event) => {
      event.preventDefault();
      question.value = new FormData(event.target).get("question");
    };
    return () =>
      h("main", [
        h("form", { onSubmit }, [
          h("input", { name: "question", "aria-label": "Question", value: "What moves the tides?" }),
          h("button", { id: "ask" }, "Ask"),
        ]),
        question.value !== undefined &&
          h(Answer, { question: question.value, onLeave: () => (question.value = undefined) }),
      ]);
  },
});

createApp(App).mount("#root");
