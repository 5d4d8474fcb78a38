// How long a response asks to wait: core/retry/retry_after.hpp, with the platform's calendar.

const decimal = /^\d+(\.\d*)?$/;

/** Milliseconds, rounded up; NaN where it does not ask. A date that is none may be taken for the one that it runs over to. */
export function retryAfter(headers: Pick<Headers, "get">, now: number): number {
  const [milliseconds, seconds] = ["-ms", ""].map((suffix) => headers.get("retry-after" + suffix)?.trim() ?? "");
  const wait = decimal.test(milliseconds!)
    ? Number(milliseconds)
    : decimal.test(seconds!)
      ? Number(seconds) * 1e3
      : // The asctime form names no zone, and is in GMT, too.
        Math.max(0, /^[A-Z]/.test(seconds!) ? Date.parse(seconds!.replace(/( GMT)?$/, " GMT")) - now : NaN);
  return Math.ceil(Math.min(wait, 2 ** 52));
}
