// The dependencies of the configuration file on the domains whose rows it declares.

import type { Tx } from '../base/storage/database.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Account } from '../people/accounts/account.ts';

/** The identity that `sso_id` and `sso_connection` declare; see federation/sso-ids.ts. */
export interface DeclaredIdentities {
  set(
    account: Account,
    change: { before: string | null; connectionId: string | null | undefined },
    by: Actor,
    tx: Tx,
  ): Promise<boolean>;
}

/** Ends every session of an account, inside the transaction. */
export type EndAllSessions = (
  userId: string,
  reason: 'password-reset' | 'account-disabled' | 'account-deleted',
  by: Actor,
  tx: Tx,
) => Promise<unknown>;
