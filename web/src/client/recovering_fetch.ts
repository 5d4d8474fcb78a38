// createRecoveringFetch(): a drop-in fetch. Streaming POSTs come back as one unbroken body; all else passes through.
import { checkOptions } from "../checks.js";
import { crossOriginHint, resolved } from "./address.js";
import { concatenated, readAtMost } from "./bytes.js";
import { fetchOf, recoveryRules, type FetchFunction, type RecoveryOptions } from "./options.js";
import { ensureIdempotencyKey, parseObject, RequestTemplate, textOf, type RequestSettings } from "./request_template.js";
import { StreamDriver, type Failure } from "./stream_driver.js";

export type RecoveringFetchOptions = RecoveryOptions;

/** Throws a TypeError for an option that is not allowed. */
export function createRecoveringFetch(options: RecoveringFetchOptions = {}): FetchFunction {
  checkOptions("createRecoveringFetch", options, recoveryRules);
  const plainFetch = fetchOf(options);

  return async (input, init) => {
    const { template, signal, streaming, named, init: rest } = await taken(input, init);
    if (template === undefined) return plainFetch(input, rest);
    const { url, headers } = template;
    signal?.throwIfAborted();
    if (named && options.sendIdempotencyKey !== false) ensureIdempotencyKey(headers);
    if (streaming) return recover(template, options, signal);
    // Only the response tells whether it is a stream.
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      const response = await plainFetch(url.href, template.first(controller.signal));
      if (response.ok && isEventStream(response.headers.get("Content-Type"))) {
        return await recover(template, options, signal, { response, controller });
      }
      if (signal === undefined || response.body === null) return response;
      // Nothing else ends this body: the signal stays bound to it.
      signal.removeEventListener("abort", abort);
      signal.addEventListener("abort", abort, { once: true });
      return response;
    } catch (error) {
      signal?.removeEventListener("abort", abort);
      throw error instanceof TypeError ? withHint(error, error.message + crossOriginHint(url, headers)) : error;
    }
  };
}

interface Taken {
  /** undefined: not a POST, or its body can't be repeated; to be passed through with `init`. */
  readonly template?: RequestTemplate;
  readonly init: RequestInit | undefined;
  readonly signal?: AbortSignal | undefined;
  /** It asks for a stream (contract § 2.2), and for nothing else. */
  readonly streaming?: boolean;
  /** Its answer may be a stream, and the server can be expected to take a name for it. */
  readonly named?: boolean;
}

// A body that can be read only once is kept for repeating up to this size.
const maxKeptBytes = 1 << 20;

async function taken(input: RequestInfo | URL, init: RequestInit | undefined): Promise<Taken> {
  const request = input instanceof Request ? input : undefined;
  const url = resolved(request?.url ?? input);
  if ((init?.method ?? request?.method ?? "").toUpperCase() !== "POST" || url === undefined) return { init };
  const headers = new Headers(init?.headers ?? request?.headers);
  let body = init?.body ?? undefined;
  if (body instanceof Blob && body.type !== "" && !headers.has("Content-Type")) headers.set("Content-Type", body.type);
  const json = /\bjson\b/i.test(headers.get("Content-Type") ?? "");
  const fromRequest = body === undefined && request !== undefined;
  if (fromRequest || body instanceof ReadableStream || (body instanceof Blob && json)) {
    if (!json) return { init };
    let stream;
    if (body instanceof ReadableStream) {
      // Where this comes to nothing, the other branch is still whole.
      [stream, body] = body.tee();
      init = { ...init, body };
    } else {
      // Not every browser has a request's body as a stream.
      const copy = request?.clone();
      stream = fromRequest ? (copy!.body ?? (await copy!.blob()).stream()) : (body as Blob).stream();
    }
    const bytes = await readAtMost(maxKeptBytes, stream);
    if (bytes === undefined) return { init };
    body = bytes;
  } else if (typeof body === "object" && Symbol.asyncIterator in body) {
    // Node takes those, too.
    return { init };
  } else if (ArrayBuffer.isView(body)) {
    // The page may use its memory again.
    body = new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
  } else if (body instanceof ArrayBuffer) {
    body = new Uint8Array(body.slice());
  }
  const object = parseObject(textOf(body));
  const accept = headers.get("Accept");
  const streaming = object?.["stream"] === true || url.pathname.endsWith(":streamGenerateContent") || isEventStream(accept);
  const { body: _body, headers: _headers, signal, ...settings } = init ?? {};
  return {
    template: new RequestTemplate(url, { ...settingsOf(request), ...settings, method: "POST" }, headers, body),
    init,
    signal: signal ?? request?.signal ?? undefined,
    streaming,
    named: streaming || object !== undefined || /event-stream/i.test(accept ?? ""),
  };
}

function settingsOf(request: Request | undefined): RequestSettings {
  if (request === undefined) return {};
  const { credentials, mode, cache, redirect, referrer, referrerPolicy, integrity, keepalive } = request;
  return { credentials, mode, cache, redirect, referrer, referrerPolicy, integrity, keepalive };
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
  signal: AbortSignal | undefined,
  open?: { readonly response: Response; readonly controller: AbortController },
): Promise<Response> {
  return new Promise<Response>((resolve, reject) => {
    // undefined: no leg has been answered with a stream yet.
    let body: ReadableByteStreamController | undefined;
    let blocks: Uint8Array[] = [];
    // Lets the network go on; there while it waits for the reader.
    let pulled: (() => void) | undefined;

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
        const source = {
          start: (controller: ReadableByteStreamController) => {
            body = controller;
          },
          pull: () => {
            pulled?.();
            pulled = undefined;
          },
          cancel: () => {
            driver.abort();
            over();
          },
        };
        // A stream of bytes as fetch's own is, where there are such.
        const stream =
          typeof ReadableByteStreamController === "undefined"
            ? new ReadableStream(source as object, new ByteLengthQueuingStrategy({ highWaterMark }))
            : new ReadableStream({ ...source, type: "bytes" }, { highWaterMark });
        resolve(withBody(response, stream as ReadableStream<Uint8Array>));
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
        else body.error(failure.error);
      },
    });
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
  const headers = new Headers(first.headers);
  // These spoke of the leg's body.
  headers.delete("Content-Length");
  headers.delete("Content-Encoding");
  const response = new Response(body, { status: first.status, statusText: first.statusText, headers });
  Object.defineProperty(response, "url", { value: first.url });
  return response;
}
