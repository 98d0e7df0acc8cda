// The rules for a new password (NIST SP 800-63B): long enough, and not guessable from the account or the service. There
// are no composition rules, and every printable character counts. Pure.
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
export function passwordFaults({
  password,
  hasSecondFactor,
  account,
  serviceNames = [],
}: PolicyInput): PasswordFault[] {
  if (password.length > 2 * limits.password.max || [...password].length > limits.password.max) return ['too_long'];
  const folded = fold(password);
  const includes = (name: string) => fold(name).length >= MIN_NAME_LENGTH && folded.includes(fold(name));
  const email = account.email ?? '';
  const names = [account.username, account.name ?? '', ...(account.name ?? '').split(/[\s,.]+/)];
  const faults: [boolean, PasswordFault][] = [
    [passwordLength(password) < minimumLength(hasSecondFactor), 'too_short'],
    [/[\p{Cc}\p{Cs}]/u.test(password), 'unprintable'],
    [[email, email.split('@')[0] ?? ''].some(includes), 'contains_email'],
    [names.some(includes), 'contains_name'],
    [serviceNames.some(includes), 'contains_service'],
    [isPattern(folded), 'pattern'],
  ];
  return faults.filter(([wrong]) => wrong).map(([, fault]) => fault);
}

// "Alice Example" is also in "aliceexample1".
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}
