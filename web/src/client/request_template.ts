// The page's request, kept so that it can be made again, with what a resume adds.
import type { ConnectAction } from "../engine/actions.js";
import { encoder } from "../engine/utf8.js";
import type { FetchFunction } from "./options.js";

/** Everything but the body, the headers and the signal, which differ from leg to leg. */
export type RequestSettings = Omit<RequestInit, "body" | "headers" | "signal">;

/** Can be sent again and again. */
export type RepeatableBody = Exclude<BodyInit, ReadableStream>;

export class RequestTemplate {
  readonly url: URL;
  // What fetch is given: the URL, or the Request whose other settings count.
  readonly #target: string | Request;
  readonly settings: RequestSettings;
  readonly headers: Headers;
  readonly #body: RepeatableBody | undefined;

  constructor(
    target: string | Request,
    url: URL,
    settings: RequestSettings,
    headers: Headers,
    body: RepeatableBody | undefined,
  ) {
    this.#target = target;
    this.url = url;
    this.settings = settings;
    this.headers = headers;
    this.#body = body;
  }

  /** undefined where the body is no text. */
  get text(): string | undefined {
    return this.#body === undefined ? "" : textOf(this.#body);
  }

  /** Where the server has an answer by its name (contract § 3.2). */
  streamUrl(stream: string): string {
    return new URL(`/tidemark/streams/${encodeURIComponent(stream)}`, this.url).href;
  }

  /** What follows the answer that this request has begun, from its first event; refused where it is gone. */
  follow(stream: string, epoch: string): RequestTemplate {
    const headers = new Headers(this.headers);
    headers.delete("Idempotency-Key");
    headers.delete("Content-Type");
    headers.set("Accept", "text/event-stream");
    headers.set("X-Resume-Seq", "-1");
    headers.set("Tidemark-Epoch", epoch);
    const { credentials } = this.#target as Request;
    const settings = { credentials, ...this.settings, method: "GET" } as RequestSettings;
    return new RequestTemplate(this.streamUrl(stream), this.url, settings, headers, undefined);
  }

  /** As the page made it, with what a resume adds. */
  fetchCall(signal: AbortSignal | null, resume?: ConnectAction): Parameters<FetchFunction> {
    const headers = new Headers(this.headers);
    for (const [name, value] of Object.entries(resume?.headers ?? {})) headers.set(name, byteString(value));
    const body = resume?.bodyFields ? withFields(this.#body, resume.bodyFields) : this.#body;
    return [this.#target, { ...this.settings, headers, signal, body: body ?? null }];
  }
}

/** Headers hold bytes, one a character: an id is sent in UTF-8, as browsers send it. */
const byteString = (text: string): string =>
  Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("");

/** The fields become the last ones; the rest of the text, big numbers and repeated names included, stays as it is. */
function withFields(body: RepeatableBody | undefined, fields: object): RepeatableBody | undefined {
  const text = textOf(body);
  if (parseObject(text) === undefined) return body;
  const end = text!.lastIndexOf("}");
  const before = text!.slice(0, end);
  const joint = /^\s*\{\s*$/.test(before) ? "" : ",";
  const whole = before + joint + JSON.stringify(fields).slice(1) + text!.slice(end + 1);
  // A string would be given a Content-Type of its own where there is none.
  return typeof body === "string" ? whole : encoder.encode(whole);
}

/** undefined where the body is no text, or bytes that are none. */
export function textOf(body: RepeatableBody | undefined): string | undefined {
  try {
    return body instanceof Uint8Array ? new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body) : typeof body === "string" ? body : undefined;
  } catch {
    return undefined;
  }
}

/** undefined where there is no text, or where it is no JSON object. */
export function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text!);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Gives the answer a name, so that making the request again attaches to it instead of asking twice (contract § 3.1). */
export function ensureIdempotencyKey(headers: Headers, known?: string): void {
  if (headers.has("Idempotency-Key")) return;
  // Not randomUUID, which is there in secure contexts only.
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  headers.set("Idempotency-Key", known ?? digits.join(""));
}
