// Base64 (RFC 4648 section 4), in message parameters and in XML Signature values.
import { SamlError, type SamlErrorCode } from './errors.ts';

/**
 * Decodes strictly: alphabet, padding and unused bits have to be correct. White space is ignored: MIME libraries break lines, XML is
 * indented, and both happens in every binding.
 *
 * @throws SamlError with the given code
 */
export function decodeBase64(text: string, code: SamlErrorCode = 'bad_base64'): Buffer {
  const compact = text.replace(/[ \t\r\n]+/g, '');
  const octets = Buffer.from(compact, 'base64');
  if (octets.length === 0 || octets.toString('base64') !== compact) {
    const received = /^[\w-]+=*$/.test(compact) ? 'base64url' : undefined;
    throw new SamlError(code, { received, expected: 'base64' });
  }
  return octets;
}
