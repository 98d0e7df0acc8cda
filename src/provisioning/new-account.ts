// An account together with its roles and password, in one transaction: for the first admin and the command line.
import type { Account } from '../accounts/account.ts';
import type { Accounts, NewAccount } from '../accounts/accounts.ts';
import type { By } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { PasswordFault } from '../credentials/password-policy.ts';
import { limits } from '../limits.ts';
import { type Db, transaction } from '../platform/db.ts';
import { randomId, randomToken } from '../platform/random.ts';
import type { Roles } from '../rbac/roles.ts';

export type NewAccountNeeds = {
  db: Db;
  accounts: Pick<Accounts, 'create'>;
  roles: Pick<Roles, 'assign'>;
  credentials: Pick<Credentials, 'preparePassword'>;
};
export type AccountWithPassword = NewAccount & {
  roles: readonly string[];
  /** Absent: a one-time password is made, to be changed at the first sign-in. */
  password?: string | undefined;
};
export type Created = { outcome: 'created'; account: Account; oneTimePassword?: string };

/** A password for one sign-in, shown once. */
export function newOneTimePassword(): string {
  return randomToken(limits.oneTimePassword.bytes);
}

/** Creates it, or says what is wrong with the password; throws as accounts.create and roles.assign do. */
export async function createAccountWithPassword(
  { db, accounts, roles, credentials }: NewAccountNeeds,
  { password, roles: roleNames, ...profile }: AccountWithPassword,
  by: By = {},
): Promise<Created | { outcome: 'refused'; faults: PasswordFault[] }> {
  const id = profile.id ?? randomId();
  const plain = password ?? newOneTimePassword();
  // Hashed before the transaction, for an account that is made inside it.
  const prepared = await credentials.preparePassword(unborn(id, profile), plain, {
    ...by,
    mustChange: password === undefined,
  });
  if (prepared.outcome === 'refused') return prepared;
  const account = await transaction(db, async (tx) => {
    const created = await accounts.create({ ...profile, id }, by, tx);
    for (const role of roleNames) await roles.assign(id, role, by, tx);
    await prepared.store(tx);
    return created;
  });
  return { outcome: 'created', account, ...(password === undefined ? { oneTimePassword: plain } : {}) };
}

// What the password rules look at: the names of the account.
function unborn(id: string, { username, email = null, name = null }: NewAccount): Account {
  const at = new Date(0);
  const none = { givenName: null, familyName: null, picture: null, locale: null, zoneinfo: null, phoneNumber: null };
  const rest = {
    emailVerified: false,
    ssoId: null,
    attributes: {},
    isActive: true,
    source: 'local',
    roles: [],
    permissions: [],
  };
  return { id, username, email, name, ...none, ...rest, createdAt: at, updatedAt: at };
}
