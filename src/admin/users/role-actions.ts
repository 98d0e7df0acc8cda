// The roles of a user, as an administrator changes them.
import type { Account } from '../../accounts/account.ts';
import type { Actor } from '../../audit/audit.ts';
import { forbidden } from '../../http/errors.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import type { Roles } from '../../rbac/roles.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import type { Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { UserLookup } from './lookup.ts';

export interface RoleActions {
  setRoles(id: string, names: readonly string[], by: Actor, expected?: Expected): Promise<Account>;
  /** Gives or takes one role. Returns false when the user had it, or had it not, before; a role that a connection gives stays. */
  changeRole(id: string, change: { add: string } | { remove: string }, by: Actor): Promise<boolean>;
}

/** Makes these the roles of the account. */
export type ChangeRoles = (account: Account, names: readonly string[], by: Actor, tx: Tx) => Promise<Account>;

/** To give and take roles: one of these, and the right to manage the role. */
const ASSIGN: readonly OwnPermission[] = ['gatehouse.users:write', 'gatehouse.roles:write'];

export function createChangeRoles({ roles }: { roles: Roles }, { find }: UserLookup): ChangeRoles {
  return async (account, names, by, tx) => {
    const direct = await roles.direct(account.id, tx);
    // The list also names what a connection gives: as a direct role it would stay when the connection takes it away.
    const wanted = new Set(names.filter((name) => direct.includes(name) || !account.roles.includes(name)));
    await roles.setRoles(account.id, [...wanted], by, tx);
    const isSame = wanted.size === direct.length && direct.every((name) => wanted.has(name));
    if (!isSame) assertFreshProof(by, 'user.change-roles', account.username);
    return find(account.id, tx);
  };
}

export function roleActions(
  { db, roles }: { db: Db; roles: Roles },
  { lockForChange }: UserLookup,
  changeRoles: ChangeRoles,
): RoleActions {
  async function lockLocal(id: string, by: Actor, expected: Expected, tx: Tx): Promise<Account> {
    const account = await lockForChange(id, by, expected, tx, ASSIGN);
    if (account.source === 'file') throw forbidden('owned_by_file');
    return account;
  }

  return {
    setRoles: (id, names, by, expected = 'any') =>
      transaction(db, async (tx) => changeRoles(await lockLocal(id, by, expected, tx), names, by, tx)),

    changeRole: (id, change, by) =>
      transaction(db, async (tx) => {
        const account = await lockLocal(id, by, 'any', tx);
        const direct = await roles.direct(id, tx);
        const isAdded = 'add' in change;
        const name = isAdded ? change.add : change.remove;
        if (isAdded ? account.roles.includes(name) : !direct.includes(name)) return false;
        const names = isAdded ? [...direct, name] : direct.filter((one) => one !== name);
        await changeRoles(account, names, by, tx);
        return true;
      }),
  };
}
