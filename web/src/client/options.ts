// What can be set, what is allowed, and what is reported: contract § 8's table.
import type { EventAction, RetryAction, SeamAction, StreamState } from "../engine/actions.js";
import { dialects, resumeModes, type DialectName, type ResumeMode } from "../engine/recoverer.js";

/** An event of the answer: each exactly once and in order, whatever happened underneath. */
export type StreamEvent = Omit<EventAction, "type">;
export type Seam = Omit<SeamAction, "type">;
export type Retry = Omit<RetryAction, "type">;

export type FetchFunction = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

export interface RecoveryOptions {
  /** Consecutive attempts without progress; progress fills it up again. Default 4. */
  readonly maxRetries?: number | undefined;
  /** The first retry after progress comes after 0 to this many milliseconds. Default 100. */
  readonly firstRetryDelayMs?: number | undefined;
  /** Further retries: min(base · factor^attempt + U(0, jitter), max). Defaults 1000, 1.8, 400, 8000. */
  readonly baseDelayMs?: number | undefined;
  readonly factor?: number | undefined;
  readonly jitterMs?: number | undefined;
  readonly maxDelayMs?: number | undefined;
  /** A leg without a byte for so long is lost; 0: never. Not judged while the page is hidden. Default 20000. */
  readonly heartbeatTimeoutMs?: number | undefined;
  /** A Retry-After longer than this makes the error final. Default 10000. */
  readonly maxRetryAfterMs?: number | undefined;
  /** A larger event ends the stream: `event_too_large`. Default 4 MiB. */
  readonly maxEventBytes?: number | undefined;
  readonly dialect?: DialectName | "auto" | undefined;
  /** By what a lost leg is resumed; `auto`: by what the response showed. */
  readonly resume?: ResumeMode | undefined;
  /** What requests are made with, in place of the global `fetch`. */
  readonly fetch?: FetchFunction | undefined;
  readonly onState?: ((state: StreamState) => void) | undefined;
  readonly onSeam?: ((seam: Seam) => void) | undefined;
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

const largest = 2 ** 31 - 1;

interface Rule {
  readonly allowed: string;
  readonly accepts: (value: unknown) => boolean;
}

const numberFrom = (least: number, whole: boolean): Rule => ({
  allowed: `${whole ? "a whole number" : "a number"} from ${least} to ${largest}`,
  accepts: (value) =>
    typeof value === "number" && value >= least && value <= largest && (!whole || Number.isInteger(value)),
});
const oneOf = (...names: string[]): Rule => ({
  allowed: names.join(", "),
  accepts: (value) => names.includes(value as string),
});
const aFunction: Rule = { allowed: "a function", accepts: (value) => typeof value === "function" };

const rules: Readonly<Record<keyof RecoveryOptions, Rule>> = {
  maxRetries: numberFrom(0, true),
  firstRetryDelayMs: numberFrom(0, false),
  baseDelayMs: numberFrom(0, false),
  factor: numberFrom(1, false),
  jitterMs: numberFrom(0, false),
  maxDelayMs: numberFrom(0, false),
  heartbeatTimeoutMs: numberFrom(0, false),
  maxRetryAfterMs: numberFrom(0, false),
  maxEventBytes: numberFrom(1, true),
  dialect: oneOf("auto", ...dialects),
  resume: oneOf(...resumeModes),
  fetch: aFunction,
  onState: aFunction,
  onSeam: aFunction,
  onRetry: aFunction,
};

/** Throws a TypeError that names the field, its value and what is allowed. `others` are the caller's own fields. */
export function checkOptions(where: string, options: object, others: readonly string[] = []): void {
  for (const [name, value] of Object.entries(options)) {
    if (others.includes(name)) continue;
    if (!Object.hasOwn(rules, name)) {
      throw new TypeError(`${where}: unknown option ${name}; allowed: ${[...others, ...Object.keys(rules)].join(", ")}`);
    }
    const rule = rules[name as keyof RecoveryOptions];
    if (value !== undefined && !rule.accepts(value)) {
      throw new TypeError(`${where}: ${name} is ${shown(value)}; allowed: ${rule.allowed}`);
    }
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : typeof value === "object" ? Object.prototype.toString.call(value) : String(value);
}

/** The URL in full. Throws a TypeError where it is none, or relative with no page that it could be relative to. */
export function resolveUrl(where: string, url: string | URL): URL {
  const base = (globalThis as { location?: { href?: string } }).location?.href;
  try {
    return new URL(url, base);
  } catch {
    throw new TypeError(`${where}: url is "${url}"; allowed: an absolute URL, or in a page one relative to it`);
  }
}
