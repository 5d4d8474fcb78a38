/**
 * `<tide-cursor state="…">`: the caret at the end of an answer. Importing this module defines the element.
 *
 * How it looks is cursor.css's. It says nothing to a screen reader; only the element that it is bound to (the one that
 * its `for` attribute names by id, else its parent, or the host of the shadow root that it is in) carries aria-busy
 * while an answer is under way.
 *
 * @module tidemark/cursor
 */
import type { StreamState } from "../engine/actions.js";

const busyStates: readonly string[] = ["handshaking", "streaming", "compensating", "merging"] satisfies StreamState[];

// During server-side rendering there is no HTMLElement; the class is then never used.
const Base = typeof HTMLElement === "undefined" ? (class {} as typeof HTMLElement) : HTMLElement;

interface Host {
  readonly cursors: Set<TideCursor>;
  /** Its aria-busy without them: the page's own. */
  readonly before: string | null;
  /** What they made of it; where it is something else now, that is the page's again. */
  shown: string | null;
}
const hosts = new WeakMap<Element, Host>();

/** The element. Its attributes: `state`, and `for`, the id of the element that it is bound to. */
export class TideCursor extends Base {
  /** @internal */
  static readonly observedAttributes = ["state", "for"];

  // The element whose aria-busy is this cursor's, too.
  #bound: Element | undefined;

  /** The stream's state, as the attribute; "" where there is none: then nothing is shown. */
  get state(): StreamState | "" {
    return (this.getAttribute("state") ?? "") as StreamState | "";
  }
  /** Sets the attribute. */
  set state(state: StreamState | "") {
    this.setAttribute("state", state);
  }

  /** @internal */
  connectedCallback(): void {
    // Set before the element was defined, it would hide the accessor for good.
    if (Object.hasOwn(this, "state")) {
      const { state } = this;
      delete (this as { state?: unknown }).state;
      this.state = state;
    }
    this.setAttribute("aria-hidden", "true");
    this.#bind();
  }
  /** @internal */
  disconnectedCallback(): void {
    this.#release();
  }
  /** @internal */
  attributeChangedCallback(): void {
    if (this.isConnected) this.#bind();
  }

  #bind(): void {
    const id = this.getAttribute("for");
    const root = this.getRootNode() as ShadowRoot;
    const element = (id === null ? (this.parentElement ?? root.host) : root.getElementById(id)) ?? undefined;
    if (element !== this.#bound) this.#release();
    this.#bound = element;
    if (element === undefined) return;
    let host = hosts.get(element);
    if (host === undefined) {
      const before = element.getAttribute("aria-busy");
      hosts.set(element, (host = { cursors: new Set(), before, shown: before }));
    }
    host.cursors.add(this);
    show(element, host);
  }

  #release(): void {
    const element = this.#bound;
    const host = element && hosts.get(element);
    this.#bound = undefined;
    if (!host) return;
    host.cursors.delete(this);
    show(element, host);
  }
}

/** Busy while any of its cursors is. */
function show(element: Element, host: Host): void {
  const { cursors, before } = host;
  const busy = [...cursors].some(({ state }) => busyStates.includes(state));
  if (cursors.size === 0) {
    hosts.delete(element);
    if (element.getAttribute("aria-busy") !== host.shown) return;
  }
  host.shown = busy ? "true" : cursors.size > 0 ? (before ?? "false") : before;
  if (host.shown === null) element.removeAttribute("aria-busy");
  else element.setAttribute("aria-busy", host.shown);
}

declare global {
  interface HTMLElementTagNameMap {
    "tide-cursor": TideCursor;
  }
}

if (typeof customElements !== "undefined" && customElements.get("tide-cursor") === undefined) {
  customElements.define("tide-cursor", TideCursor);
}
