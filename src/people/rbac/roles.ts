// Roles, their permissions and the users who have them. authority.ts decides who may change them; one active administrator
// always remains.

import { AppError, badRequest, conflict } from '../../base/http/errors.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { randomId } from '../../base/platform/random.ts';
import { type Db, isUniqueViolation, type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { assertNotLastAdmin, assignRole, directRoles, setRoles, unassignRole } from './assign-roles.ts';
import { type Authority, createAuthority } from './authority.ts';
import { builtInRoles } from './built-in.ts';
import { isDeceptivePermission, isRoleName, lookAlike, looksOwn } from './names.ts';
import { createPermissionSets, type PermissionSets } from './permission-sets.ts';
import { genuineRole, protectRole, withNewRoleMacs } from './protected-grants.ts';
import { isBrokenLimit } from './rights.ts';
import { findRole, listRoles, type NewRole, type Role, roleById, roleNamed } from './role.ts';

export type { NewRole, Role, RoleSource } from './role.ts';

export type Roles = ReturnType<typeof createRoles>;

/** Every operation on roles. A change joins the transaction `tx`, or is one of its own. */
export function createRoles(
  dependencies: Core & {
    accounts: Accounts;
    /** Called in the transaction in which a user got or lost a role. */
    logoutOnRoleChange?(userId: string, by: Actor, tx: Tx): Promise<void>;
  },
) {
  const { db, accounts, logoutOnRoleChange = async () => {} } = dependencies;
  const sets = createPermissionSets();
  const { assertMay } = createAuthority({ accounts });
  const context = { ...dependencies, sets, assertMay, logoutOnRoleChange };
  return {
    list: (): Promise<Role[]> => listRoles(db),
    find: (name: string, tx: Tx = db): Promise<Role | undefined> => findRole(name, tx),
    /** By its id. Throws not_found. */
    get: (id: string, tx: Tx = db): Promise<Role> => roleById(id, tx),
    /** Throws role_name_taken (409). */
    create: (role: NewRole, by: Actor = {}, tx?: Tx): Promise<Role> => createRole(context, role, by, tx),
    update: (name: string, changes: Partial<NewRole>, by: Actor = {}, tx?: Tx): Promise<Role> =>
      updateRole(context, name, changes, by, tx),
    remove: (name: string, by: Actor = {}, tx?: Tx): Promise<void> => removeRole(context, name, by, tx),
    /** False when the user had the role. Throws forbidden unless the actor of `by` may manage the role. */
    assign: (userId: string, roleName: string, by: Actor = {}, tx?: Tx): Promise<boolean> =>
      assignRole(context, userId, roleName, by, tx),
    /** Throws last_admin (409). */
    unassign: (userId: string, roleName: string, by: Actor = {}, tx?: Tx): Promise<boolean> =>
      unassignRole(context, userId, roleName, by, tx),
    /** The names of the roles that were granted to the user, not through a group or a connection. */
    direct: directRoles,
    /** Makes these the user's roles: assigns the missing ones and unassigns the others. */
    setRoles: (userId: string, roleNames: readonly string[], by: Actor = {}, tx?: Tx): Promise<void> =>
      setRoles(context, userId, roleNames, by, tx),
    /** Throws last_admin when no other active user has the admin role; call it before disabling or deleting a user. */
    assertNotLastAdmin: (userId: string, tx: Tx): Promise<void> =>
      assertNotLastAdmin(userId, dependencies.protectedRows, tx),
    /** Creates or updates the built-in roles; run at each start. */
    ensureBuiltInRoles: (): Promise<void> => ensureBuiltInRoles(context),
  };
}

// Creates, changes and deletes roles, with their permissions and the audit events.

type RoleContext = {
  db: Db;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  sets: PermissionSets;
  assertMay: Authority['assertMay'];
  /** Called in the transaction in which a user got or lost a role. */
  logoutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void>;
};

/** Throws role_name_taken (409), invalid_input (400), forbidden (403). */
async function createRole(
  { db, now, audit, protectedRows, sets, assertMay }: RoleContext,
  { name, description = '', permissions = [], source = 'local' }: NewRole,
  by: Actor,
  outer: Tx | undefined,
): Promise<Role> {
  if (!isRoleName(name)) throw invalidName();
  return withinTransaction(db, outer, async (tx) => {
    assertPermissionsValid(permissions);
    await assertMay(by, { what: 'permissions', permissions }, tx);
    await assertNoLookAlike({ name, permissions, source }, tx);
    const id = randomId();
    await tx.role.create({ data: { id, name, description, source, createdAt: now() } }).catch(throwTaken);
    await sets.replace(id, permissions, tx);
    await protectRole(id, protectedRows, tx);
    const data = { after: { name, description, permissions } };
    await audit.record({ ...by, type: 'role.created', outcome: 'success', data }, tx);
    return roleNamed(name, tx);
  });
}

/** Throws as createRole does, not_found (404), and conflict (409) for a built-in role. */
async function updateRole(
  context: RoleContext,
  name: string,
  changes: Partial<NewRole>,
  by: Actor,
  outer: Tx | undefined,
): Promise<Role> {
  if ((await roleNamed(name, outer ?? context.db)).source === 'built-in') throw builtIn();
  return changeRole(context, name, changes, by, outer);
}

/** Also takes the role from every user who has it. */
function removeRole(
  { db, audit, protectedRows, sets, assertMay, logoutOnRoleChange }: RoleContext,
  name: string,
  by: Actor,
  outer: Tx | undefined,
): Promise<void> {
  return withinTransaction(db, outer, async (tx) => {
    const role = await roleNamed(name, tx);
    if (role.source === 'built-in') throw builtIn();
    await assertMay(by, { what: 'role', role }, tx);
    await assertMay(by, { what: 'permissions', permissions: role.permissions }, tx);
    const select = { userId: true } as const;
    const holders = await tx.asStored.userRole.findMany({ where: { roleId: role.id }, select, distinct: ['userId'] });
    await tx.role.delete({ where: { id: role.id } });
    const others = await sets.rolesWithLimit(role.name, tx);
    await withNewRoleMacs(others, protectedRows, tx, () => sets.removeLimitedTo(role.name, tx));
    await sets.removeUnused(tx);
    await audit.record({ ...by, type: 'role.deleted', outcome: 'success', data: { before: role } }, tx);
    for (const { userId } of holders) await logoutOnRoleChange(userId, by, tx);
  });
}

/** Creates the built-in roles, or brings them up to date. */
async function ensureBuiltInRoles(context: RoleContext): Promise<void> {
  const ensure = (tx: Tx) => makeBuiltInRoles(context, tx);
  try {
    await transaction(context.db, ensure);
  } catch (error) {
    // Another instance that starts at the same moment created the roles first.
    if (!(error instanceof AppError && error.code === 'role_name_taken')) throw error;
    await transaction(context.db, ensure);
  }
}

async function makeBuiltInRoles(context: RoleContext, tx: Tx): Promise<void> {
  for (const builtIn of builtInRoles) {
    const role = { ...builtIn, description: String(builtIn.description) };
    const existing = await findRole(role.name, tx);
    if (!existing) await createRole(context, { ...role, source: 'built-in' }, {}, tx);
    else if (existing.source === 'built-in') await changeRole(context, role.name, role, {}, tx);
  }
}

function changeRole(
  { db, audit, protectedRows, sets, assertMay }: RoleContext,
  name: string,
  changes: Partial<NewRole>,
  by: Actor,
  outer: Tx | undefined,
): Promise<Role> {
  return withinTransaction(db, outer, async (tx) => {
    const before = await genuineRole(name, protectedRows, tx);
    const permissions = [...new Set(changes.permissions ?? before.permissions)].sort();
    const next = { ...before, ...changes, permissions };
    if (!isRoleName(next.name)) throw invalidName();
    if (JSON.stringify(next) === JSON.stringify(before)) return before;
    assertPermissionsValid(next.permissions);
    await assertMay(by, { what: 'role', role: before }, tx);
    // Applications know a role by its name: a new one is another role, which the actor does not have.
    if (next.name !== before.name) await assertMay(by, { what: 'role', role: next }, tx);
    // To take a permission from a role, the actor must have it, too.
    await assertMay(by, { what: 'permissions', permissions: [...before.permissions, ...next.permissions] }, tx);
    const added = next.permissions.filter((permission) => !before.permissions.includes(permission));
    await assertNoLookAlike({ ...next, permissions: added }, tx, before.name);
    const data = { name: next.name, description: next.description, source: next.source };
    await tx.role.update({ where: { id: before.id }, data }).catch(throwTaken);
    await sets.replace(before.id, next.permissions, tx);
    if (next.name !== before.name) {
      const others = [
        ...(await sets.rolesWithLimit(before.name, tx)),
        ...(await sets.rolesWithLimit(next.name, tx)),
      ].filter((id) => id !== before.id);
      await withNewRoleMacs(others, protectedRows, tx, () => sets.renameLimit(before.name, next.name, tx));
    }
    await protectRole(before.id, protectedRows, tx);
    await audit.record({ ...by, type: 'role.updated', outcome: 'success', data: { before, after: next } }, tx);
    return roleNamed(next.name, tx);
  });
}

function throwTaken(error: unknown): never {
  throw isUniqueViolation(error) ? conflict('role_name_taken', { cause: error }) : error;
}

/**
 * Throws role_name_taken for a new name that looks like another role's, and invalid_input for a new permission that looks like
 * another one. The configuration file may declare them, except a role that looks like a built-in one or a permission for Gatehouse.
 */
async function assertNoLookAlike(
  { name, permissions, source }: { name: string; permissions: readonly string[]; source: string },
  tx: Tx,
  before?: string,
): Promise<void> {
  if (name !== before && looksOwn(name))
    throw conflict('role_name_taken', { message: t('console.roles.problem.looks-own') });
  const isFile = source === 'file';
  const where = isFile ? { source: 'built-in' } : {};
  const roles = name === before ? [] : await tx.role.findMany({ where, select: { name: true } });
  const others = roles.map((role) => role.name).filter((other) => other !== before);
  const role = lookAlike(name, others);
  if (role !== undefined)
    throw conflict('role_name_taken', { message: t('console.roles.problem.looks-like', { role }) });
  if (isFile || permissions.length === 0) return;
  const rows = await tx.permission.findMany({ select: { resource: true, action: true } });
  const known = [...rows.map(({ resource, action }) => `${resource}:${action}`), ...permissions];
  for (const permission of permissions) {
    const other = lookAlike(permission, known);
    if (other === undefined) continue;
    const message = faultMessage('permission-alike', { permission, other });
    throw badRequest('invalid_input', { fields: [{ field: 'permissions', message }] });
  }
}

/** Throws invalid_input for a permission that looks like one for Gatehouse, or whose limit does not exist. */
function assertPermissionsValid(permissions: readonly string[]): void {
  const deceptive = permissions.find(isDeceptivePermission);
  if (deceptive !== undefined) {
    const message = faultMessage('permission-deceptive', { permission: deceptive });
    throw badRequest('invalid_input', { fields: [{ field: 'permissions', message }] });
  }
  const broken = permissions.find(isBrokenLimit);
  if (broken === undefined) return;
  const message = faultMessage('permission-limit', { permission: broken });
  throw badRequest('invalid_input', { fields: [{ field: 'permissions', message }] });
}

function invalidName() {
  const message = faultMessage('role-name-form');
  return badRequest('invalid_input', { fields: [{ field: 'name', message }] });
}

function builtIn() {
  return conflict('conflict', { message: t('console.roles.problem.built-in') });
}
