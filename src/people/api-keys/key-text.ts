// The text of an API key (docs/decisions/0045-api-keys.md): `gh_`, the id of its row (11 characters), 256 random bits (43 characters)
// and a CRC-32 of all that (6 characters), each in base 62. The prefix and the checksum let secret scanners and this server tell a
// key from any other text without a database; a typing mistake is found the same way. Letters and digits only: a double click selects
// all of it.
import { crc32 } from 'node:zlib';
import { randomToken } from '../../base/platform/random.ts';

const PREFIX = 'gh_';
const ID_BYTES = 8;
const SECRET_BYTES = 32;
const ID_LENGTH = 11;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = new RegExp(`^${PREFIX}([0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key, with the id under which it is stored. */
export function newKeyText(): { id: string; text: string } {
  const id = randomDigits(ID_BYTES, ID_LENGTH);
  const body = `${PREFIX}${id}${randomDigits(SECRET_BYTES, SECRET_LENGTH)}`;
  return { id, text: body + checksumOf(body) };
}

/** The id in a key; undefined for every text that is no complete key. */
export function idInKey(text: string): string | undefined {
  const [, id] = KEY.exec(text) ?? [];
  const end = text.length - CHECKSUM_LENGTH;
  return id !== undefined && checksumOf(text.slice(0, end)) === text.slice(end) ? id : undefined;
}

/** Whether a text claims to be an API key. An access token of this server is shorter. */
export function looksLikeKey(text: string): boolean {
  return KEY.test(text);
}

/** How lists display a key: its beginning, which is no secret, and its end. */
export function maskedKey({ id, lastFour }: { id: string; lastFour: string }): string {
  return `${PREFIX}${id}…${lastFour}`;
}

function checksumOf(body: string): string {
  return inBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function randomDigits(bytes: number, length: number): string {
  return inBase62(BigInt(`0x${Buffer.from(randomToken(bytes), 'base64url').toString('hex')}`), length);
}

function inBase62(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  while (text.length < length) {
    text = (DIGITS[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
