// A final response, read for what it says.
import { TidemarkError } from "../engine/error.js";
import type { Failure } from "./stream_driver.js";
import { parseObject } from "./request_template.js";

const maxBytes = 64 << 10;
const maxWaitMs = 2000;

/** The failure's error; in the words of the response's JSON body, where it has one. */
export async function errorOf(failure: Failure): Promise<TidemarkError> {
  const { error, response } = failure;
  if (response === undefined) return error;
  const body = parseObject(await beginning(response));
  const said = body?.["error"] ?? body?.["detail"] ?? body;
  const { code, type, message } = (typeof said === "string" ? { message: said } : (said ?? {})) as Record<string, unknown>;
  return new TidemarkError(
    typeof code === "string" ? code : typeof type === "string" ? type : error.code,
    typeof message === "string" ? message : error.message,
    error,
  );
}

async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), maxWaitMs);
  try {
    for (let size = 0; size < maxBytes; ) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // What came is what there is.
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
  return text;
}
