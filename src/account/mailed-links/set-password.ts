// Sets a password with a mailed link, of a password reset or an invitation. One transaction marks the link as used,
// stores the password and ends all sessions. It does not sign the user in; the next sign-in requires a second factor as always.

import type { Base } from '../../base/base.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { SetPassword } from '../../people/credentials/new-password.ts';
import type { PasswordFault } from '../../people/credentials/password-policy.ts';
import type { People } from '../../people/people.ts';
import type { AccountLink, AccountLinks } from './account-links.ts';

export type LinkOutcome =
  | { outcome: 'done' }
  | { outcome: 'invalid' }
  /** The password breaks the rules. The link stays valid. */
  | { outcome: 'rejected'; faults: PasswordFault[] };

export type SetPasswordByLink = (
  found: AccountLink,
  password: string,
  options: SetPasswordByLinkOptions,
) => Promise<LinkOutcome>;

export interface SetPasswordByLinkOptions {
  event: NonNullable<SetPassword['event']>;
  by: Actor;
  /** More changes, in the transaction that sets the password. */
  inTransaction?(tx: Tx): Promise<void>;
}

export function createSetPasswordByLink(
  dependencies: Base &
    People & {
      accountLinks: AccountLinks;
      /** Ends the sessions, grants and tokens of the account on every instance, and notifies the relying parties. */
      endAllSessions(accountId: string, by: Actor, tx: Tx): Promise<unknown>;
      /** Removes the known and trusted browsers, which may belong to an attacker. */
      forgetBrowsers(accountId: string, tx: Tx): Promise<unknown>;
      /** Ends a lockout, because only the owner can use the link. */
      unlock(account: Account): Promise<void>;
    },
): SetPasswordByLink {
  const { db, accountLinks, credentials, endAllSessions, forgetBrowsers, unlock } = dependencies;

  return async ({ link, account }, password, { event, by, inTransaction = async () => {} }) => {
    const prepared = await credentials.preparePassword(account, password, { ...by, event });
    if (prepared.outcome === 'rejected') return { outcome: 'rejected', faults: prepared.faults };
    const isDone = await transaction(db, async (tx) => {
      // Of parallel requests, only one continues after this line.
      if (!(await accountLinks.consume(link, tx))) return false;
      await prepared.store(tx);
      await forgetBrowsers(account.id, tx);
      await endAllSessions(account.id, by, tx);
      await inTransaction(tx);
      return true;
    });
    if (!isDone) return { outcome: 'invalid' };
    await unlock(account);
    return { outcome: 'done' };
  };
}
