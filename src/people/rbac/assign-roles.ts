// Assigns roles to users and takes them away. authority.ts decides who may; one active administrator always remains.

import { conflict, notFound } from '../../base/http/errors.ts';
import { type Db, type Tx, withinTransaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import type { Authority } from './authority.ts';
import { ADMIN_ROLE } from './built-in.ts';
import { isGenuineRole } from './protected-grants.ts';
import { findRole, type Role } from './role.ts';

/** `via` of a role that was granted to the user, not through a group or a connection. */
const DIRECT = '';

type AssignmentContext = {
  db: Db;
  audit: Audit;
  authority: Authority;
  /** Called in the transaction in which a user got or lost a role. */
  logoutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void>;
};

/** False when the user had the role. */
export function assignRole(
  context: AssignmentContext,
  userId: string,
  roleName: string,
  by: Actor,
  outer: Tx | undefined,
): Promise<boolean> {
  const { db, audit, logoutOnRoleChange } = context;
  return withinTransaction(db, outer, async (tx) => {
    const role = await managedRole(context, roleName, by, tx);
    // Its permissions decided who may give it, and could be put back later.
    if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
    const grant = { userId, roleId: role.id, via: DIRECT };
    if (await tx.userRole.findUnique({ where: { userId_roleId_via: grant } })) return false;
    if ((await tx.user.count({ where: { id: userId } })) === 0) throw notFound({ detail: { userId } });
    const row = { ...grant, since: null, until: null };
    await tx.userRole.upsert({ where: { userId_roleId_via: grant }, create: row, update: row });
    await audit.record({ ...by, type: 'role.assigned', outcome: 'success', subjectId: userId, data: { roleName } }, tx);
    await logoutOnRoleChange(userId, by, tx);
    return true;
  });
}

/** False when the user did not have the role. Throws last_admin (409). */
export function unassignRole(
  context: AssignmentContext,
  userId: string,
  roleName: string,
  by: Actor,
  outer: Tx | undefined,
): Promise<boolean> {
  const { db, audit, logoutOnRoleChange } = context;
  return withinTransaction(db, outer, async (tx) => {
    const role = await managedRole(context, roleName, by, tx);
    if (role.name === ADMIN_ROLE) await assertNotLastAdmin(userId, tx);
    const { count } = await tx.userRole.deleteMany({ where: { userId, roleId: role.id, via: DIRECT } });
    if (count === 0) return false;
    const data = { roleName };
    await audit.record({ ...by, type: 'role.unassigned', outcome: 'success', subjectId: userId, data }, tx);
    await logoutOnRoleChange(userId, by, tx);
    return true;
  });
}

/**
 * The role that an actor gives or takes. Throws forbidden (403), and not_found (404) for a name that no role has, but only to an
 * actor who might give such a role: others must not find out which roles there are.
 */
export async function managedRole(
  { authority }: Pick<AssignmentContext, 'authority'>,
  name: string,
  by: Actor,
  tx: Tx,
): Promise<Role> {
  const role = await findRole(name, tx);
  await authority.assertMay(by, { what: 'role', role: role ?? { name, permissions: [] } }, tx);
  if (!role) throw notFound({ message: t('console.roles.problem.unknown', { name }) });
  return role;
}

/** Assigns the roles that the user lacks and takes away those that are not in `roleNames`. */
export function setRoles(
  context: AssignmentContext,
  userId: string,
  roleNames: readonly string[],
  by: Actor,
  outer: Tx | undefined,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const held = await directRoles(userId, tx);
    for (const name of roleNames) if (!held.includes(name)) await assignRole(context, userId, name, by, tx);
    for (const name of held) if (!roleNames.includes(name)) await unassignRole(context, userId, name, by, tx);
  });
}

/** The names of the roles that were granted to the user, not through a group or a connection. */
export async function directRoles(userId: string, tx: Tx): Promise<string[]> {
  const where = { userId, via: DIRECT };
  const rows = await tx.asStored.userRole.findMany({ where, select: { role: { select: { name: true } } } });
  return rows.map(({ role }) => role.name);
}

/** Throws last_admin (409) when no other active user has the admin role. */
export async function assertNotLastAdmin(userId: string, tx: Tx): Promise<void> {
  if (await isLastAdmin(userId, tx)) throw conflict('last_admin');
}

/** Whether the user is the only active one with the admin role. Users and grants that another program wrote do not count. */
export async function isLastAdmin(userId: string, tx: Tx): Promise<boolean> {
  // Locks the row, so that two administrators who remove each other at the same moment are serialized.
  await tx.role.updateMany({ where: { name: ADMIN_ROLE }, data: { name: ADMIN_ROLE } });
  const grants = await tx.userRole.findMany({
    where: { role: { name: ADMIN_ROLE }, user: { isActive: true } },
    include: { user: true },
  });
  const holders = new Set(grants.map((grant) => grant.userId));
  return holders.size === 1 && holders.has(userId);
}
