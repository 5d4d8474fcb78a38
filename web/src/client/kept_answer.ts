// persist: "session": what a tab remembers of answers that are not over, so that the same request, made again after a
// reload, goes on with the same answer. Text is not kept: the proxy's log has it.
import type { RecoveryOptions } from "./options.js";
import type { RequestTemplate } from "./request_template.js";

/** Its name at the server and, once that has answered, the epoch and the last event's number. */
export type Note = [stream: string, epoch?: string, watermark?: number];

const item = "tidemark";
const mostNotes = 16;

export class KeptAnswer {
  readonly #name: string;
  /** What was known before this request. */
  readonly found: Note | undefined;

  constructor(request: string) {
    this.#name = `${hash(request, 16777619)} ${hash(request, 709607)}`;
    const note: unknown = notes()[this.#name];
    // Somebody else's may lie there.
    if (Array.isArray(note) && /^[!-~]+$/.test(note.join(""))) this.found = note as Note;
  }

  /** undefined: forgets it. */
  keep(note?: Note): void {
    const all = notes();
    // The latest becomes the last, and the oldest gives way.
    delete all[this.#name];
    if (note) all[this.#name] = note;
    const names = Object.keys(all);
    if (names.length > mostNotes) delete all[names[0]!];
    try {
      sessionStorage.setItem(item, JSON.stringify(all));
    } catch {
      // Full, or forbidden: a reload asks anew, as without it.
    }
  }
}

/** Like FNV-1a, 32 bits. */
function hash(text: string, prime: number): number {
  let hash = text.length;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), prime);
  return hash;
}

function notes(): Record<string, Note> {
  try {
    return { ...JSON.parse(sessionStorage.getItem(item)!) };
  } catch {
    return {};
  }
}

/** undefined: not wanted, or the request is none that could be known again. */
export function keptAnswer(options: RecoveryOptions, { url, headers, settings, text }: RequestTemplate): KeptAnswer | undefined {
  if (!options.persist || text === undefined) return;
  return new KeptAnswer([settings.method, url.href, ...headers, text].join("\n"));
}
