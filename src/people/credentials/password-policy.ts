// The rules for a new password (NIST SP 800-63B-4, section 3.1.1.2): long enough, also without repetitions and without the words of
// the account and of the service. There are no composition rules, and every printable character counts. Pure.
import { limits } from '../../base/limits.ts';

export type PasswordFault =
  | 'too_short'
  | 'too_long'
  | 'unprintable'
  | 'contains_name'
  | 'contains_email'
  | 'contains_service'
  | 'pattern'
  | 'repeated'
  | 'common'
  | 'breached'
  | 'unchanged';

export interface PolicyInput {
  password: string;
  hasSecondFactor: boolean;
  lengths?: PasswordLengths;
  account: {
    username: string;
    email?: string | null;
    name?: string | null;
    givenName?: string | null;
    familyName?: string | null;
  };
  /** Names of this service: the product, its brand, and the host of the issuer. */
  serviceNames?: readonly string[];
}

/** Shorter parts of a name are part of many words: "Tom" of "tomorrow". */
const MIN_NAME_LENGTH = 4;
/** Shorter repetitions happen in any sentence. */
const MIN_REPETITION = 6;

/** The settings `password_min_length` and `password_min_length_with_mfa`. */
export interface PasswordLengths {
  alone: number;
  withMfa: number;
}
const FLOORS: PasswordLengths = { alone: limits.password.minWithoutMfa, withMfa: limits.password.minWithMfa };

/** The shortest password that an account may have. */
export function minimumLength(hasSecondFactor: boolean, { alone, withMfa }: PasswordLengths = FLOORS): number {
  return hasSecondFactor ? withMfa : alone;
}

/** Code points, as NIST counts; the shorter of typed and normalised, so that no ligature counts as eighteen letters. */
export function passwordLength(password: string): number {
  return Math.min([...password].length, [...password.normalize('NFKC')].length);
}

/** Everything that is wrong with `password`, most helpful first; empty when the rules here are met. */
export function passwordFaults(input: PolicyInput): PasswordFault[] {
  const { password, hasSecondFactor, lengths } = input;
  if (password.length > 2 * limits.password.max || [...password].length > limits.password.max) return ['too_long'];
  const { rest, found } = withoutKnownWords(input);
  const minimum = minimumLength(hasSecondFactor, lengths);
  const isShort = (text: string) => passwordLength(text) < Math.ceil(minimum / 2);
  const folded = fold(password);
  const isMostlySpaces = isShort(folded) && !isShort(password);
  // The share of the password that is no repetition: spaces between words count.
  const once = (passwordLength(password) * withoutRepetitions(folded).length) / folded.length;
  const isTooShort = passwordLength(password) < minimum;
  return [
    ...faultIf(isTooShort, 'too_short'),
    ...faultIf(/[\p{Cc}\p{Cs}]/u.test(password), 'unprintable'),
    ...(isShort(withoutRepetitions(rest)) || isPattern(rest) ? found : []),
    ...faultIf(isMostlySpaces || isPattern(folded), 'pattern'),
    ...faultIf(!isTooShort && !isPattern(folded) && once < minimum, 'repeated'),
  ];
}

/**
 * What remains of the password without the words of the account and of the service, in lower case and without spaces, and a fault for
 * each kind of word that it contains. A word is no fault by itself: "Heidelberg castle forty two" is a good password of a Mr. Berg.
 * The rest has to be long enough and no common password.
 */
export function withoutKnownWords({ password, account, serviceNames = [] }: PolicyInput): {
  rest: string;
  found: PasswordFault[];
} {
  const [local = '', domain = ''] = (account.email ?? '').split('@');
  const { username, name, givenName, familyName } = account;
  const words: [PasswordFault, string[]][] = [
    ['contains_name', [username, name, givenName, familyName].flatMap((part) => partsOf(part ?? ''))],
    ['contains_email', [account.email ?? '', ...partsOf(local), ...partsOf(domain)]],
    ['contains_service', serviceNames.flatMap(partsOf)],
  ];
  const known = new Map<string, PasswordFault>();
  for (const [fault, texts] of words)
    for (const word of texts.map((text) => plainLetters(fold(text))))
      if (word.length >= MIN_NAME_LENGTH && !known.has(word)) known.set(word, fault);
  let rest = fold(password);
  const whole = plainLetters(rest);
  const found = new Set<PasswordFault>();
  // The longest first: an address contains the name.
  for (const [word, fault] of [...known].sort(([a], [b]) => b.length - a.length)) {
    if (whole.includes(word)) found.add(fault);
    for (let at = plainLetters(rest).indexOf(word); at >= 0; at = plainLetters(rest).indexOf(word))
      rest = rest.slice(0, at) + rest.slice(at + word.length);
  }
  return { rest, found: [...found].sort() };
}

/** The text, and its parts: names of a person, labels of a domain. */
function partsOf(text: string): string[] {
  return [text, ...text.split(/[\s,.@_+-]+/)];
}

const DIGITS_FOR_LETTERS: Record<string, string> = { 0: 'o', 1: 'l', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' };

/** "h3idi b3rg" is also a name. As long as the text, with l and i as one letter. */
function plainLetters(text: string): string {
  return text.replace(/[013457@$]/g, (one) => DIGITS_FOR_LETTERS[one] ?? one).replaceAll('i', 'l');
}

/** Each part counts once: of "sommer2026!sommer2026!" remains "sommer2026!". */
function withoutRepetitions(text: string): string {
  const { length } = text;
  for (let unit = 1; unit <= length / 2; unit += 1)
    if (text.slice(0, unit).repeat(length / unit) === text) return text.slice(0, unit);
  let rest = '';
  for (let at = 0; at < length; ) {
    let end = at;
    while (end < length && at > 0 && text.lastIndexOf(text.slice(at, end + 1), at - 1) >= 0) end += 1;
    const isRepeated = end - at >= MIN_REPETITION;
    if (!isRepeated) rest += text[at];
    at = isRepeated ? end : at + 1;
  }
  return rest;
}

const faultIf = (isWrong: boolean, fault: PasswordFault) => (isWrong ? [fault] : []);

// "Alice Example" is also in "aliceexample1".
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}

// Whether a password is only a pattern: "aaaa…", "abcabcabc…", "123456789012…", "zyxwvu…". Pure.

const MAX_PATTERN_UNIT = 4;

function isPattern(text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  if (points.length < 4) return false;
  for (let unit = 1; unit <= Math.min(MAX_PATTERN_UNIT, points.length / 2); unit += 1) {
    if (points.every((point, index) => index < unit || point === points[index - unit])) return true;
  }
  return [1, -1].some((step) =>
    points.every((point, index) => index === 0 || point === following(points[index - 1] ?? 0, step)),
  );
}

function following(point: number, step: number): number {
  if (step === 1 && point === 0x39) return 0x30; // 9 is followed by 0
  if (step === -1 && point === 0x30) return 0x39;
  return point + step;
}
