// A password that is set with a mailed link, be it a reset or an invitation: one transaction uses the link up, stores
// the password and ends whatever was opened with the old one (seed 5.5 reset 4 and 6). It signs nobody in, and the
// second factor is asked as ever.
import type { Account } from '../accounts/account.ts';
import type { By } from '../audit/audit.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import type { Credentials, SetPassword } from './credentials.ts';
import type { PasswordFault } from './password-policy.ts';

export type LinkOutcome =
  | { outcome: 'done' }
  | { outcome: 'invalid' }
  /** The link stays good for another try. */
  | { outcome: 'refused'; faults: PasswordFault[] };

export interface PasswordByLink {
  set(account: Account, password: string, options: ByLinkOptions): Promise<LinkOutcome>;
}

export interface ByLinkOptions {
  event: NonNullable<SetPassword['event']>;
  by: By;
  /** Uses the link up; false when it was used or has expired meanwhile. */
  consume(tx: Tx): Promise<boolean>;
  /** What else belongs into the same transaction. */
  and?(tx: Tx): Promise<void>;
}

export interface PasswordByLinkNeeds {
  db: Db;
  credentials: Pick<Credentials, 'preparePassword'>;
  /** Sessions, grants and tokens of the account, on every instance; relying parties are told. */
  endAllSessions(accountId: string, by: By, tx: Tx): Promise<unknown>;
  /** Browsers that were trusted or known before may have been somebody else's. */
  forgetBrowsers(accountId: string, tx: Tx): Promise<unknown>;
  /** Ends a pause after failed sign-ins: who holds the link is the owner. */
  unlock(account: Account): Promise<void>;
}

export function createPasswordByLink(needs: PasswordByLinkNeeds): PasswordByLink {
  const { db, credentials, endAllSessions, forgetBrowsers, unlock } = needs;

  return {
    async set(account, password, { event, by, consume, and = async () => {} }) {
      const prepared = await credentials.preparePassword(account, password, { ...by, event });
      if (prepared.outcome === 'refused') return { outcome: 'refused', faults: prepared.faults };
      const isDone = await transaction(db, async (tx) => {
        // Of any number of posts at the same moment one gets past here.
        if (!(await consume(tx))) return false;
        await prepared.store(tx);
        await forgetBrowsers(account.id, tx);
        await endAllSessions(account.id, by, tx);
        await and(tx);
        return true;
      });
      if (!isDone) return { outcome: 'invalid' };
      await unlock(account);
      return { outcome: 'done' };
    },
  };
}
