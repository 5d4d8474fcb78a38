// What the page knows about its connection and its visibility. Without a page (Node, some workers): nothing.

/** As far as the browser knows: what is asked for now would fail. */
export const isOffline = (): boolean => (globalThis as { readonly navigator?: Navigator }).navigator?.onLine === false;

export interface PageListener {
  /** A good moment for a retry that waits. */
  wake(): void;
  hidden(hidden: boolean): void;
}

/** Tells `listener` how things are now and whenever they change, until the returned function is called. */
export function watchPage(listener: PageListener): () => void {
  const page = (globalThis as { readonly document?: Document }).document;
  const isHidden = () => page?.visibilityState === "hidden";
  const wake = () => listener.wake();
  const watched: [EventTarget | undefined, string, () => void][] = [
    [globalThis, "online", wake],
    [globalThis, "pageshow", wake],
    [
      page,
      "visibilitychange",
      () => {
        listener.hidden(isHidden());
        if (!isHidden()) wake();
      },
    ],
  ];
  // Node's global object is no event target.
  for (const [target, name, hear] of watched) target?.addEventListener?.(name, hear);
  if (isHidden()) listener.hidden(true);
  return () => {
    for (const [target, name, hear] of watched) target?.removeEventListener?.(name, hear);
  };
}
