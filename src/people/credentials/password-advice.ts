// What a user reads about a password that the rules reject.
import { limits } from '../../base/limits.ts';
import { type Text, t } from '../../base/texts/text.ts';
import type { PasswordFault } from './password-policy.ts';

/** One sentence that says what to do. @param count the shortest password that is accepted */
export function passwordAdvice(fault: PasswordFault, hasSecondFactor: boolean, count: number): Text {
  switch (fault) {
    case 'too_short':
      return hasSecondFactor ? t('password.too-short-with-mfa', { count }) : t('password.too-short', { count });
    case 'too_long':
      return t('password.too-long', { count: limits.password.max });
    default:
      return t(`password.${fault}`);
  }
}
