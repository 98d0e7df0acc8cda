// PNG (W3C PNG, third edition): reads the lines of pixels, checks them, and writes them again. Nothing else of the file is left:
// no text, no profile, no animation, and nothing behind its end.
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { assertSize, type CheckedImage, damaged } from './image-error.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Color type -> values of a pixel, and the allowed depths of each. */
const COLOR_TYPES: Record<number, { values: number; depths: readonly number[] }> = {
  0: { values: 1, depths: [1, 2, 4, 8, 16] },
  2: { values: 3, depths: [8, 16] },
  3: { values: 1, depths: [1, 2, 4, 8] },
  4: { values: 2, depths: [8, 16] },
  6: { values: 4, depths: [8, 16] },
};
/** Adam7 (section 8.1): the first column and row of each pass, and the steps between. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
/** In front of the pixels: the palette and the transparent color. */
const COLOR_CHUNKS = ['PLTE', 'tRNS'];

export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE);

/** Throws ImageError. */
export function checkPng(bytes: Buffer): CheckedImage {
  const chunks = chunksOf(bytes);
  const header = chunks[0];
  if (header?.type !== 'IHDR' || header.data.length !== 13) throw damaged('PNG');
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  assertSize(width, height);
  const lengths = lineLengths(header.data, width, height);
  const expected = lengths.reduce((sum, [lines, length]) => sum + lines * (length + 1), 0);
  const lines = inflated(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)), expected);
  assertFilters(lines, lengths);
  const colorChunks = COLOR_CHUNKS.flatMap((type) => chunks.find((chunk) => chunk.type === type) ?? []);
  if (header.data[9] === 3 && colorChunks[0]?.type !== 'PLTE') throw damaged('PNG');
  if (colorChunks.some(({ data }) => data.length > 768)) throw damaged('PNG');
  const written = [header, ...colorChunks, { type: 'IDAT', data: deflateSync(lines, { level: 9 }) }];
  const all = [...written, { type: 'IEND', data: Buffer.alloc(0) }].map(chunkBytes);
  return { kind: 'png', bytes: Buffer.concat([SIGNATURE, ...all]), width, height };
}

interface Chunk {
  type: string;
  data: Buffer;
}

function chunksOf(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 8 + length;
    if (end + 4 > bytes.length) throw damaged('PNG');
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (crcOf(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw damaged('PNG');
    if (type === 'IEND') return chunks;
    chunks.push({ type, data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  throw damaged('PNG');
}

/** For each pass the number of lines and the bytes of a line. */
function lineLengths(header: Buffer, width: number, height: number): [number, number][] {
  const [depth = 0, colorType = 0, compression, filter, interlace] = header.subarray(8);
  const color = COLOR_TYPES[colorType];
  if (!color?.depths.includes(depth) || compression !== 0 || filter !== 0) throw damaged('PNG');
  const bytesOf = (columns: number) => Math.ceil((columns * color.values * depth) / 8);
  if (interlace === 0) return [[height, bytesOf(width)]];
  if (interlace !== 1) throw damaged('PNG');
  return PASSES.flatMap(([x, y, dx, dy]): [number, number][] => {
    const [columns, rows] = [Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)];
    return columns > 0 && rows > 0 ? [[rows, bytesOf(columns)]] : [];
  });
}

/** Never more than the picture has: a small file can hold gigabytes of zeros. */
function inflated(data: Buffer, expected: number): Buffer {
  try {
    const lines = inflateSync(data, { maxOutputLength: expected });
    if (lines.length === expected) return lines;
  } catch {
    // Falls through to the same error.
  }
  throw damaged('PNG');
}

/** The first byte of each line is its filter, 0 to 4 (section 9.1). */
function assertFilters(lines: Buffer, lengths: readonly [number, number][]): void {
  let at = 0;
  for (const [count, length] of lengths)
    for (let line = 0; line < count; line += 1) {
      if ((lines[at] ?? 5) > 4) throw damaged('PNG');
      at += length + 1;
    }
}

function chunkBytes({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, crc]);
}

const crcOf = (bytes: Buffer): number => crc32(bytes);
