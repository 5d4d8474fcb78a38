// Compiled, not run: the React adapter as a user meets it, under the types of React 18 and of React 19.
import { useEffect, useRef, type ReactElement } from "react";
import type { EndState, StreamState, TidemarkError } from "tidemark";
import { TideCursor, useRecoveredStream, type RecoveredStream } from "tidemark/react";
import * as inline from "tidemark/inline/react";

export const same: typeof inline = { TideCursor, useRecoveredStream };

export function Answer({ question }: { question: string }): ReactElement {
  const cursor = useRef<HTMLElement>(null);
  const answer: RecoveredStream = useRecoveredStream("https://example.test/", {
    headers: { Authorization: "Bearer x" },
    maxRetries: 2,
    onEvent: (event) => event.data.length,
    onFinish: ({ text, end }) => [text.length, end === "complete"],
    onError: ({ status }) => status?.toFixed(),
  });
  const { text, reasoning, ask, stop, abort } = answer;
  const state: StreamState | undefined = answer.state;
  const error: TidemarkError | undefined = answer.error;
  const end: EndState | undefined = answer.end;
  useEffect(() => {
    void ask({ stream: true, question }, { signal: new AbortController().signal }).then(({ text }) => text.length);
  }, [ask, question]);
  // @ts-expect-error: no such option
  useRecoveredStream("https://example.test/", { maxRetry: 1 });
  // @ts-expect-error: no such state
  void (<TideCursor state="ebbing" />);
  // @ts-expect-error: no such state
  void (<tide-cursor state="ebbing" />);
  return (
    <p onClick={() => void stop()} onBlur={abort} title={end ?? error?.code}>
      {text.length + reasoning.length}
      <TideCursor ref={cursor} className="mine" state={state} for="root" style={{ color: "teal" }} />
      <TideCursor />
      <tide-cursor state={state} />
    </p>
  );
}
