// What a user reads about a password that the rules reject.
import { limits } from '../../base/limits.ts';
import { type Text, t } from '../../base/texts/text.ts';
import type { PasswordFault } from './password-policy.ts';

/** One sentence that says what to do. */
export function passwordAdvice(fault: PasswordFault, hasSecondFactor: boolean): Text {
  switch (fault) {
    case 'too_short':
      return hasSecondFactor
        ? t('password.too-short-with-mfa', { count: limits.password.minWithMfa })
        : t('password.too-short', { count: limits.password.minWithoutMfa });
    case 'too_long':
      return t('password.too-long', { count: limits.password.max });
    default:
      return t(`password.${fault}`);
  }
}
