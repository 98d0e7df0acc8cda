// The roles that a user has by the groups of an upstream (`user_roles.via` = "connection:ID"). A role that was granted directly as
// well stays when the group is gone.

import { conflict } from '../../base/http/errors.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, withinTransaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { hasAdministrator, isLastAdmin, type LogoutOnRoleChange } from './assign-roles.ts';
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

  /** Whether nobody would be an administrator without this grant. */
  async function isLastGrantOfAdmin(userId: string, role: { id: string; name: string }, via: string, tx: Tx) {
    if (role.name !== ADMIN_ROLE) return false;
    const others = await tx.userRole.count({ where: { userId, roleId: role.id, via: { not: via } } });
    return others === 0 && isLastAdmin(userId, tx, now());
  }

  return (userId, { connectionId, roleIds }, by = {}, outer) =>
    withinTransaction(db, outer, async (tx) => {
      const via = `connection:${connectionId}`;
      const rows = await tx.asStored.userRole.findMany({ where: { userId, via }, select: { roleId: true } });
      if (rows.length + roleIds.length === 0) return { added: [], removed: [] };
      const involved = [...roleIds, ...rows.map(({ roleId }) => roleId)];
      const named = await tx.role.findMany({ where: { id: { in: involved } }, select: { id: true, name: true } });
      const held = await tx.userRole.findMany({ where: { userId, via } });
      const isHeld = (id: string) => held.some(({ roleId }) => roleId === id);
      const added = named.filter(({ id }) => roleIds.includes(id) && !isHeld(id));
      const removed: typeof named = [];
      // Without the roles that are gone: their grants ended with them.
      for (const role of named) {
        if (roleIds.includes(role.id) || (await isLastGrantOfAdmin(userId, role, via, tx))) continue;
        removed.push(role);
      }
      const given: Role[] = [];
      for (const { id } of added) given.push(await roleById(id, tx));
      await recordingAdministrators({ audit, now }, { people: [userId], roles: given, by }, tx, async () => {
        for (const { id: roleId } of added) {
          const row = { userId, roleId, via, since: null, until: null };
          const where = { userId_roleId_via: { userId, roleId, via } };
          await tx.userRole.upsert({ where, create: row, update: row });
        }
      });
      for (const { id: roleId } of removed) await tx.userRole.deleteMany({ where: { userId, roleId, via } });
      const about = { ...by, outcome: 'success', subjectId: userId } as const;
      for (const { name: roleName } of added)
        await audit.record({ ...about, type: 'role.assigned', data: { roleName, via } }, tx);
      for (const { name: roleName } of removed)
        await audit.record({ ...about, type: 'role.unassigned', data: { roleName, via } }, tx);
      if (added.length + removed.length > 0) await logoutOnRoleChange([userId], by, tx);
      return { added: added.map(({ name }) => name), removed: removed.map(({ name }) => name) };
    });
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
  const hadAdmin = rows.some(({ role }) => role.name === ADMIN_ROLE) && (await hasAdministrator(tx, now()));
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
  if (hadAdmin && !(await hasAdministrator(tx, now()))) throw conflict('last_admin');
  await logoutOnRoleChange([...new Set(rows.map(({ userId }) => userId))], by, tx);
}
