// Builds the parts that password resets, invitations, address verification, unlocking and self-registration share.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Actor } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Cookies } from '../http/cookies.ts';
import { createLinkTokens } from '../mail/link-tokens.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db, Tx } from '../storage/database.ts';
import type { ProtectedRows } from '../storage/protected-rows.ts';
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
