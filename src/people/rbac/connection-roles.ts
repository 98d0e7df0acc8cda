// The roles that a user has by the groups of an upstream (`user_roles.via` = "connection:ID"). A role that was granted directly as
// well stays when the group is gone.

import { conflict } from '../../base/http/errors.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, withinTransaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { hasAdministrator, type LogoutOnRoleChange } from './assign-roles.ts';
import { ADMIN_ROLE } from './built-in.ts';
import { recordingAdministrators } from './new-administrators.ts';
import { type Role, roleById } from './role.ts';

export interface ConnectionRoles {
  connectionId: string;
  /** Identifiers of the roles that the groups of the user give now. */
  roleIds: readonly string[];
}

export type SetConnectionRoles = (
  userId: string,
  roles: ConnectionRoles,
  by?: Actor,
  tx?: Tx,
) => Promise<{ added: string[]; removed: string[] }>;

/**
 * Makes these the user's roles by the connection; returns the names of those that were added and removed. The last administrator
 * stays one.
 */
export function createSetConnectionRoles(
  services: Core & { logoutOnRoleChange: LogoutOnRoleChange },
): SetConnectionRoles {
  const { db, now, audit, logoutOnRoleChange } = services;

  return (userId, { connectionId, roleIds }, by = {}, outer) =>
    withinTransaction(db, outer, async (tx) => {
      const via = `connection:${connectionId}`;
      const where = { userId, via };
      // A row that another program wrote is removed like any other, but is no grant: a role that the user is to have is given anew.
      const stored = await tx.asStored.userRole.findMany({
        where,
        select: { role: { select: { id: true, name: true } } },
      });
      if (stored.length + roleIds.length === 0) return { added: [], removed: [] };
      const held = new Set((await tx.userRole.findMany({ where })).map(({ roleId }) => roleId));

      // Without the roles that were deleted meanwhile.
      const wanted = { id: { in: roleIds.filter((id) => !held.has(id)) } };
      const added: Role[] = [];
      for (const { id } of await tx.role.findMany({ where: wanted, select: { id: true } }))
        added.push(await roleById(id, tx));
      await recordingAdministrators({ audit, now }, { people: [userId], roles: added, by }, tx, async () => {
        for (const { id: roleId } of added) {
          const row = { userId, roleId, via, since: null, until: null };
          const key = { userId_roleId_via: { userId, roleId, via } };
          await tx.userRole.upsert({ where: key, create: row, update: row });
        }
      });

      const gone = stored.map(({ role }) => role).filter(({ id }) => !roleIds.includes(id));
      const keepsAdmin = await isAdminLostBy(gone, where, tx, now());
      const removed = gone.filter(({ name }) => !(keepsAdmin && name === ADMIN_ROLE));
      await tx.userRole.deleteMany({ where: { ...where, roleId: { in: removed.map(({ id }) => id) } } });

      const about = { ...by, outcome: 'success', subjectId: userId } as const;
      for (const { name: roleName } of added)
        await audit.record({ ...about, type: 'role.assigned', data: { roleName, via } }, tx);
      for (const { name: roleName } of removed)
        await audit.record({ ...about, type: 'role.unassigned', data: { roleName, via } }, tx);
      if (added.length + removed.length > 0) await logoutOnRoleChange([userId], by, tx);
      return { added: added.map(({ name }) => name), removed: removed.map(({ name }) => name) };
    });
}

/** Whether nobody is an administrator any more once these roles end for those that have them by the connection: one user, or all. */
async function isAdminLostBy(
  roles: readonly { name: string }[],
  grants: { via: string; userId?: string },
  tx: Tx,
  now: Date,
): Promise<boolean> {
  if (!roles.some(({ name }) => name === ADMIN_ROLE)) return false;
  return !(await hasAdministrator(tx, now, { endingGrants: [grants] })) && hasAdministrator(tx, now);
}

/** Roles of one turn of the event loop: each has an audit event. */
const RECORDED = 25;

/** Takes every role that users have by this connection, before it is deleted. Throws last_admin (409). */
export async function takeConnectionRoles(
  { audit, now, logoutOnRoleChange }: Pick<Core, 'audit' | 'now'> & { logoutOnRoleChange: LogoutOnRoleChange },
  connectionId: string,
  by: Actor,
  tx: Tx,
): Promise<void> {
  const via = `connection:${connectionId}`;
  const rows = await tx.asStored.userRole.findMany({
    where: { via },
    select: { userId: true, roleId: true, role: { select: { name: true } } },
  });
  const roles = rows.map(({ role }) => role);
  if (await isAdminLostBy(roles, { via }, tx, now())) throw conflict('last_admin');
  await inChunks(
    rows,
    async (piece) => {
      await tx.userRole.deleteMany({ where: { userId: { in: piece.map(({ userId }) => userId) }, via } });
      const events = piece.map(({ userId, role }) => {
        const data = { roleName: role.name, via };
        return { ...by, type: 'role.unassigned', outcome: 'success', subjectId: userId, data } as const;
      });
      await audit.recordAll(events, tx);
      return [];
    },
    RECORDED,
  );
  await logoutOnRoleChange([...new Set(rows.map(({ userId }) => userId))], by, tx);
}
