// The warning that few recovery codes are left.

import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { OwnFactors } from '../../people/mfa/account-factors.ts';
import { hasSecondFactor } from '../../people/mfa/policy.ts';

/** Undefined while there are enough, or while the account has no second factor that they could replace. */
export function recoveryCodeWarning(own: OwnFactors): PageText | undefined {
  const hasFactor = hasSecondFactor(own) || own.phone !== undefined;
  if (!hasFactor || own.recoveryCodes >= limits.recoveryCodes.warnBelow) return undefined;
  return t(own.recoveryCodes === 0 ? 'recovery-codes.left' : 'recovery-codes.few', { count: own.recoveryCodes });
}
