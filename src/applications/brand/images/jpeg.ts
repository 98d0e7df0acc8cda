// JPEG (ITU-T T.81): keeps the segments that decoders need and the compressed pixels as they are. Nothing else of the file is left: no
// comments, no EXIF with its place and thumbnail, no color profiles, and nothing behind the end.
import { fault } from '../../../base/texts/faults.ts';
import { assertSize, type CheckedImage, damaged, ImageError } from './image-error.ts';

const [SOI, EOI, SOS, DQT, DHT, DRI, ADOBE, COMMENT] = [0xd8, 0xd9, 0xda, 0xdb, 0xc4, 0xdd, 0xee, 0xfe];
/** Baseline, extended and progressive; every browser decodes them. */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** More are a bomb: each can be some bytes that go through the whole picture. */
const MAX_SCANS = 40;

export const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff;

/** Throws ImageError. */
export function checkJpeg(bytes: Buffer): CheckedImage {
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
