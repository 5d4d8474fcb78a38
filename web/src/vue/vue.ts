/** Vue 3: an answer as a composable, and the cursor as a component. @module tidemark/vue */
import {
  computed,
  defineComponent,
  getCurrentInstance,
  getCurrentScope,
  h,
  onMounted,
  onScopeDispose,
  shallowRef,
  toValue,
  type ComputedRef,
  type DefineComponent,
  type MaybeRefOrGetter,
} from "vue";
import {
  StreamStore,
  type RecoveredStreamActions,
  type RecoveredStreamOptions,
  type RecoveredStreamState,
} from "../adapters/stream_store.js";
import type { StreamState } from "../index.js";

export type { AskOptions, RecoveredStreamActions, RecoveredStreamOptions, RecoveredStreamState } from "../adapters/stream_store.js";

/** What useRecoveredStream() gives: the facts as computed refs, and the functions. */
export type RecoveredStream = {
  readonly [Name in keyof RecoveredStreamState]: ComputedRef<RecoveredStreamState[Name]>;
} & RecoveredStreamActions;

/**
 * Answers of one URL, one at a time. Requests nothing before ask(), and nothing at all in a component that a server
 * renders. Changes at most once a frame. The end of the scope (a component's unmounting) leaves the answer.
 */
export function useRecoveredStream(
  url: MaybeRefOrGetter<string | URL>,
  options: MaybeRefOrGetter<RecoveredStreamOptions> = {},
): RecoveredStream {
  const store = new StreamStore(() => ({ url: toValue(url), options: toValue(options) }));
  const shown = shallowRef(store.snapshot());
  store.subscribe(() => {
    shown.value = store.snapshot();
  });
  const unmount = store.mount();
  if (getCurrentInstance() && typeof document === "undefined") unmount();
  if (getCurrentScope()) onScopeDispose(unmount);
  return {
    text: computed(() => shown.value.text),
    reasoning: computed(() => shown.value.reasoning),
    state: computed(() => shown.value.state),
    error: computed(() => shown.value.error),
    end: computed(() => shown.value.end),
    endReason: computed(() => shown.value.endReason),
    ask: store.ask,
    stop: store.stop,
    abort: store.abort,
  };
}

/** Every other attribute is the element's. */
export interface TideCursorProps {
  /** The stream's; "", the default: nothing is shown. */
  readonly state?: StreamState | "" | undefined;
  /** Id of the element whose aria-busy it is; default: the parent. */
  readonly for?: string | undefined;
}

/** `<tide-cursor>`, defined once one is mounted. Its looks are tidemark/cursor.css's. */
export const TideCursor = defineComponent({
  name: "TideCursor",
  props: { state: String, for: String },
  setup(props) {
    onMounted(() => void import("../cursor/cursor.js"));
    return () => h("tide-cursor", { "aria-hidden": "true", state: props.state ?? "", for: props.for });
  },
}) as unknown as DefineComponent<TideCursorProps>;
