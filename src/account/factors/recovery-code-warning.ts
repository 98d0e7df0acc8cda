// The warning that few recovery codes are left.
import { limits } from '../../limits.ts';
import type { OwnFactors } from '../../mfa/account-factors.ts';
import { hasSecondFactor } from '../../mfa/policy.ts';
import { plural } from '../../platform/plural.ts';

/** Undefined while there are enough, or while the account has no second factor that they could replace. */
export function recoveryCodeWarning(own: OwnFactors): string | undefined {
  const hasFactor = hasSecondFactor(own) || own.phone !== undefined;
  if (!hasFactor || own.recoveryCodes >= limits.recoveryCodes.warnBelow) return undefined;
  if (own.recoveryCodes === 0) return 'You have no recovery codes left.';
  return `You have only ${plural(own.recoveryCodes, 'recovery code')} left.`;
}
