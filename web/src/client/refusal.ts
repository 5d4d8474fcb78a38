// A final response, read for what it says.
import { TidemarkError } from "../engine/error.js";
import { readAtMost } from "./bytes.js";
import { parseObject, textOf } from "./request_template.js";
import type { Failure } from "./stream_driver.js";

const maxBytes = 64 << 10;
const maxWaitMs = 2000;

/** The failure's error; in the words of the response's JSON body, where it has one. */
export async function errorOf({ error, response }: Failure): Promise<TidemarkError> {
  const bytes = response?.body && (await readAtMost(maxBytes, response.body, maxWaitMs).catch(() => undefined));
  const body = parseObject(textOf(bytes ?? undefined));
  if (body === undefined) return error;
  const said = body["error"] ?? body["detail"] ?? body;
  const { code, type, message } = (typeof said === "string" ? { message: said } : said) as Record<string, unknown>;
  return new TidemarkError(
    typeof code === "string" ? code : typeof type === "string" ? type : error.code,
    typeof message === "string" ? message : error.message,
    { ...error, cause: body },
  );
}
