// Decides whether a user has a permission: one of the user's roles must contain it. One look-up of the account each, which also
// verifies the MACs of grants and roles.

import type { Tx } from '../../base/storage/database.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { parsePermission } from './names.ts';

export type Permissions = ReturnType<typeof createPermissions>;

export function createPermissions({ accounts }: { accounts: Accounts }) {
  async function list(userId: string, { evenDisabled = false } = {}, tx?: Tx): Promise<string[]> {
    const account = await accounts.find(userId, tx);
    return account && (account.isActive || evenDisabled) ? [...account.permissions] : [];
  }

  async function can(userId: string, resource: string, action: string, tx?: Tx): Promise<boolean> {
    return (await list(userId, {}, tx)).includes(`${resource}:${action}`);
  }

  return {
    can,
    /** Every permission of the account, sorted. A disabled account has none, unless `evenDisabled`. */
    list,

    /** `permission` is `resource:action`; false for any other text. */
    async holds(userId: string, permission: string, tx?: Tx): Promise<boolean> {
      const name = parsePermission(permission);
      return name !== undefined && can(userId, name.resource, name.action, tx);
    },
  };
}
