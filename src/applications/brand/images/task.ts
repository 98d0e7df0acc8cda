// The task of the worker thread that checks pictures and writes them again (image-store.ts): inflating and compressing the pixels of a PNG takes
// up to a second. No WebP: some mail programs do not show it.
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { type Fault, fault } from '../../../base/texts/faults.ts';
import { assertSize, type CheckedImage, damaged, ImageError } from './image-error.ts';
import { checkSvg, isSvg } from './svg.ts';

export interface ImageTask {
  bytes: Uint8Array;
}

export type ImageResult = { image: Omit<CheckedImage, 'bytes'> & { bytes: Uint8Array } } | { fault: Fault };

/** Its content decides what it is, neither its name nor the type that a browser sent. */
export function perform({ bytes }: ImageTask): ImageResult {
  try {
    return { image: checked(Buffer.from(bytes)) };
  } catch (error) {
    if (error instanceof ImageError) return { fault: error.fault };
    // A number beyond the end of a damaged file.
    if (error instanceof RangeError) return { fault: fault([], 'picture-damaged') };
    throw error;
  }
}

function checked(bytes: Buffer): CheckedImage {
  if (isPng(bytes)) return checkPng(bytes);
  if (isJpeg(bytes)) return checkJpeg(bytes);
  if (isSvg(bytes)) return checkSvg(bytes);
  throw new ImageError(fault([], 'picture-kind'));
}

// JPEG (ITU-T T.81): keeps the segments that decoders need and the compressed pixels as they are. Nothing else of the file is left: no
// comments, no EXIF with its place and thumbnail, no color profiles, and nothing behind the end.

const [SOI, EOI, SOS, DQT, DHT, DRI, ADOBE, COMMENT] = [0xd8, 0xd9, 0xda, 0xdb, 0xc4, 0xdd, 0xee, 0xfe];
/** Baseline, extended and progressive; every browser decodes them. */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** More are a bomb: each can be some bytes that go through the whole picture. */
const MAX_SCANS = 40;

const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff;

/** Throws ImageError. */
function checkJpeg(bytes: Buffer): CheckedImage {
  const kept = [bytes.subarray(0, 2)];
  let size: { width: number; height: number } | undefined;
  let scans = 0;
  for (let at = 2; at + 2 <= bytes.length; ) {
    const code = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) break;
    if (code === 0xff) {
      at += 1; // a marker may follow fill bytes
      continue;
    }
    if (code === EOI) {
      if (!size || scans === 0) break;
      return { kind: 'jpg', bytes: Buffer.concat([...kept, bytes.subarray(at, at + 2)]), ...size };
    }
    const head = at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : 0;
    const data = bytes.subarray(at + 4, at + 2 + head);
    if (head < 2 || data.length !== head - 2) break;
    if (FRAMES.includes(code)) {
      if (size) break;
      size = sizeOf(data);
    }
    if (code === SOS) scans += 1;
    if (scans > MAX_SCANS || (code === SOS && !size)) break;
    const end = code === SOS ? endOfScan(bytes, at + 2 + head) : at + 2 + head;
    if (isNeeded(code, data)) kept.push(bytes.subarray(at, end));
    at = end;
  }
  throw damaged('JPEG');
}

function isNeeded(code: number, data: Buffer): boolean {
  if ([...FRAMES, SOS, DQT, DHT, DRI].includes(code)) return true;
  // It says how the colors are stored; without it some pictures have wrong ones.
  if (code === ADOBE && data.length === 12 && data.toString('latin1', 0, 5) === 'Adobe') return true;
  if ((code >= 0xe0 && code <= 0xef) || code === COMMENT) return false;
  throw new ImageError(fault([], 'picture-jpeg'));
}

/** The size that a frame header says (B.2.2). */
function sizeOf(data: Buffer): { width: number; height: number } {
  const count = data[5] ?? 0;
  if (data[0] !== 8 || ![1, 3, 4].includes(count) || data.length !== 6 + 3 * count) throw damaged('JPEG');
  const [height, width] = [data.readUInt16BE(1), data.readUInt16BE(3)];
  assertSize(width, height);
  return { width, height };
}

/** The next marker behind the compressed data, in which 0xff is followed by 0 or is a restart (B.1.1.5). */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  throw damaged('JPEG');
}

// PNG (W3C PNG, third edition): reads the lines of pixels, checks them, and writes them again. Nothing else of the file is left:
// no text, no profile, no animation, and nothing behind its end.

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

const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE);

/** Throws ImageError. */
function checkPng(bytes: Buffer): CheckedImage {
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
