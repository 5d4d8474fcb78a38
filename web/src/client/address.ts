// Where a request goes, as the page sees it.
import { check, type Rule } from "../checks.js";

const surroundings: {
  readonly document?: { readonly baseURI?: string };
  readonly location?: { readonly href?: string; readonly origin?: string };
} = globalThis;

const anAddress: Rule = [
  "an absolute http or https URL without credentials, or in a page one relative to it",
  (url) => resolved(url) !== undefined,
];

/** Throws a TypeError for what fetch could make no request of. */
export function resolveUrl(where: string, url: unknown): URL {
  check(where, "url", url, anAddress);
  return resolved(url)!;
}

/** undefined: fetch could make no request of it. */
export function resolved(url: unknown): URL | undefined {
  try {
    if (typeof url !== "string" && !(url instanceof URL)) return undefined;
    const { document, location } = surroundings;
    const whole = new URL(url, document?.baseURI ?? location?.href);
    return /^https?:$/.test(whole.protocol) && whole.username + whole.password === "" ? whole : undefined;
  } catch {
    return undefined;
  }
}

/** What may have been wrong with a request that got no response: "" within the page's own origin. */
export function crossOriginHint(url: URL, headers: Headers): string {
  const { location } = surroundings;
  if (location?.origin === undefined || location.origin === url.origin) return "";
  const key = headers.has("Idempotency-Key")
    ? ", or not the request header Idempotency-Key (sendIdempotencyKey: false leaves it out)"
    : "";
  return `; ${url.origin} may not allow requests from this origin${key}`;
}
