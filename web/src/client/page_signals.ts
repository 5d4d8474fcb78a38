// What the page knows about its connection and its visibility. Without a page (Node, some workers): nothing.

export interface PageListener {
  /** A good moment for a retry that waits. */
  wake(): void;
  hidden(hidden: boolean): void;
}

const isHidden = () => typeof document !== "undefined" && document.visibilityState === "hidden";

/** Tells `listener` how things are now and whenever they change, until the returned function is called. */
export function watchPage(listener: PageListener): () => void {
  if (typeof globalThis.addEventListener !== "function") return () => {};
  const wake = () => listener.wake();
  const visibility = () => {
    listener.hidden(isHidden());
    if (!isHidden()) listener.wake();
  };
  const page = typeof document === "undefined" ? undefined : document;
  globalThis.addEventListener("online", wake);
  globalThis.addEventListener("pageshow", wake);
  page?.addEventListener("visibilitychange", visibility);
  if (isHidden()) listener.hidden(true);
  return () => {
    globalThis.removeEventListener("online", wake);
    globalThis.removeEventListener("pageshow", wake);
    page?.removeEventListener("visibilitychange", visibility);
  };
}
