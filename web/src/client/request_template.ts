// The page's request, kept so that it can be made again, with what a resume adds.
import type { ConnectAction } from "../engine/actions.js";

/** Everything but the body, the headers and the signal, which differ from leg to leg. */
export type RequestSettings = Omit<RequestInit, "body" | "headers" | "signal">;

export class RequestTemplate {
  readonly url: URL;
  readonly settings: RequestSettings;
  readonly headers: Headers;
  // Sent again and again: never a stream.
  readonly #body: Exclude<BodyInit, ReadableStream> | undefined;

  constructor(url: URL, settings: RequestSettings, headers: Headers, body: Exclude<BodyInit, ReadableStream> | undefined) {
    this.url = url;
    this.settings = settings;
    this.headers = headers;
    this.#body = body;
  }

  /** As the page made it. */
  first(signal: AbortSignal): RequestInit {
    return this.#init(new Headers(this.headers), this.#body, signal);
  }

  forLeg(action: ConnectAction, signal: AbortSignal): RequestInit {
    const headers = new Headers(this.headers);
    for (const [name, value] of Object.entries(action.headers)) headers.set(name, value);
    let body = this.#body;
    if (action.bodyFields !== undefined && typeof body === "string") body = withFields(body, action.bodyFields);
    return this.#init(headers, body, signal);
  }

  #init(headers: Headers, body: Exclude<BodyInit, ReadableStream> | undefined, signal: AbortSignal): RequestInit {
    return body === undefined ? { ...this.settings, headers, signal } : { ...this.settings, headers, body, signal };
  }
}

function withFields(body: string, fields: object): string {
  const value = parseObject(body);
  return value === undefined ? body : JSON.stringify({ ...value, ...fields });
}

/** undefined where the text is no JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Gives the answer a name, so that making the request again attaches to it instead of asking twice (contract § 3.1). */
export function ensureIdempotencyKey(headers: Headers): void {
  if (!headers.has("Idempotency-Key")) headers.set("Idempotency-Key", randomKey());
}

function randomKey(): string {
  // randomUUID is there in secure contexts only.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
