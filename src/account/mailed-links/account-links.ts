// Mailed links that belong to an account: a link works while its token is usable and the account is active.

import type { LinkPurpose, LinkToken, LinkTokens } from '../../core/mail/link-tokens.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { People } from '../../people/people.ts';

export interface AccountLink<Purpose extends LinkPurpose = LinkPurpose> {
  link: LinkToken<Purpose>;
  account: Account;
}

export type AccountLinks = ReturnType<typeof createAccountLinks>;

export function createAccountLinks({ linkTokens, accounts }: People & { linkTokens: LinkTokens }) {
  return {
    issue: linkTokens.issue,
    consume: linkTokens.consume,

    /** The link of this token and its account; undefined when it does not work (any more). Does not use it up. */
    async find<Purpose extends LinkPurpose>(
      token: string,
      ...purposes: Purpose[]
    ): Promise<AccountLink<Purpose> | undefined> {
      const link = await linkTokens.find(token, ...purposes);
      const account = link && (await accounts.find(link.userId));
      return link && account?.isActive ? { link, account } : undefined;
    },
  };
}
