// The characters of an XML document from its octets (XML 1.0 appendix F, RFC 7303 section 3). Documents of real products are labelled
// wrongly: .NET declares UTF-16 and sends UTF-8, servers add `charset=iso-8859-1` to UTF-8, and Latin-1 says nothing or UTF-8. A byte
// order mark is believed before any label, and so is valid UTF-8, which no other text is by chance. Both XML parsers get the
// characters, so none of them follows a label.
import { SamlError, type SamlErrorCode } from './errors.ts';

const DECLARED = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*(["'])([A-Za-z0-9._-]*)\1/;
const UNICODE = /^(utf-?8|us-ascii|utf-?16(le|be)?)$/i;
/** One octet a character, and ASCII where XML has its markup. */
const LATIN = /^(iso-?8859-?\d{1,2}|latin[1-6]|(windows-|cp)125\d)$/i;

/** Whether a declaration may name this encoding. Where the text was decoded before, as in a form, it says nothing. */
export function isAcceptedEncoding(name: string): boolean {
  return UNICODE.test(name) || LATIN.test(name);
}

/**
 * The text of a document, with its declaration.
 *
 * @param contentType of the HTTP response that the document came in
 * @throws SamlError bad_encoding
 */
export function decodeXml(octets: Uint8Array, contentType = ''): string {
  const unicode = unicodeOf(octets);
  if (unicode) return decode(octets, unicode);
  try {
    return decode(octets, 'utf-8');
  } catch {
    return decode(octets, labelOf(octets, contentType));
  }
}

/** By the byte order mark, or by the zeros around the first `<`. */
function unicodeOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  return undefined;
}

/** The label of text that is not UTF-8. Without one, or with that of UTF-8, it is Latin-1 as browsers read it. */
function labelOf(octets: Uint8Array, contentType: string): string {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
  const declared = DECLARED.exec(Buffer.from(octets.subarray(0, 256)).toString('latin1'))?.[2];
  const label = [charset, declared].find((name) => name !== undefined && !UNICODE.test(name)) ?? 'windows-1252';
  if (!LATIN.test(label)) throw new SamlError('bad_encoding', { detail: label, received: label, expected: 'UTF-8' });
  return label;
}

function decode(octets: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(octets);
  } catch (cause) {
    throw new SamlError('bad_encoding', { cause, received: `no ${encoding}`, expected: 'UTF-8' });
  }
}

// Base64 (RFC 4648 section 4), in message parameters and in XML Signature values.

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
