// The rules for a new password (NIST SP 800-63B-4, section 3.1.1.2): long enough, also without the words of the account and of
// the service. There are no composition rules, and every printable character counts. Pure.
import { limits } from '../limits.ts';
import { isPattern } from './password-pattern.ts';

export type PasswordFault =
  | 'too_short'
  | 'too_long'
  | 'unprintable'
  | 'contains_name'
  | 'contains_email'
  | 'contains_service'
  | 'pattern'
  | 'common'
  | 'breached'
  | 'unchanged';

export interface PolicyInput {
  password: string;
  hasSecondFactor: boolean;
  account: { username: string; email?: string | null; name?: string | null };
  /** Names of this service: the product, and the host of the issuer. */
  serviceNames?: readonly string[];
}

/** Shorter parts of a name are part of many words: "Tom" of "tomorrow". */
const MIN_NAME_LENGTH = 4;

/** The shortest password that an account may have. */
export function minimumLength(hasSecondFactor: boolean): number {
  return hasSecondFactor ? limits.password.minWithMfa : limits.password.minWithoutMfa;
}

/** Code points, as NIST counts; the shorter of typed and normalised, so that no ligature counts as eighteen letters. */
export function passwordLength(password: string): number {
  return Math.min([...password].length, [...password.normalize('NFKC')].length);
}

/** Everything that is wrong with `password`, most helpful first; empty when the rules here are met. */
export function passwordFaults(input: PolicyInput): PasswordFault[] {
  const { password, hasSecondFactor } = input;
  if (password.length > 2 * limits.password.max || [...password].length > limits.password.max) return ['too_long'];
  const { rest, found } = withoutKnownWords(input);
  const isShort = (text: string) => passwordLength(text) < Math.ceil(minimumLength(hasSecondFactor) / 2);
  const folded = fold(password);
  const isMostlySpaces = isShort(folded) && !isShort(password);
  return [
    ...faultIf(passwordLength(password) < minimumLength(hasSecondFactor), 'too_short'),
    ...faultIf(/[\p{Cc}\p{Cs}]/u.test(password), 'unprintable'),
    ...(isShort(rest) || isPattern(rest) ? found : []),
    ...faultIf(isMostlySpaces || isPattern(folded), 'pattern'),
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
  const email = account.email ?? '';
  const name = account.name ?? '';
  const words: Partial<Record<PasswordFault, readonly string[]>> = {
    contains_email: [email, email.split('@')[0] ?? ''],
    contains_name: [account.username, name, ...name.split(/[\s,.]+/)],
    contains_service: serviceNames,
  };
  const folded = fold(password);
  const known = Object.entries(words).flatMap(([fault, texts]) =>
    texts
      .map((text) => ({ fault: fault as PasswordFault, word: fold(text) }))
      .filter(({ word }) => word.length >= MIN_NAME_LENGTH && folded.includes(word)),
  );
  // The longest first: an address contains the name.
  const rest = known
    .sort((a, b) => b.word.length - a.word.length)
    .reduce((text, { word }) => text.replaceAll(word, ''), folded);
  return { rest, found: [...new Set(known.map(({ fault }) => fault))].sort() };
}

const faultIf = (isWrong: boolean, fault: PasswordFault) => (isWrong ? [fault] : []);

// "Alice Example" is also in "aliceexample1".
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}
