// The recorded streams as bytes on the wire, cut into chunks.
import { readdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";

const encoder = new TextEncoder();

/** One answer as an event stream: `dialect`, `name`, and its `events` as bytes. */
function stream(dialect, name, lines) {
  const events = lines.map((line) => {
    const type = dialect === "anthropic-messages" || dialect === "openai-responses" ? JSON.parse(line).type : undefined;
    return encoder.encode(`${type === undefined ? "" : `event: ${type}\n`}data: ${line}\n\n`);
  });
  if (dialect === "openai-chat") events.push(encoder.encode("data: [DONE]\n\n"));
  return { dialect, name, events };
}

export async function recordings(directory, dialects) {
  const streams = [];
  for (const dialect of dialects) {
    for (const file of (await readdir(resolve(directory, dialect))).sort()) {
      const lines = (await readFile(resolve(directory, dialect, file), "utf8")).split("\n").filter((line) => line !== "");
      streams.push(stream(dialect, file.replace(/(\.1)?\.jsonl$/, ""), lines));
    }
  }
  return streams;
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** `size` bytes each, or one event each where it is "event". */
export function chunksOf({ events }, size) {
  if (size === "event") return events;
  const bytes = joined(events);
  const chunks = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
  return chunks;
}
