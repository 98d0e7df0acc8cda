// JPEG (ITU-T T.81): writes the file again from the segments that a picture is decoded with. Comments, EXIF with its place and
// thumbnail, color profiles, and what is behind the end are left out. The compressed pixels are copied: decoding and compressing them
// again would make the picture worse each time.
import { faultMessage } from '../../platform/fault-messages.ts';
import { assertSize, type CheckedImage, damaged, ImageFault } from './image-fault.ts';

const [SOI, EOI, SOS] = [0xd8, 0xd9, 0xda];
/** Baseline, extended and progressive; every browser decodes them. */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** Quantization and Huffman tables, restart interval, and the scan. */
const KEPT = [0xdb, 0xc4, 0xdd, SOS];
const ADOBE = 0xee;

export const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff;

/** Throws ImageFault. */
export function checkJpeg(bytes: Buffer): CheckedImage {
  const written: Buffer[] = [marker(SOI)];
  let size: { width: number; height: number } | undefined;
  let scans = 0;
  for (let at = 2; at + 4 <= bytes.length || bytes[at + 1] === EOI; ) {
    const code = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) throw damaged('JPEG');
    if (code === 0xff) {
      at += 1; // a marker may follow fill bytes
      continue;
    }
    if (code === EOI) {
      if (!size || scans === 0) break;
      return { kind: 'jpg', bytes: Buffer.concat([...written, marker(EOI)]), ...size };
    }
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const data = bytes.subarray(at + 4, end);
    if (end > bytes.length || end < at + 4) break;
    if (FRAMES.includes(code)) {
      if (size) break;
      size = frameSize(data);
      written.push(bytes.subarray(at, end));
    } else if (KEPT.includes(code) || (code === ADOBE && isAdobe(data))) written.push(bytes.subarray(at, end));
    else if (!isLeftOut(code)) throw new ImageFault(faultMessage('picture-jpeg'));
    at = end;
    if (code !== SOS) continue;
    scans += 1;
    at = endOfScan(bytes, end);
    written.push(bytes.subarray(end, at));
  }
  throw damaged('JPEG');
}

const marker = (code: number) => Buffer.from([0xff, code]);
/** Application data and comments. */
const isLeftOut = (code: number) => (code >= 0xe0 && code <= 0xef) || code === 0xfe;
/** Says how the colors are stored; without it some pictures have wrong ones. */
const isAdobe = (data: Buffer) => data.length === 12 && data.toString('latin1', 0, 5) === 'Adobe';

function frameSize(data: Buffer): { width: number; height: number } {
  const components = data[5] ?? 0;
  if (data[0] !== 8 || ![1, 3, 4].includes(components) || data.length !== 6 + 3 * components) throw damaged('JPEG');
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
