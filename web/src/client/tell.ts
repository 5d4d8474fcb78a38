// A page's listeners, and what becomes of their errors.

/** A listener that throws must not break the stream: its error is reported as an event listener's would be. */
export function tell<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
