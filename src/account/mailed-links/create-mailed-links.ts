// Builds the parts that password resets, invitations, address verification, unlocking and self-registration share.

import type { Cookies } from '../../base/http/cookies.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { createLinkTokens } from '../../core/mail/link-tokens.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import type { KnownBrowsers } from '../../people/mfa/known-browsers.ts';
import { createAccountLinks } from './account-links.ts';
import { createReturnToSignIn } from './return-to-sign-in.ts';
import { createSetPasswordByLink } from './set-password.ts';

export interface MailedLinksDependencies {
  db: Db;
  now: Clock;
  protectedRows: ProtectedRows;
  accounts: Accounts;
  cookies: Cookies;
  credentials: Credentials;
  /** Ends the sessions, grants and tokens of the account because its password was reset. */
  endAllSessions(accountId: string, by: Actor, tx: Tx): Promise<unknown>;
  knownBrowsers: KnownBrowsers;
  /** Ends a lockout of the account. */
  unlock(account: Account): Promise<void>;
}

export type MailedLinks = ReturnType<typeof createMailedLinks>;

export function createMailedLinks(dependencies: MailedLinksDependencies) {
  const { db, now, protectedRows, accounts, cookies, credentials, endAllSessions, knownBrowsers, unlock } =
    dependencies;
  const accountLinks = createAccountLinks({ linkTokens: createLinkTokens({ db, now, protectedRows }), accounts });
  return {
    accountLinks,
    returnToSignIn: createReturnToSignIn({ cookies }),
    setPasswordByLink: createSetPasswordByLink({
      db,
      accountLinks,
      credentials,
      endAllSessions,
      forgetBrowsers: (accountId, tx) => knownBrowsers.forget(accountId, undefined, tx),
      unlock,
    }),
  };
}
