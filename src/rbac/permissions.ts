// The one place that answers "may this person …?" (seed 2.5): a user holds a permission when some role of theirs is
// linked to a permission with that resource and action. One query each.
import type { Db, Tx } from '../platform/db.ts';
import { parsePermission } from './names.ts';

export interface Permissions {
  can(userId: string, resource: string, action: string, tx?: Tx): Promise<boolean>;
  /** `resource:action`; false for anything that is not one. */
  holds(userId: string, permission: string, tx?: Tx): Promise<boolean>;
  /** Everything that `can` says yes to, sorted; of a disabled account what it could do again, when asked for. */
  list(userId: string, options?: { evenDisabled?: boolean }, tx?: Tx): Promise<string[]>;
  /** Whether the account may use the application: enabled, and open to everyone or to a role of theirs. */
  accessAllowed(applicationId: string, userId: string, tx?: Tx): Promise<boolean>;
}

export function createPermissions({ db }: { db: Db }): Permissions {
  async function can(userId: string, resource: string, action: string, tx: Tx = db): Promise<boolean> {
    if (hasNul(userId, resource, action)) return false;
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

    async accessAllowed(applicationId, userId, tx = db) {
      if (hasNul(applicationId, userId)) return false;
      const rows = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM applications a JOIN users u ON u.id = ${userId} AND u.is_active = true
        WHERE a.id = ${applicationId} AND a.enabled = true AND (a.access = 'everyone' OR EXISTS (
          SELECT 1 FROM application_roles ar JOIN user_roles ur ON ur.role_id = ar.role_id
          WHERE ar.application_id = a.id AND ur.user_id = u.id))
        LIMIT 1`;
      return rows.length > 0;
    },
  };
}

// PostgreSQL refuses to be asked, and no name holds one.
function hasNul(...values: string[]): boolean {
  return values.some((value) => value.includes('\0'));
}
