// Reads a request body, as text (plain UTF-8 only) or as bytes, and never more than the caller's limit in memory.
import type { IncomingMessage } from 'node:http';
import { t } from '../texts/text.ts';
import { badRequest, tooLarge, unsupportedMediaType } from './errors.ts';

// A body slightly over the limit is read to its end, so that the client can read the 413; for one far over the limit the
// connection is closed.
const READ_FACTOR = 16;

/** The body, at most `maxBytes` of it (413). */
export async function readBody(req: IncomingMessage, maxBytes: number): Promise<string> {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(req.headers['content-type'] ?? '')?.[1];
  if (charset && !/^(utf-?8|us-ascii)$/i.test(charset)) throw unsupportedMediaType('the data in UTF-8');
  return readForm(req, maxBytes);
}

/** The same for a form whose label says nothing: it is ASCII, and what it encodes as octets is UTF-8 (URL Standard section 5.1). */
export async function readForm(req: IncomingMessage, maxBytes: number): Promise<string> {
  const bytes = await readBytes(req, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw badRequest('malformed_body', { message: t('error.not-utf-8'), cause });
  }
}

/** The body as octets: a form with files, or a document that says how it is encoded. */
export async function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  rejectEncodings(req);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes * READ_FACTOR) break;
      if (size <= maxBytes) chunks.push(chunk);
    }
  } catch (cause) {
    throw badRequest('request_aborted', { cause });
  }
  if (size > maxBytes) throw tooLarge(maxBytes, { headers: { Connection: 'close' } });
  return Buffer.concat(chunks);
}

function rejectEncodings({ headers }: IncomingMessage): void {
  // No compressed bodies: no client needs them, and a small one can decompress to gigabytes.
  const encoding = headers['content-encoding'];
  if (encoding && encoding.toLowerCase() !== 'identity') throw unsupportedMediaType('the data uncompressed');
}
