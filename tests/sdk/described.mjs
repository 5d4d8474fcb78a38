// Errors of the SDKs, brought down to what can be compared. In Node and in a page.

/** What a program can go by in what it catches. */
export function described(error) {
  const { lastError, data, error: body } = error;
  if (lastError) return { ...described(lastError), class: error.constructor.name };
  const inner = data?.error ?? data?.response?.error ?? data ?? body?.error ?? body ?? {};
  const header = (name) => error.headers?.get(name) ?? error.responseHeaders?.[name];
  return defined({
    class: error.constructor.name,
    status: error.status ?? (error.constructor.name === "APICallError" ? error.statusCode : undefined),
    type: error.type ?? inner.type,
    code: error.code ?? inner.code,
    retryAfter: header("retry-after") ? Number(header("retry-after")) : inner.retry_after,
    shouldRetry: header("x-should-retry"),
    message: error.message,
  });
}

/** The same of a response that has failed. */
export const failure = ({ code, message, retry_after: retryAfter }) => defined({ code, message, retryAfter });

const isGiven = ([, value]) => value !== undefined && value !== null;
const defined = (object) => Object.fromEntries(Object.entries(object).filter(isGiven));
