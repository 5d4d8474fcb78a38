// Compiled, not run: the Vue adapter as a user meets it.
import { defineComponent, h, ref } from "vue";
import type { EndState, StreamState, TidemarkError } from "tidemark";
import { TideCursor, useRecoveredStream, type RecoveredStream } from "tidemark/vue";
import * as inline from "tidemark/inline/vue";

export const same: typeof inline = { TideCursor, useRecoveredStream };

export const Answer = defineComponent({
  props: { question: { type: String, required: true } },
  setup(props) {
    const url = ref("https://example.test/");
    const answer: RecoveredStream = useRecoveredStream(url, () => ({
      headers: { Authorization: `Bearer ${props.question}` },
      onFinish: ({ text, end }) => [text.length, end === "complete"],
      onError: ({ status }) => status?.toFixed(),
    }));
    const { text, state, error, end, ask, stop, abort } = answer;
    const facts: [string, StreamState | undefined, TidemarkError | undefined, EndState | undefined] = [
      text.value,
      state.value,
      error.value,
      end.value,
    ];
    void [facts, stop, abort];
    void ask({ stream: true }, { headers: { "X-Once": "1" } }).then(({ reasoning }) => reasoning.length);
    // @ts-expect-error: no such option
    useRecoveredStream(url, { maxRetry: 1 });
    // @ts-expect-error: read only
    text.value = "";
    // @ts-expect-error: no such state
    void h(TideCursor, { state: "ebbing" });
    return () => h("p", { onClick: stop }, [text.value, h(TideCursor, { class: "mine", state: state.value, for: "root" })]);
  },
});
