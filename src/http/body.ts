// Reads a request body as text: plain UTF-8 only, and never more than the caller's limit in memory.
import type { IncomingMessage } from 'node:http';
import { badRequest, tooLarge, unsupportedMediaType } from './errors.ts';

// A client that sends a little too much is listened to until its end, so that it can read our 413; one that sends far
// too much is cut off.
const LISTEN_FACTOR = 16;

/** The body, at most `maxBytes` of it (413). */
export async function readBody(req: IncomingMessage, maxBytes: number): Promise<string> {
  refuseEncodings(req);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes * LISTEN_FACTOR) break;
      if (size <= maxBytes) chunks.push(chunk);
    }
  } catch (cause) {
    throw badRequest('request_aborted', { cause });
  }
  if (size > maxBytes) throw tooLarge(maxBytes, { headers: { Connection: 'close' } });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw badRequest('malformed_body', { message: 'The data that was sent is not UTF-8.', cause });
  }
}

function refuseEncodings({ headers }: IncomingMessage): void {
  // No compressed bodies: nothing of ours needs them, and a small one can unpack to gigabytes.
  const encoding = headers['content-encoding'];
  if (encoding && encoding.toLowerCase() !== 'identity') throw unsupportedMediaType('the data uncompressed');
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset && !/^(utf-?8|us-ascii)$/i.test(charset)) throw unsupportedMediaType('the data in UTF-8');
}
