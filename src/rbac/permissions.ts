// Decides whether a user has a permission: one of the user's roles must contain it. One query each.
import type { Db, Tx } from '../storage/database.ts';
import { isStorable } from '../storage/storable-text.ts';
import { parsePermission } from './names.ts';

export interface Permissions {
  can(userId: string, resource: string, action: string, tx?: Tx): Promise<boolean>;
  /** `permission` is `resource:action`; false for any other text. */
  holds(userId: string, permission: string, tx?: Tx): Promise<boolean>;
  /** Every permission of the account, sorted. A disabled account has none, unless `evenDisabled`. */
  list(userId: string, options?: { evenDisabled?: boolean }, tx?: Tx): Promise<string[]>;
}

export function createPermissions({ db }: { db: Db }): Permissions {
  async function can(userId: string, resource: string, action: string, tx: Tx = db): Promise<boolean> {
    if (![userId, resource, action].every(isStorable)) return false;
    const rows = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM permissions p
        JOIN role_permissions rp ON rp.permission_id = p.id
        JOIN user_roles ur ON ur.role_id = rp.role_id
        JOIN users u ON u.id = ur.user_id
      WHERE p.resource = ${resource} AND p.action = ${action} AND u.id = ${userId} AND u.is_active = true
      LIMIT 1`;
    return rows.length > 0;
  }

  return {
    can,

    async holds(userId, permission, tx) {
      const name = parsePermission(permission);
      return name !== undefined && can(userId, name.resource, name.action, tx);
    },

    async list(userId, { evenDisabled = false } = {}, tx = db) {
      const user = { id: userId, ...(evenDisabled ? {} : { isActive: true }) };
      const rows = await tx.permission.findMany({
        where: { roles: { some: { role: { users: { some: { user } } } } } },
        select: { resource: true, action: true },
      });
      return rows.map(({ resource, action }) => `${resource}:${action}`).sort();
    },
  };
}
