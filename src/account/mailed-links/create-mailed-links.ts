// Builds the parts that password resets, invitations, address verification, unlocking and self-registration share.

import type { Http } from '../../base/http/http.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { createLinkTokens } from '../../core/mail/link-tokens.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { People } from '../../people/people.ts';
import { createAccountLinks } from './account-links.ts';
import { createReturnToSignIn } from './return-to-sign-in.ts';
import { createSetPasswordByLink } from './set-password.ts';

export type MailedLinks = ReturnType<typeof createMailedLinks>;

export function createMailedLinks(
  dependencies: Core &
    Http &
    People & {
      /** Ends the sessions, grants and tokens of the account because its password was reset. */
      endAllSessions(accountId: string, by: Actor, tx: Tx): Promise<unknown>;
      /** Ends a lockout of the account. */
      unlock(account: Account): Promise<void>;
    },
) {
  const {
    cookies,
    endAllSessions,
    unlock,
    mfa: { knownBrowsers },
  } = dependencies;
  const accountLinks = createAccountLinks({
    ...dependencies,
    linkTokens: createLinkTokens({ ...dependencies }),
  });
  return {
    accountLinks,
    returnToSignIn: createReturnToSignIn({ cookies }),
    setPasswordByLink: createSetPasswordByLink({
      ...dependencies,
      accountLinks,
      endAllSessions,
      forgetBrowsers: (accountId, tx) => knownBrowsers.forget(accountId, undefined, tx),
      unlock,
    }),
  };
}
