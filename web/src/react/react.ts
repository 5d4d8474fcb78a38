/** React 18 and 19: an answer as a hook, and the cursor as a component. @module tidemark/react */
"use client";
import {
  createElement,
  forwardRef,
  useEffect,
  useInsertionEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type ForwardRefExoticComponent,
  type HTMLAttributes,
  type RefAttributes,
} from "react";
import {
  StreamStore,
  type RecoveredStreamActions,
  type RecoveredStreamOptions,
  type RecoveredStreamState,
  type Settings,
} from "../adapters/stream_store.js";
import type { StreamState } from "../index.js";

export type { AskOptions, RecoveredStreamActions, RecoveredStreamOptions, RecoveredStreamState } from "../adapters/stream_store.js";

/** What useRecoveredStream() gives: the same object until something has changed. */
export interface RecoveredStream extends RecoveredStreamState, RecoveredStreamActions {}

/**
 * Answers of one URL, one at a time. Requests nothing before ask(). Renders at most once a frame. What is asked before the
 * component is mounted is sent once it is; unmounting leaves the answer.
 */
export function useRecoveredStream(url: string | URL, options: RecoveredStreamOptions = {}): RecoveredStream {
  const latest = useRef<Settings>({ url, options });
  useInsertionEffect(() => {
    latest.current = { url, options };
  });
  const [store] = useState(() => new StreamStore(() => latest.current));
  const shown = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot);
  useEffect(store.mount, [store]);
  return useMemo(() => ({ ...shown, ask: store.ask, stop: store.stop, abort: store.abort }), [shown, store]);
}

/** Every other attribute is the element's. */
declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      /** The element itself, of `tidemark/cursor`. */
      "tide-cursor": TideCursorProps & RefAttributes<HTMLElement>;
    }
  }
}

/** Of `<TideCursor>`, and of the element itself. */
export interface TideCursorProps extends HTMLAttributes<HTMLElement> {
  /** The stream's; "", the default: nothing is shown. */
  readonly state?: StreamState | "" | undefined;
  /** Id of the element whose aria-busy it is; default: the parent. */
  readonly for?: string | undefined;
}

/** `<tide-cursor>`, defined once one is mounted. Its looks are tidemark/cursor.css's. */
export const TideCursor: ForwardRefExoticComponent<TideCursorProps & RefAttributes<HTMLElement>> = forwardRef<
  HTMLElement,
  TideCursorProps
>(function TideCursor({ state = "", className, ...rest }, ref) {
  useEffect(() => void import("../cursor/cursor.js"), []);
  // React 18 takes `class` alone for such an element.
  const own = className === undefined ? {} : { class: className };
  return createElement("tide-cursor", { "aria-hidden": "true", ...rest, ...own, state, ref });
});
