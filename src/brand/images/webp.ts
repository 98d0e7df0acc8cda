// WebP (RFC 9649): writes the file again from its picture and its transparency. Metadata, profiles and animations are left out.
// The compressed pixels are copied, as those of a JPEG.
import { faultMessage } from '../../platform/fault-messages.ts';
import { assertSize, type CheckedImage, damaged, ImageFault } from './image-fault.ts';

export const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

interface Chunk {
  type: string;
  data: Buffer;
}

/** Throws ImageFault. */
export function checkWebp(bytes: Buffer): CheckedImage {
  const chunks = chunksOf(bytes);
  if (chunks.some(({ type }) => type.startsWith('ANIM') || type === 'ANMF'))
    throw new ImageFault(faultMessage('picture-animation'));
  const picture = chunks.find(({ type }) => type === 'VP8 ' || type === 'VP8L');
  if (!picture) throw damaged('WebP');
  const size = picture.type === 'VP8 ' ? lossySize(picture.data) : losslessSize(picture.data);
  assertSize(size.width, size.height);
  const alpha = picture.type === 'VP8 ' ? chunks.find(({ type }) => type === 'ALPH') : undefined;
  const parts = (alpha ? [extendedHeader(size), alpha, picture] : [picture]).map(chunkBytes);
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  return { kind: 'webp', bytes: Buffer.concat([Buffer.from('RIFF'), uint32(body.length), body]), ...size };
}

function chunksOf(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  const end = Math.min(bytes.length, 8 + bytes.readUInt32LE(4));
  for (let at = 12; at + 8 <= end; ) {
    const length = bytes.readUInt32LE(at + 4);
    if (at + 8 + length > end) throw damaged('WebP');
    chunks.push({ type: bytes.toString('latin1', at, at + 4), data: bytes.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

/** RFC 6386, section 9.1. */
function lossySize(data: Buffer): { width: number; height: number } {
  const isKeyFrame = data.length > 10 && ((data[0] ?? 1) & 1) === 0;
  if (!isKeyFrame || data.readUIntBE(3, 3) !== 0x9d012a) throw damaged('WebP');
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
}

/** RFC 9649, section 3.4. */
function losslessSize(data: Buffer): { width: number; height: number } {
  if (data.length < 6 || data[0] !== 0x2f) throw damaged('WebP');
  const bits = data.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** VP8X: only transparency. */
function extendedHeader({ width, height }: { width: number; height: number }): Chunk {
  const data = Buffer.alloc(10);
  data[0] = 0x10;
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return { type: 'VP8X', data };
}

function chunkBytes({ type, data }: Chunk): Buffer {
  return Buffer.concat([Buffer.from(type, 'latin1'), uint32(data.length), data, Buffer.alloc(data.length % 2)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
