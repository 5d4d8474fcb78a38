// createRecoveringFetch(): a drop-in fetch. Streaming POSTs come back as one unbroken body; all else passes through.
import { checkOptions } from "../checks.js";
import { crossOriginHint } from "./address.js";
import { concatenated, readAtMost } from "./bytes.js";
import { keptAnswer, type KeptAnswer } from "./kept_answer.js";
import { fetchOf, recoveryRules, type FetchFunction, type RecoveryOptions } from "./options.js";
import { ensureIdempotencyKey, parseObject, RequestTemplate, textOf } from "./request_template.js";
import { StreamDriver, type Failure } from "./stream_driver.js";

/** Of createRecoveringFetch(). */
export type RecoveringFetchOptions = RecoveryOptions;

/**
 * A drop-in `fetch`: a streaming POST comes back as one unbroken body, everything else passes through. Throws a TypeError
 * for an option that is not allowed. What can't be healed is told as `fetch` would: before there is a response, the last
 * refusal is the response and the last network error is thrown; after that the body fails with a TidemarkError.
 */
export function createRecoveringFetch(options: RecoveringFetchOptions = {}): FetchFunction {
  checkOptions("createRecoveringFetch", options, recoveryRules);
  const plainFetch = fetchOf(options);

  return async (input, init) => {
    const { template, signal = null, streaming, named, passed } = await taken(input, init);
    if (template === undefined) return plainFetch(...passed!);
    const { url, headers } = template;
    signal?.throwIfAborted();
    const kept = streaming ? keptAnswer(options, template) : undefined;
    if (named && options.sendIdempotencyKey !== false) ensureIdempotencyKey(headers, kept?.found?.[0]);
    if (streaming) return recover(template, options, signal, kept);
    try {
      const response = await plainFetch(...template.fetchCall(signal));
      // Only the response tells whether it is a stream.
      const stream = response.ok && isEventStream(response.headers.get("Content-Type"));
      return stream ? await recover(template, options, signal, undefined, response) : response;
    } catch (error) {
      throw error instanceof TypeError ? withHint(error, error.message + crossOriginHint(url, headers)) : error;
    }
  };
}

interface Taken {
  /** No POST, or its body can't be repeated: to be made as it is. */
  readonly passed?: Parameters<FetchFunction>;
  readonly template?: RequestTemplate;
  readonly signal?: AbortSignal | null;
  /** It asks for a stream (contract § 2.2), and for nothing else. */
  readonly streaming?: boolean;
  /** Its answer may be a stream, and the server can be expected to take a name for it. */
  readonly named?: boolean;
}

// What is not there as text or bytes is kept for repeating up to this size.
const maxKeptBytes = 1 << 20;

async function taken(input: RequestInfo | URL, given?: RequestInit | null): Promise<Taken> {
  const init = given ?? {};
  const request = input instanceof Request ? input : undefined;
  if ((init.method ?? request?.method)?.toUpperCase() !== "POST") return { passed: [input, init] };
  const { body: sent, headers: _headers, signal = request?.signal ?? null, ...settings } = init;
  const whole = new Request(input, init);
  const headers = new Headers(whole.headers);
  let body = sent;
  if (typeof body !== "string") {
    const known = body ? !("duplex" in init) : !request;
    let bytes;
    // A stream that is no JSON may be an upload that takes its time.
    if (known || /\bjson\b/i.test(headers.get("Content-Type") ?? "")) {
      const copy = whole.clone();
      const max = body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? Infinity : maxKeptBytes;
      // Not every browser has a request's body as a stream.
      bytes = await readAtMost(max, copy.body ?? (await copy.blob()).stream());
    }
    if (bytes === undefined) return { passed: [whole, settings] };
    body = bytes;
  }
  const url = new URL(whole.url);
  const object = parseObject(textOf(body));
  const accept = headers.get("Accept");
  const streaming = object?.["stream"] === true || url.pathname.endsWith(":streamGenerateContent") || isEventStream(accept);
  return {
    template: new RequestTemplate(request ?? url.href, url, settings, headers, body),
    signal,
    streaming,
    named: streaming || object !== undefined || /event-stream/i.test(accept ?? ""),
  };
}

const isEventStream = (type: string | null): boolean => /^\s*text\/event-stream\s*(;|$)/i.test(type ?? "");

/** fetch's own error, unless there is more to say. */
const withHint = (error: Error, message: string): Error =>
  message === error.message ? error : new TypeError(message, { cause: error });

// So many bytes wait for the reader before the network does.
const highWaterMark = 64 << 10;

function recover(
  template: RequestTemplate,
  options: RecoveryOptions,
  signal: AbortSignal | null,
  kept: KeptAnswer | undefined,
  open?: Response,
): Promise<Response> {
  return new Promise<Response>((resolve, reject) => {
    // undefined: no leg has been answered with a stream yet.
    let body: ReadableByteStreamController | undefined;
    let blocks: Uint8Array[] = [];
    // Lets the network go on, once it has waited for the reader.
    let pulled: (() => unknown) | undefined;

    const onAbort = () => {
      driver.abort();
      over();
      const reason: unknown = signal?.reason;
      if (body === undefined) reject(reason as Error);
      else body.error(reason);
    };
    const over = () => {
      signal?.removeEventListener("abort", onAbort);
      pulled?.();
    };

    const close = () => {
      body?.close();
      // A reader that waits with a buffer of its own is not woken by close() alone.
      body?.byobRequest?.respond(0);
    };

    const driver = new StreamDriver(template, options, {
      opened(response) {
        if (body !== undefined) return;
        // A stream of bytes as fetch's own is, where there are such.
        const isOfBytes = typeof ReadableByteStreamController !== "undefined";
        const source = {
          type: isOfBytes ? "bytes" : undefined,
          start: (controller: ReadableByteStreamController) => {
            body = controller;
          },
          pull: () => pulled?.(),
          cancel: () => {
            driver.abort();
            over();
          },
        };
        const size = isOfBytes ? undefined : (chunk: Uint8Array) => chunk.length;
        const stream = new ReadableStream(source as object, { highWaterMark, size } as QueuingStrategy);
        resolve(withBody(response, stream));
      },
      event: ({ bytes }) => void blocks.push(bytes),
      flushed() {
        if (blocks.length > 0) body?.enqueue(concatenated(blocks));
        blocks = [];
      },
      roomForMore: () =>
        (body?.desiredSize ?? 1) > 0
          ? undefined
          : new Promise((room) => {
              pulled = room;
            }),
      finished() {
        over();
        close();
      },
      failed(failure) {
        over();
        if (body === undefined) return settle(failure, resolve, reject);
        // The stream has said itself what happened: it ends as the server ended it.
        if (failure.inBand) close();
        else {
          // An error would empty the queue: it waits until what has come is read.
          pulled = () => body!.desiredSize === highWaterMark && body!.error(failure.error);
          pulled();
        }
      },
    }, kept);
    signal?.addEventListener("abort", onAbort);
    driver.start(open);
  });
}

/** Before a response: what fetch would have done. */
function settle(failure: Failure, resolve: (response: Response) => void, reject: (error: unknown) => void): void {
  const { response, thrown, error } = failure;
  if (response !== undefined) resolve(response);
  else reject(error.code === "network_error" && thrown instanceof Error ? withHint(thrown, error.message) : error);
}

/** The head of the first good leg, before a body of its own. */
function withBody(first: Response, body: ReadableStream<Uint8Array>): Response {
  const response = new Response(body, first);
  // These spoke of the leg's body.
  response.headers.delete("Content-Length");
  response.headers.delete("Content-Encoding");
  return asOf(first, response);
}

/** What a Response made by a script does not have by itself, nor its clones. */
function asOf({ url, redirected, type }: Pick<Response, "url" | "redirected" | "type">, response: Response): Response {
  const facts = { url, redirected, type };
  const clone = () => asOf(facts, Response.prototype.clone.call(response));
  for (const [name, value] of Object.entries({ ...facts, clone })) Object.defineProperty(response, name, { value });
  return response;
}
