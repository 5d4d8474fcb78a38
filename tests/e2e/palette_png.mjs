// Writes pixels as a PNG with a palette: a third of the size of a browser's own screenshots.
import { deflateSync } from "node:zlib";

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; ++bit) byte = byte & 1 ? 0xedb88320 ^ (byte >>> 1) : byte >>> 1;
  return byte;
});
const crc = (bytes) => ~bytes.reduce((sum, byte) => crcTable[(sum ^ byte) & 255] ^ (sum >>> 8), 0xffffffff) >>> 0;

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc(body), body.length + 4);
  return framed;
}

const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];
const distance = (one, other) => parts(one).reduce((sum, part, index) => sum + (part - parts(other)[index]) ** 2, 0);

/** `pixels` are RGBA and opaque. The most frequent colours that differ visibly stay; each other becomes the nearest one. */
export function palettePng(pixels, width, height) {
  const counts = new Map();
  const colourAt = (at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  for (let at = 0; at < pixels.length; at += 4) counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
  const palette = [];
  for (const colour of [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one))) {
    if (palette.length < 256 && palette.every((chosen) => distance(chosen, colour) > 8)) palette.push(colour);
  }
  const indices = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) {
    if (indices.has(colour)) continue;
    const nearest = palette.reduce((best, each) => (distance(each, colour) < distance(best, colour) ? each : best));
    indices.set(colour, indices.get(nearest));
  }
  // A row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) rows[y * (width + 1) + x + 1] = indices.get(colourAt((y * width + x) * 4));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(parts))),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
