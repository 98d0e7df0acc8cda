// Stores the permissions of a role: a permission's row is created with its first role and deleted with its last.

import { badRequest } from '../../base/http/errors.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { randomId } from '../../base/platform/random.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { OwnPermission } from './built-in.ts';
import { type PermissionName, parsePermission } from './names.ts';
import { LIMITABLE_TO_ROLES, limitedTo } from './rights.ts';

export type PermissionSets = ReturnType<typeof createPermissionSets>;

export function createPermissionSets() {
  async function idOf({ resource, action }: PermissionName, tx: Tx): Promise<string> {
    const unique = { resource_action: { resource, action } };
    const row = await tx.permission.upsert({
      where: unique,
      create: { id: randomId(), resource, action },
      update: {},
      select: { id: true },
    });
    return row.id;
  }

  async function removeUnused(tx: Tx): Promise<void> {
    await tx.permission.deleteMany({ where: { roles: { none: {} } } });
  }

  return {
    removeUnused,

    /** The ids of the roles with a permission that is limited to the members of this role. */
    async rolesWithLimit(roleName: string, tx: Tx): Promise<string[]> {
      const permission = { OR: LIMITABLE_TO_ROLES.map((one) => limitedName(one, roleName)) };
      const where = { permissions: { some: { permission } } };
      return (await tx.role.findMany({ where, select: { id: true } })).map(({ id }) => id);
    },

    /** Deletes every permission that is limited to this role, from all roles. */
    async removeLimitedTo(roleName: string, tx: Tx): Promise<void> {
      await tx.permission.deleteMany({ where: { OR: LIMITABLE_TO_ROLES.map((one) => limitedName(one, roleName)) } });
    },

    /** Permissions that are limited to the role follow its new name. */
    async renameLimit(before: string, after: string, tx: Tx): Promise<void> {
      for (const permission of LIMITABLE_TO_ROLES) {
        const from = limitedName(permission, before);
        const to = limitedName(permission, after);
        // The new name was free, so a permission that is limited to it gave nothing.
        await tx.permission.deleteMany({ where: to });
        await tx.permission.updateMany({ where: from, data: to });
      }
    },

    /** Makes these the role's permissions. */
    async replace(roleId: string, permissions: readonly string[], tx: Tx): Promise<void> {
      const ids: string[] = [];
      for (const name of new Set(permissions)) ids.push(await idOf(parsed(name), tx));
      await tx.rolePermission.deleteMany({ where: { roleId, permissionId: { notIn: ids } } });
      const stored = await tx.rolePermission.findMany({ where: { roleId }, select: { permissionId: true } });
      const held = new Set(stored.map(({ permissionId }) => permissionId));
      const data = ids.filter((id) => !held.has(id)).map((permissionId) => ({ roleId, permissionId }));
      if (data.length > 0) await tx.rolePermission.createMany({ data });
      await removeUnused(tx);
    },
  };
}

function limitedName(permission: OwnPermission, roleName: string): PermissionName {
  const text = limitedTo(permission, { kind: 'role', name: roleName });
  const at = text.lastIndexOf(':');
  return { resource: text.slice(0, at), action: text.slice(at + 1) };
}

function parsed(text: string): PermissionName {
  const name = parsePermission(text);
  if (name) return name;
  const message = faultMessage('no-permission', { permission: text });
  throw badRequest('invalid_input', { fields: [{ field: 'permissions', message }] });
}
