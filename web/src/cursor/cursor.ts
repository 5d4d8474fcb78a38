// <tide-cursor state="…">: the caret at the end of an answer. Importing this module defines the element.
//
// How it looks is cursor.css's. It says nothing to a screen reader; only the element that it is bound to (the one that
// its `for` attribute names by id, else its parent) carries aria-busy while an answer is under way.
import type { StreamState } from "../engine/actions.js";

const busyStates: readonly string[] = ["handshaking", "streaming", "compensating", "merging"] satisfies StreamState[];

// During server-side rendering there is no HTMLElement; the class is then never used.
const Base = typeof HTMLElement === "undefined" ? (class {} as typeof HTMLElement) : HTMLElement;

export class TideCursor extends Base {
  static readonly observedAttributes = ["state", "for"];

  // The element whose aria-busy is this cursor's.
  #bound: Element | undefined;

  get state(): StreamState | "" {
    return (this.getAttribute("state") ?? "") as StreamState | "";
  }
  set state(state: StreamState | "") {
    this.setAttribute("state", state);
  }

  connectedCallback(): void {
    this.setAttribute("aria-hidden", "true");
    this.#bind();
  }
  disconnectedCallback(): void {
    this.#release();
  }
  attributeChangedCallback(): void {
    if (this.isConnected) this.#bind();
  }

  #bind(): void {
    const id = this.getAttribute("for");
    const host = (id === null ? this.parentElement : (this.getRootNode() as Document).getElementById(id)) ?? undefined;
    if (host !== this.#bound) this.#release();
    this.#bound = host;
    host?.setAttribute("aria-busy", String(busyStates.includes(this.state)));
  }

  #release(): void {
    this.#bound?.removeAttribute("aria-busy");
    this.#bound = undefined;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "tide-cursor": TideCursor;
  }
}

if (typeof customElements !== "undefined" && customElements.get("tide-cursor") === undefined) {
  customElements.define("tide-cursor", TideCursor);
}
