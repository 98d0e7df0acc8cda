// Strict base64 (RFC 4648 section 4), in message parameters and in XML Signature values.
import { SamlError, type SamlErrorCode } from './errors.ts';

/**
 * Decodes strictly: alphabet, padding and unused bits have to be correct, so that each value has one spelling. Line breaks
 * are accepted where OpenSAML writes MIME base64.
 *
 * @throws SamlError with the given code
 */
export function decodeBase64(
  text: string,
  lineBreaks: 'accept line breaks' | 'reject line breaks',
  code: SamlErrorCode = 'bad_base64',
): Buffer {
  const compact = lineBreaks === 'accept line breaks' ? text.replace(/[\r\n]+/g, '') : text;
  const octets = Buffer.from(compact, 'base64');
  if (octets.length === 0 || octets.toString('base64') !== compact) throw new SamlError(code);
  return octets;
}
