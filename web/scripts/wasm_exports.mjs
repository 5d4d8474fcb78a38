// A module's exports, renamed: those without a new name are left out.

function* bytesOf(number) {
  for (; number > 127; number >>>= 7) yield (number & 127) | 128;
  yield number;
}

/** Reads `bytes` from `at` on: the binary format's integers and names. */
function reader(bytes, at) {
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  const take = (size) => bytes.subarray(at, (at += size));
  return { number, take, ended: () => at >= bytes.length };
}

const exportSection = 7;

export function renameExports(module, names) {
  const head = 8;
  const out = [...module.subarray(0, head)];
  const sections = reader(module, head);
  while (!sections.ended()) {
    const [kind] = sections.take(1);
    let content = sections.take(sections.number());
    if (kind === exportSection) {
      const entries = reader(content, 0);
      const kept = [];
      for (let left = entries.number(); left > 0; --left) {
        const name = names[Buffer.from(entries.take(entries.number())).toString()];
        const what = [...entries.take(1), ...bytesOf(entries.number())];
        if (name !== undefined) kept.push([...bytesOf(name.length), ...Buffer.from(name), ...what]);
      }
      content = [...bytesOf(kept.length), ...kept.flat()];
    }
    out.push(kind, ...bytesOf(content.length), ...content);
  }
  return Buffer.from(out);
}
