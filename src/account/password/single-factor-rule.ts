// Removing the last second factor requires a password of at least 15 characters (NIST SP 800-63B-4 section 3.1.1.2:
// the minimum for a password that is the only factor).

import type { Context } from '../../base/http/context.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import type { People } from '../../people/people.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';

export type SingleFactorPasswordRule = ReturnType<typeof createSingleFactorPasswordRule>;

/** Value of the parameter `need` of the password page: the length that applies without a second factor. */
export const SINGLE_FACTOR_LENGTH = 'long';

export function createSingleFactorPasswordRule({
  page,
  credentials,
  mfa: { factors },
}: People & { page: AccountPageHelpers }) {
  return {
    /** Whether the password is too short to be the only factor, once this factor is removed. */
    async needsLongerPassword(
      userId: string,
      removedFactor: Parameters<AccountFactors['isLast']>[1],
    ): Promise<boolean> {
      const status = await credentials.status(userId);
      return status !== undefined && !status.long && (await factors.isLast(userId, removedFactor));
    },
    /** Redirects to the form for a longer password. */
    requireLonger: (ctx: Context): void =>
      page.redirectWithNotice(ctx, `/account/password?need=${SINGLE_FACTOR_LENGTH}`),
  };
}
