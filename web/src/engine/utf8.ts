// Text to bytes, and back.

export const encoder = /* @__PURE__ */ new TextEncoder();
/** A byte order mark inside a stream is text like any other. */
export const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });
