// Roles, what they permit and who has them (seed 2.5). Nobody grants or takes what they do not hold, and one administrator
// who can sign in always remains.
import type { Audit, By } from '../audit/audit.ts';
import { AppError, badRequest, conflict, notFound } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, type Tx, transaction } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import { createAuthority } from './authority.ts';
import { ADMIN_ROLE, builtInRoles, EVERYTHING } from './built-in.ts';
import { isRoleName } from './names.ts';
import { createPermissionSets } from './permission-sets.ts';

export type RoleSource = 'local' | 'file' | 'built-in';

export interface Role {
  id: string;
  name: string;
  description: string;
  source: string;
  /** `resource:action`, sorted. */
  permissions: string[];
}

export interface NewRole {
  name: string;
  description?: string;
  permissions?: readonly string[];
  source?: RoleSource;
}

export interface Roles {
  list(): Promise<Role[]>;
  find(name: string, tx?: Tx): Promise<Role | undefined>;
  /** By id; throws not_found. */
  get(id: string, tx?: Tx): Promise<Role>;
  /** Throws role_name_taken (409). */
  create(role: NewRole, by?: By, tx?: Tx): Promise<Role>;
  update(name: string, changes: Partial<NewRole>, by?: By, tx?: Tx): Promise<Role>;
  remove(name: string, by?: By, tx?: Tx): Promise<void>;
  /** Whether it changed anything. With `by.actorId`, throws forbidden when the role permits more than the actor may. */
  assign(userId: string, roleName: string, by?: By, tx?: Tx): Promise<boolean>;
  /** Throws last_admin (409). */
  unassign(userId: string, roleName: string, by?: By, tx?: Tx): Promise<boolean>;
  /** Makes these the user's roles, adding and taking away. */
  setRoles(userId: string, roleNames: readonly string[], by?: By, tx?: Tx): Promise<void>;
  /** Throws last_admin when nobody else who is active has the admin role; call before disabling or deleting. */
  assertNotLastAdmin(userId: string, tx: Tx): Promise<void>;
  /** The roles that Gatehouse brings; run at each start. */
  ensureBuiltInRoles(): Promise<void>;
}

const WITH_PERMISSIONS = { permissions: { select: { permission: true } } } as const;

export interface RolesNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  /** Told when somebody got or lost a role, in the transaction of that. */
  rolesChanged?(userId: string, by: By, tx: Tx): Promise<void>;
}

export function createRoles({ db, now, audit, rolesChanged = async () => {} }: RolesNeeds): Roles {
  const sets = createPermissionSets();
  const { assertHolds } = createAuthority({ db });
  const within = <T>(tx: Tx | undefined, work: (tx: Tx) => Promise<T>) => (tx ? work(tx) : transaction(db, work));

  async function find(name: string, tx: Tx = db): Promise<Role | undefined> {
    const row = await tx.role.findUnique({ where: { name }, include: WITH_PERMISSIONS });
    return row ? toRole(row) : undefined;
  }

  async function found(name: string, tx: Tx): Promise<Role> {
    const role = await find(name, tx);
    if (!role) throw notFound({ message: `There is no role ${name}.` });
    return role;
  }

  async function assertNotLastAdmin(userId: string, tx: Tx): Promise<void> {
    // Locks the row, so that two admins who remove each other at the same moment take turns.
    await tx.role.updateMany({ where: { name: ADMIN_ROLE }, data: { name: ADMIN_ROLE } });
    const admin = { roles: { some: { role: { name: ADMIN_ROLE } } }, isActive: true };
    const isAdmin = await tx.user.count({ where: { id: userId, ...admin } });
    if (isAdmin === 0) return;
    if ((await tx.user.count({ where: { id: { not: userId }, ...admin } })) === 0) throw conflict('last_admin');
  }

  const create: Roles['create'] = async (role, by = {}, outer) => {
    const { name, description = '', permissions = [], source = 'local' } = role;
    if (!isRoleName(name)) throw invalidName();
    return within(outer, async (tx) => {
      await assertHolds(by, permissions, tx);
      const id = randomId();
      const data = { id, name, description, source, createdAt: now() };
      await tx.role.create({ data }).catch(throwTaken);
      await sets.replace(id, permissions, tx);
      await audit.record(
        { ...by, type: 'role.created', outcome: 'success', data: { after: { name, description, permissions } } },
        tx,
      );
      return found(name, tx);
    });
  };

  const change = (name: string, changes: Partial<NewRole>, by: By = {}, outer?: Tx) =>
    within(outer, async (tx) => {
      const before = await found(name, tx);
      const next = {
        ...before,
        ...changes,
        permissions: [...new Set(changes.permissions ?? before.permissions)].sort(),
      };
      if (!isRoleName(next.name)) throw invalidName();
      if (JSON.stringify(next) === JSON.stringify(before)) return before;
      // Taking rights from others is a right as well.
      await assertHolds(by, [...before.permissions, ...next.permissions], tx);
      const data = { name: next.name, description: next.description, source: next.source };
      await tx.role.update({ where: { id: before.id }, data }).catch(throwTaken);
      await sets.replace(before.id, next.permissions, tx);
      await audit.record({ ...by, type: 'role.updated', outcome: 'success', data: { before, after: next } }, tx);
      return found(next.name, tx);
    });

  const update: Roles['update'] = async (name, changes, by, outer) => {
    if ((await found(name, outer ?? db)).source === 'built-in') throw builtIn();
    return change(name, changes, by, outer);
  };

  const assign: Roles['assign'] = (userId, roleName, by = {}, outer) =>
    within(outer, async (tx) => {
      const role = await found(roleName, tx);
      await assertHolds(by, rightsOf(role), tx);
      if (await tx.userRole.findUnique({ where: { userId_roleId: { userId, roleId: role.id } } })) return false;
      if ((await tx.user.count({ where: { id: userId } })) === 0) throw notFound({ detail: { userId } });
      await tx.userRole.create({ data: { userId, roleId: role.id } });
      await audit.record(
        { ...by, type: 'role.assigned', outcome: 'success', subjectId: userId, data: { roleName } },
        tx,
      );
      await rolesChanged(userId, by, tx);
      return true;
    });

  const unassign: Roles['unassign'] = (userId, roleName, by = {}, outer) =>
    within(outer, async (tx) => {
      const role = await found(roleName, tx);
      await assertHolds(by, rightsOf(role), tx);
      if (role.name === ADMIN_ROLE) await assertNotLastAdmin(userId, tx);
      const { count } = await tx.userRole.deleteMany({ where: { userId, roleId: role.id } });
      if (count === 0) return false;
      const data = { roleName };
      await audit.record({ ...by, type: 'role.unassigned', outcome: 'success', subjectId: userId, data }, tx);
      await rolesChanged(userId, by, tx);
      return true;
    });

  async function makeBuiltInRoles(tx: Tx): Promise<void> {
    for (const role of builtInRoles) {
      const existing = await find(role.name, tx);
      if (!existing) await create({ ...role, source: 'built-in' }, {}, tx);
      else if (existing.source === 'built-in') await change(role.name, role, {}, tx);
    }
  }

  return {
    find,
    async get(id, tx = db) {
      const row = await tx.role.findUnique({ where: { id }, include: WITH_PERMISSIONS });
      if (!row) throw notFound({ detail: { roleId: id } });
      return toRole(row);
    },
    create,
    update,
    assign,
    unassign,
    assertNotLastAdmin,

    async list() {
      const rows = await db.role.findMany({ include: WITH_PERMISSIONS, orderBy: { name: 'asc' } });
      return rows.map(toRole);
    },

    remove: (name, by = {}, outer) =>
      within(outer, async (tx) => {
        const role = await found(name, tx);
        if (role.source === 'built-in') throw builtIn();
        await assertHolds(by, role.permissions, tx);
        const holders = await tx.userRole.findMany({ where: { roleId: role.id }, select: { userId: true } });
        await tx.role.delete({ where: { id: role.id } });
        await sets.removeUnused(tx);
        await audit.record({ ...by, type: 'role.deleted', outcome: 'success', data: { before: role } }, tx);
        for (const { userId } of holders) await rolesChanged(userId, by, tx);
      }),

    setRoles: (userId, roleNames, by = {}, outer) =>
      within(outer, async (tx) => {
        const rows = await tx.userRole.findMany({ where: { userId }, select: { role: { select: { name: true } } } });
        const held = rows.map(({ role }) => role.name);
        for (const name of roleNames) if (!held.includes(name)) await assign(userId, name, by, tx);
        for (const name of held) if (!roleNames.includes(name)) await unassign(userId, name, by, tx);
      }),

    async ensureBuiltInRoles() {
      try {
        await transaction(db, makeBuiltInRoles);
      } catch (error) {
        // Another instance starts at the same moment and was first: now there is nothing left to make.
        if (!(error instanceof AppError && error.code === 'role_name_taken')) throw error;
        await transaction(db, makeBuiltInRoles);
      }
    },
  };
}

// Administrators may do more than their role lists, so whoever holds all of the list is not one yet.
function rightsOf({ name, permissions }: Role): string[] {
  return name === ADMIN_ROLE ? [EVERYTHING, ...permissions] : permissions;
}

function toRole(row: {
  id: string;
  name: string;
  description: string;
  source: string;
  permissions: { permission: { resource: string; action: string } }[];
}): Role {
  const { id, name, description, source } = row;
  const permissions = row.permissions.map(({ permission }) => `${permission.resource}:${permission.action}`).sort();
  return { id, name, description, source, permissions };
}

function throwTaken(error: unknown): never {
  throw isUniqueViolation(error) ? conflict('role_name_taken', { cause: error }) : error;
}

function invalidName() {
  const message = 'Use up to 100 letters, digits, spaces and . _ : / - for the name of a role.';
  return badRequest('invalid_input', { fields: [{ field: 'name', message }] });
}

function builtIn() {
  return conflict('conflict', { message: 'This role belongs to Gatehouse, so it stays as it is.' });
}
