// Where a request goes, as the page sees it.
import { check } from "../checks.js";

/** The URL in full. Throws a TypeError for what fetch could make no request of. */
export function resolveUrl(where: string, url: string | URL): URL {
  let whole: URL | undefined;
  try {
    whole = new URL(new Request(url).url);
  } catch {
    // Relative without a page, or with credentials.
  }
  check(where, "url", url, [
    "an http or https URL, relative in pages only, without credentials",
    () => (typeof url === "string" || url instanceof URL) && /^http/.test(whole?.protocol ?? ""),
  ]);
  return whole!;
}

/** What may have been wrong with a request that got no response: "" within the page's own origin. */
export function crossOriginHint(url: URL, headers: Headers): string {
  const { location }: { readonly location?: { readonly origin?: string } } = globalThis;
  if (!location?.origin || location.origin === url.origin) return "";
  const key = headers.has("Idempotency-Key") ? " and the header Idempotency-Key (else: sendIdempotencyKey: false)" : "";
  return `; does ${url.origin} allow this origin${key}?`;
}
