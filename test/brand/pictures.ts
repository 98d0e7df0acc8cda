// Small pictures for tests.
import { crc32, deflateSync } from 'node:zlib';

/** A chunk of a PNG. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, crc]);
}

interface PngOptions {
  width?: number;
  height?: number;
  interlace?: number;
  /** The lines of pixels; those of the size by default. */
  lines?: Buffer;
  /** Chunks before the pixels. */
  before?: Buffer[];
  after?: Buffer;
}

/** A PNG in red with 8 bits for each of red, green and blue. */
export function aPng({ width = 8, height = 4, interlace = 0, lines, before = [], after }: PngOptions = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, interlace], 8);
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([200, 30, 30]))]);
  const pixels = lines ?? Buffer.concat(Array.from({ length: height }, () => line));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [pngChunk('IHDR', header), ...before, pngChunk('IDAT', deflateSync(pixels))];
  return Buffer.concat([signature, ...chunks, pngChunk('IEND', Buffer.alloc(0)), ...(after ? [after] : [])]);
}

/** The same 16 × 8 pixels by libjpeg: baseline, with a marker behind each block (jpegtran -restart 1B), and progressive. */
const JPEGS = {
  baseline:
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABQb/xAAaEAEAAgMBAAAAAAAAAAAAAAABABEFEiFh/8QAFwEAAwEAAAAAAAAAAAAAAAAAAAECA//EABcRAAMBAAAAAAAAAAAAAAAAAAABMRH/2gAMAwEAAhEDEQA/AA8c7JQs1W0hop8ejrfe35CQWn//2Q==',
  restarts:
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAIABADAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/90ABAAB/9oADAMBAAIRAxEAPwDD047iMAmtVfcho//Qt6eQdueec+1a7bGdz//Z',
  progressive:
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wgARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABAX/xAAVAQEBAAAAAAAAAAAAAAAAAAAAAv/aAAwDAQACEAMQAAABDU0z/8QAFRABAQAAAAAAAAAAAAAAAAAAAAP/2gAIAQEAAQUCmm//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAEDAQE/AT//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAECAQE/AT//xAAUEAEAAAAAAAAAAAAAAAAAAAAQ/9oACAEBAAY/Aj//xAAWEAEBAQAAAAAAAAAAAAAAAAAAIUH/2gAIAQEAAT8hph//2gAMAwEAAgADAAAAEHv/xAAWEQEBAQAAAAAAAAAAAAAAAAAAARH/2gAIAQMBAT8Qsa//xAAXEQADAQAAAAAAAAAAAAAAAAAAATER/9oACAECAQE/EFtJD//EABgQAQADAQAAAAAAAAAAAAAAAAEAESFh/9oACAEBAAE/EHYoWIdbt8n/2Q==',
};

/** A JPEG with a segment more at its beginning, or something behind its end. */
export function aJpeg({
  kind = 'baseline' as keyof typeof JPEGS,
  extra = Buffer.alloc(0),
  after = Buffer.alloc(0),
} = {}): Buffer {
  const bytes = Buffer.from(JPEGS[kind], 'base64');
  return Buffer.concat([bytes.subarray(0, 2), extra, bytes.subarray(2), after]);
}

/** A WebP of 1 × 1 pixels, lossless. */
export function aWebp(): Buffer {
  return Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvAAAAAAcQ/Y/+ByKi/wEA', 'base64');
}

export const aSvg = (inside = '<path d="M0 0h40v10H0z" fill="#c00"/>', attributes = 'viewBox="0 0 40 10"'): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`,
  );

export const dataUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`;
