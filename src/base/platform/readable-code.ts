// Codes that people read from paper or a screen and type: groups of four letters of Crockford's base32, five random bits each.
import { randomToken } from './random.ts';

/** Without letters that look like digits or like each other. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A new code such as `7h3k-9qxm-2vtb`. */
export function newReadableCode(letters: number): string {
  return encodeAsLetters(Buffer.from(randomToken(letters), 'base64url'), letters);
}

/** The first bytes as letters. */
export function encodeAsLetters(bytes: Buffer, letters: number): string {
  const text = [...bytes.subarray(0, letters)].map((byte) => ALPHABET[byte & 31]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}

/** A code as it was typed: spaces, dashes and case do not matter, and letters that look like digits count as those. */
export function canonicalCode(typed: string): string {
  const text = typed.normalize('NFKC').toLowerCase().replace(/[\s-]/g, '');
  return text.replaceAll('o', '0').replace(/[il]/g, '1');
}
