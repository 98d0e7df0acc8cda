// Creates an account with its roles and password in one transaction, for the first administrator and the command line.

import { limits } from '../base/limits.ts';
import { randomId, randomToken } from '../base/platform/random.ts';
import { type Db, type Tx, transaction } from '../base/storage/database.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Account } from '../people/accounts/account.ts';
import type { Accounts, NewAccount } from '../people/accounts/accounts.ts';
import { NEW_ACTIVITY } from '../people/accounts/active.ts';
import { emptyProfile } from '../people/accounts/profile-fields.ts';
import type { Credentials } from '../people/credentials/credentials.ts';
import type { PasswordFault } from '../people/credentials/password-policy.ts';
import type { Roles } from '../people/rbac/roles.ts';

export type AccountWithPassword = NewAccount & {
  roles: readonly string[];
  /** Absent: a temporary password is generated, which must be changed at the first sign-in. */
  password?: string | undefined;
};
export type Created = { outcome: 'created'; account: Account; oneTimePassword?: string };

interface NewAccountServices {
  db: Db;
  accounts: Accounts;
  roles: Roles;
  credentials: Credentials;
}

/** A password for one sign-in, displayed once. */
export function newOneTimePassword(): string {
  return randomToken(limits.oneTimePassword.bytes);
}

/** Creates the account, or returns what is wrong with the password; `onCreated` runs in the transaction. Throws like accounts.create and roles.assign. */
export async function createAccountWithPassword(
  { db, accounts, roles, credentials }: NewAccountServices,
  { password, roles: roleNames, ...profile }: AccountWithPassword,
  by: Actor = {},
  onCreated: (created: Created, tx: Tx) => Promise<void> = async () => {},
): Promise<Created | { outcome: 'rejected'; faults: PasswordFault[] }> {
  const id = profile.id ?? randomId();
  const plain = password ?? newOneTimePassword();
  // Hashed before the transaction, because hashing is slow.
  const prepared = await credentials.preparePassword(draftAccount(id, profile), plain, {
    ...by,
    mustChange: password === undefined,
  });
  if (prepared.outcome === 'rejected') return prepared;
  return transaction(db, async (tx) => {
    const withoutRoles = await accounts.create({ ...profile, id }, by, tx);
    for (const role of roleNames) await roles.assign(id, role, by, tx);
    await prepared.store(tx);
    const account = (await accounts.find(id, tx)) ?? withoutRoles;
    const oneTimePassword = password === undefined ? { oneTimePassword: plain } : {};
    const created: Created = { outcome: 'created', account, ...oneTimePassword };
    await onCreated(created, tx);
    return created;
  });
}

// The names of the account, which the password must not contain.
function draftAccount(id: string, { username, email = null, name = null }: NewAccount): Account {
  const at = new Date(0);
  const rest = {
    emailVerified: false,
    emailProven: false,
    ssoId: null,
    attributes: {},
    ...NEW_ACTIVITY,
    source: 'local',
    termsVersion: null,
    termsAcceptedAt: null,
    deleteAt: null,
    roles: [],
    permissions: [],
    groups: [],
  };
  return { ...emptyProfile, id, username, email, name, ...rest, createdAt: at, updatedAt: at, lastSeenAt: at };
}
