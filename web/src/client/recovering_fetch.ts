// createRecoveringFetch(): a drop-in fetch. Streaming POSTs come back as one unbroken body; all else passes through.
import { checkOptions, resolveUrl, type FetchFunction, type RecoveryOptions } from "./options.js";
import { ensureIdempotencyKey, parseObject, RequestTemplate, type RequestSettings } from "./request_template.js";
import { StreamDriver, type Failure } from "./stream_driver.js";

export type RecoveringFetchOptions = RecoveryOptions;

/** Throws a TypeError for an option that is not allowed. */
export function createRecoveringFetch(options: RecoveringFetchOptions = {}): FetchFunction {
  checkOptions("createRecoveringFetch", options);
  const plainFetch: FetchFunction = options.fetch ?? ((input, init) => globalThis.fetch(input, init));

  return async (input, init) => {
    const request = await repeatable(input, init);
    if (request === undefined) return plainFetch(input, init);
    const { template, signal, streaming } = request;
    signal?.throwIfAborted();
    if (streaming) {
      ensureIdempotencyKey(template.headers);
      return recover(template, options, signal);
    }
    // Only the response tells whether it is a stream.
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      const response = await plainFetch(template.url.href, template.first(controller.signal));
      if (isEventStream(response)) return await recover(template, options, signal, { response, controller });
      if (signal === undefined || response.body === null) return response;
      // Nothing else ends this body: the signal stays bound to it.
      signal.removeEventListener("abort", abort);
      signal.addEventListener("abort", abort, { once: true });
      return response;
    } catch (error) {
      signal?.removeEventListener("abort", abort);
      throw error;
    }
  };
}

interface RepeatableRequest {
  readonly template: RequestTemplate;
  readonly signal: AbortSignal | undefined;
  /** It asks for a stream (contract § 2.2). */
  readonly streaming: boolean;
}

/** undefined: not a POST, or its body can be sent only once. */
async function repeatable(input: RequestInfo | URL, init: RequestInit | undefined): Promise<RepeatableRequest | undefined> {
  const request = input instanceof Request ? input : undefined;
  if ((init?.method ?? request?.method ?? "GET").toUpperCase() !== "POST") return undefined;
  const headers = new Headers(init?.headers ?? request?.headers);
  let body = init?.body ?? undefined;
  if (body === undefined && request !== undefined) {
    if (!/\bjson\b/i.test(headers.get("Content-Type") ?? "")) return undefined;
    // A copy is read: where this comes to nothing, the request itself is still whole.
    body = await request.clone().text();
  }
  if (body instanceof ReadableStream) return undefined;
  if (isBytes(body)) {
    const text = utf8(body);
    if (text === undefined) return undefined;
    body = text;
  }
  const url = resolveUrl("fetch", request?.url ?? (input as string | URL));
  const { body: _body, headers: _headers, signal: ownSignal, ...settings } = init ?? {};
  return {
    template: new RequestTemplate(url, { ...settingsOf(request), ...settings, method: "POST" }, headers, body),
    signal: ownSignal ?? request?.signal ?? undefined,
    streaming:
      url.pathname.endsWith(":streamGenerateContent") ||
      (typeof body === "string" && parseObject(body)?.["stream"] === true),
  };
}

const isBytes = (body: unknown): body is ArrayBuffer | ArrayBufferView =>
  body instanceof ArrayBuffer || ArrayBuffer.isView(body);

/** undefined where the bytes are no text. */
function utf8(bytes: ArrayBuffer | ArrayBufferView): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function settingsOf(request: Request | undefined): RequestSettings {
  if (request === undefined) return {};
  const { credentials, mode, cache, redirect, referrer, referrerPolicy, integrity, keepalive } = request;
  return { credentials, mode, cache, redirect, referrer, referrerPolicy, integrity, keepalive };
}

function isEventStream(response: Response): boolean {
  return response.ok && /^\s*text\/event-stream\s*(;|$)/i.test(response.headers.get("Content-Type") ?? "");
}

// So many bytes wait for the reader before the network does.
const maxWaitingBytes = 64 << 10;

function recover(
  template: RequestTemplate,
  options: RecoveryOptions,
  signal: AbortSignal | undefined,
  open?: { readonly response: Response; readonly controller: AbortController },
): Promise<Response> {
  return new Promise<Response>((resolve, reject) => {
    // undefined: no leg has been answered with a stream yet.
    let body: ReadableStreamDefaultController<Uint8Array> | undefined;
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

    const driver = new StreamDriver(template, options, {
      opened(response) {
        if (body !== undefined) return;
        const stream = new ReadableStream<Uint8Array>(
          {
            start: (controller) => {
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
          },
          new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
        );
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
        body?.close();
      },
      failed(failure) {
        over();
        if (body === undefined) return settle(failure, resolve, reject);
        // The stream has said itself what happened: it ends as the server ended it.
        if (failure.inBand) body.close();
        else body.error(failure.error);
      },
    });
    signal?.addEventListener("abort", onAbort);
    driver.start(open);
  });
}

/** Before a response: what fetch would have done. */
function settle(failure: Failure, resolve: (response: Response) => void, reject: (error: unknown) => void): void {
  if (failure.response !== undefined) resolve(failure.response);
  else reject(failure.error.code === "network_error" ? (failure.thrown ?? failure.error) : failure.error);
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

function concatenated(blocks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(blocks.reduce((size, block) => size + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}

