// Roles, their permissions and the users who have them. authority.ts decides who may change them; one active administrator
// always remains.

import { AppError, conflict, invalidInput } from '../../base/http/errors.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { isUniqueConstraintError, type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import { fault } from '../../base/texts/faults.ts';
import { sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import {
  assertNotLastAdmin,
  assignRole,
  directRoles,
  isLastAdmin,
  type LogoutOnRoleChange,
  type NameChanged,
  type RoleTimes,
  setRoles,
  unassignRole,
  type WantedRole,
} from './assign-roles.ts';
import type { Authority } from './authority.ts';
import { builtInRoles, OWN_PREFIX, type OwnPermission } from './built-in.ts';
import {
  groupKey,
  isDeceptivePermission,
  isRoleName,
  lookAlike,
  looksOwn,
  type PermissionName,
  parsePermission,
} from './names.ts';
import { holdersOf, recordingAdministrators } from './new-administrators.ts';
import { protectRole, type StoredRole, storedRole, withNewRoleMacs } from './protected-grants.ts';
import { isBrokenLimit, LIMITABLE_TO, type Limit, limitedTo, parseLimited } from './rights.ts';
import { findRole, isSensitiveRole, listRoles, type NewRole, type Role, roleById, roleNamed } from './role.ts';

export type { NewRole, Role, RoleSource } from './role.ts';

export type Roles = ReturnType<typeof createRoles>;

/** Every operation on roles. A change joins the transaction `tx`, or is one of its own. */
export function createRoles(
  dependencies: Core & {
    authority: Authority;
    logoutOnRoleChange?: LogoutOnRoleChange;
    nameChanged?: NameChanged;
  },
) {
  const { db, sql, now, audit, authority, logoutOnRoleChange = async () => {}, nameChanged } = dependencies;
  const sets = createPermissionSets();
  const context = { ...dependencies, logoutOnRoleChange };

  /** Throws role_name_taken (409), invalid_input (400), forbidden (403). */
  async function create(
    { name, description = '', permissions: written = [], source = 'local' }: NewRole,
    by: Actor = {},
    outer?: Tx,
  ): Promise<Role> {
    if (!isRoleName(name)) throw invalidName();
    return withinTransaction(db, outer, async (tx) => {
      assertPermissionsValid(written);
      const given = await withGroupIds(written, tx);
      await authority.assertMay(by, { what: 'permissions', permissions: given }, tx);
      await assertNoLookAlike({ name, permissions: given, source }, tx);
      const made = { id: randomId(), name, description, source, permissions: [...new Set(given)].sort() };
      await tx.role.create({ data: { id: made.id, name, description, source, createdAt: now() } }).catch(throwTaken);
      await sets.replace(made.id, made.permissions, tx);
      await protectRole(made, tx);
      const data = { after: { name, description, permissions: given } };
      await audit.record({ ...by, type: 'role.created', outcome: 'success', data }, tx);
      return made;
    });
  }

  /**
   * Throws as `create` does, not_found (404), and conflict (409) for a built-in role.
   * @param of its name, or the role as `forChange` read it in this transaction
   */
  function update(of: string | StoredRole, changes: Partial<NewRole>, by: Actor = {}, outer?: Tx): Promise<Role> {
    return withinTransaction(db, outer, async (tx) => {
      const { role, isGenuine } = typeof of === 'string' ? await storedRole({ name: of }, tx) : of;
      if (role.source === 'built-in' && changes.source !== 'built-in') throw builtIn();
      // A change of another field must not give forged permissions a valid MAC.
      const before = isGenuine ? role : { ...role, permissions: [] };
      if (changes.permissions) assertPermissionsValid(changes.permissions);
      const given = changes.permissions && (await withGroupIds(changes.permissions, tx));
      const permissions = [...new Set(given ?? before.permissions)].sort();
      const after = { ...before, ...changes, permissions };
      if (!isRoleName(after.name)) throw invalidName();
      if (JSON.stringify(after) === JSON.stringify(before)) return before;
      await assertMayChange(before, after, by, tx);
      const added = permissions.filter((permission) => !before.permissions.includes(permission));
      await assertNoLookAlike({ ...after, permissions: added }, tx, before.name);
      // The file's own groups are checked as a whole, when it is planned.
      if (after.source !== 'file' && added.some((one) => one.startsWith(OWN_PREFIX)))
        await assertClosed(after.id, by, tx);
      const { id, name, description, source } = after;
      await tx.role
        .update({ where: { id }, data: { name, description, source }, select: { id: true } })
        .catch(throwTaken);
      const isNew = isSensitiveRole(after) && !isSensitiveRole(before);
      const toHolders = { people: holdersOf(id, limits.lists.counted * 3), roles: isNew ? [after] : [], by };
      await recordingAdministrators(dependencies, toHolders, tx, () => sets.replace(id, permissions, tx));
      if (name !== before.name) await followName(id, { before: before.name, after: name }, by, tx);
      await protectRole(after, tx);
      const event = { ...by, type: 'role.updated', outcome: 'success', data: { before, after } } as const;
      if (JSON.stringify({ ...after, source: before.source }) !== JSON.stringify(before)) await audit.record(event, tx);
      return after;
    });
  }

  /** Throws forbidden (403). */
  async function assertMayChange(before: Role, after: Role, by: Actor, tx: Tx): Promise<void> {
    await authority.assertMay(by, { what: 'role', role: before }, tx);
    // Applications know a role by its name: a new one is another role, which the actor does not have.
    if (after.name !== before.name) await authority.assertMay(by, { what: 'role', role: after }, tx);
    // To take a permission from a role, the actor must have it, too.
    const permissions = [...before.permissions, ...after.permissions];
    await authority.assertMay(by, { what: 'permissions', permissions }, tx);
  }

  /** What names the renamed role follows: permissions that are limited to it, and registrations. */
  async function followName(id: string, { before, after }: { before: string; after: string }, by: Actor, tx: Tx) {
    const limited = [
      ...(await sets.rolesWithLimit({ kind: 'role', name: before }, tx)),
      ...(await sets.rolesWithLimit({ kind: 'role', name: after }, tx)),
    ];
    const others = limited.filter((other) => other !== id);
    await withNewRoleMacs(others, tx, () => sets.renameLimit(before, after, tx));
    await nameChanged?.({ kind: 'role', before, after }, by, tx);
  }

  /** Throws group_sensitive (409) where owners, requests, domains or connections give the role, which is to get a permission in Gatehouse. */
  async function assertClosed(roleId: string, by: Actor, tx: Tx): Promise<void> {
    await lockGroups(tx, sql, 'shared');
    const where = { ancestors: { some: { ancestor: { roles: { some: { roleId } } } } } };
    const groups = await tx.asStored.group.findMany({ where, select: { id: true } });
    const ids = groups.map(({ id }) => id);
    await assertGroupsClosed(dependencies, ids, by, tx, (group) => t('console.roles.error.open-group', { group }));
  }

  /** Also takes the role from every user who has it. @param of as of `update` */
  function remove(of: string | StoredRole, by: Actor = {}, outer?: Tx): Promise<void> {
    return withinTransaction(db, outer, async (tx) => {
      const role = typeof of === 'string' ? await roleNamed(of, tx) : of.role;
      if (role.source === 'built-in') throw builtIn();
      await authority.assertMay(by, { what: 'role', role }, tx);
      await authority.assertMay(by, { what: 'permissions', permissions: role.permissions }, tx);
      const select = { userId: true } as const;
      const inGroups = { group: { ancestors: { some: { ancestor: { roles: { some: { roleId: role.id } } } } } } };
      const holders = [
        ...(await tx.asStored.userRole.findMany({ where: { roleId: role.id }, select, distinct: ['userId'] })),
        ...(await tx.asStored.groupMember.findMany({ where: inGroups, select, distinct: ['userId'] })),
      ];
      await tx.role.delete({ where: { id: role.id }, select: { id: true } });
      await removeLimit({ kind: 'role', name: role.name }, tx);
      await nameChanged?.({ kind: 'role', before: role.name }, by, tx);
      await sets.removeUnused(tx);
      await audit.record({ ...by, type: 'role.deleted', outcome: 'success', data: { before: role } }, tx);
      await logoutOnRoleChange([...new Set(holders.map((one) => one.userId))], by, tx);
    });
  }

  /** Creates the built-in roles, or brings them up to date; run at each start. */
  async function ensureBuiltInRoles(): Promise<void> {
    const ensure = async (tx: Tx) => {
      for (const builtIn of builtInRoles) {
        const role = { ...builtIn, description: String(builtIn.description), source: 'built-in' as const };
        const existing = await findRole(role.name, tx);
        if (!existing) await create(role, {}, tx);
        else if (existing.source === 'built-in') await update(role.name, role, {}, tx);
      }
    };
    try {
      await transaction(db, ensure);
    } catch (error) {
      // Another instance that starts at the same moment created the roles first.
      if (!(error instanceof AppError && error.code === 'role_name_taken')) throw error;
      await transaction(db, ensure);
    }
  }

  return {
    list: (): Promise<Role[]> => listRoles(db),
    find: (name: string, tx: Tx = db): Promise<Role | undefined> => findRole(name, tx),
    /** By its id. Throws not_found. */
    get: (id: string, tx: Tx = db): Promise<Role> => roleById(id, tx),
    /** The same for a change in this transaction. */
    forChange: (id: string, tx: Tx): Promise<StoredRole> => storedRole({ id }, tx),
    create,
    update,
    remove,
    ensureBuiltInRoles,
    /** Also changes how long the user has the role. False when nothing changed. Throws forbidden unless the actor may manage the role. */
    assign: (userId: string, roleName: string, by: Actor = {}, tx?: Tx, times: RoleTimes = {}): Promise<boolean> =>
      assignRole(context, userId, roleName, by, tx, times),
    /** Throws last_admin (409). */
    unassign: (userId: string, roleName: string, by: Actor = {}, tx?: Tx): Promise<boolean> =>
      unassignRole(context, userId, roleName, by, tx),
    /** The names of the roles that were granted to the user, not through a group or a connection. */
    direct: directRoles,
    /** Makes these the user's roles: assigns the missing ones and unassigns the others. */
    setRoles: (userId: string, wanted: readonly WantedRole[], by: Actor = {}, tx?: Tx): Promise<void> =>
      setRoles(context, userId, wanted, by, tx),
    /** Throws last_admin when no other active user has the admin role; call it before disabling or deleting a user. */
    assertNotLastAdmin: (userId: string, tx: Tx): Promise<void> => assertNotLastAdmin(userId, tx, now()),

    /** Whether no other active user has the admin role. Without a transaction to show it: no lock is taken. */
    isLastAdmin: (userId: string, tx?: Tx): Promise<boolean> => isLastAdmin(userId, tx ?? db, now(), tx === undefined),
  };
}

function throwTaken(error: unknown): never {
  throw isUniqueConstraintError(error) ? conflict('role_name_taken', { cause: error }) : error;
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
    throw conflict('role_name_taken', { message: t('console.roles.error.looks-own') });
  const isFile = source === 'file';
  const where = isFile ? { source: 'built-in' } : {};
  const roles = name === before ? [] : await tx.role.findMany({ where, select: { name: true } });
  const others = roles.map((role) => role.name).filter((other) => other !== before);
  const role = lookAlike(name, others);
  if (role !== undefined) throw conflict('role_name_taken', { message: t('console.roles.error.looks-like', { role }) });
  if (isFile || permissions.length === 0) return;
  const rows = await tx.permission.findMany({ select: { resource: true, action: true } });
  const known = [...rows.map(({ resource, action }) => `${resource}:${action}`), ...permissions];
  for (const permission of permissions) {
    const other = lookAlike(permission, known);
    if (other === undefined) continue;
    throw invalidInput([fault(['permissions'], 'permission-alike', { permission, other })]);
  }
}

/** Throws invalid_input for a permission that looks like one for Gatehouse, or whose limit does not exist. */
function assertPermissionsValid(permissions: readonly string[]): void {
  const deceptive = permissions.find(isDeceptivePermission);
  if (deceptive !== undefined) {
    throw invalidInput([fault(['permissions'], 'permission-deceptive', { permission: deceptive })]);
  }
  const broken = permissions.find(isBrokenLimit);
  if (broken === undefined) return;
  throw invalidInput([fault(['permissions'], 'permission-limit', { permission: broken })]);
}

function invalidName() {
  return invalidInput([fault(['name'], 'role-name-form')]);
}

function builtIn() {
  return conflict('conflict', { message: t('console.roles.error.built-in') });
}

// Stores the permissions of a role: a permission's row is created with its first role and deleted with its last.

function createPermissionSets() {
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

    /** The ids of the roles with a permission that is limited to the members of this role or group. */
    rolesWithLimit: async (limit: UserLimit, tx: Tx): Promise<string[]> =>
      (await rolesLimitedTo(limit, tx)).map(({ id }) => id),

    /** Permissions that are limited to the role follow its new name. */
    async renameLimit(before: string, after: string, tx: Tx): Promise<void> {
      for (const permission of LIMITABLE_TO.role) {
        const from = limitedName(permission, { kind: 'role', name: before });
        const to = limitedName(permission, { kind: 'role', name: after });
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

/** Owners whom an error names. */
const NAMED_OWNERS = 3;

/**
 * Throws group_sensitive (409) where owners, requests, domains, connections or a directory put people into one of these groups: it says which,
 * names the owners to an actor who may read users, and leads to where they are removed.
 * @param rule the sentence before that
 */
export async function assertGroupsClosed(
  { authority }: { authority: Authority },
  ids: readonly string[],
  by: Actor,
  tx: Tx,
  rule: (group: string) => Text = () => t('console.groups.error.open'),
): Promise<void> {
  const some = { some: {} };
  const byOthers = [{ acceptsRequests: true }, { owners: some }, { domains: some }];
  const ways = [...byOthers, { connectionMappings: some }, { scim: { isNot: null } }];
  const include = {
    owners: { select: { user: true }, orderBy: { createdAt: 'asc' }, take: NAMED_OWNERS },
    domains: { select: { domain: true }, take: 1 },
    connectionMappings: { select: { groupId: true }, take: 1 },
  } as const;
  const [open] = await inChunks(ids, (piece) =>
    tx.asStored.group.findMany({ where: { id: { in: piece }, OR: ways }, include, take: 1 }),
  );
  if (!open) return;
  const { name: group, owners, domains, connectionMappings, acceptsRequests } = open;
  const [domain] = domains.map((one) => one.domain);

  async function wayIn(): Promise<[Text, string]> {
    if (owners.length > 0) {
      const maySee = (await authority.extent(by, 'gatehouse.users:read', tx)) === 'all';
      const names = maySee ? owners.map(({ user }) => displayName(user)) : [];
      const count = names.length;
      return [t('console.groups.error.open-owners', { group, names: names.join(', '), count }), '/owners'];
    }
    if (acceptsRequests) return [t('console.groups.error.open-requests', { group }), '/edit'];
    if (domain !== undefined) return [t('console.groups.error.open-domain', { group, domain }), '/domains'];
    if (connectionMappings.length > 0) return [t('console.groups.error.open-connection', { group }), ''];
    return [t('console.groups.error.open-scim', { group }), ''];
  }
  const [way, tab] = await wayIn();
  throw conflict('group_sensitive', {
    message: sentences([rule(group), way]),
    next: { href: `/admin/groups/${open.id}${tab}`, label: t('console.error.go-to', { page: group }) },
  });
}

type UserLimit = Limit & { kind: 'role' | 'group' };
const limitedNames = (limit: UserLimit) => LIMITABLE_TO[limit.kind].map((permission) => limitedName(permission, limit));

/** The roles with a permission that is limited to the members of this role or group. */
export const rolesLimitedTo = (limit: UserLimit, tx: Tx): Promise<{ id: string; name: string }[]> =>
  tx.role.findMany({
    where: { permissions: { some: { permission: { OR: limitedNames(limit) } } } },
    select: { id: true, name: true },
    orderBy: { name: 'asc' },
  });

/** Takes every permission that is limited to this role or group, which is deleted, from all roles. */
export async function removeLimit(limit: UserLimit, tx: Tx): Promise<void> {
  const ids = (await rolesLimitedTo(limit, tx)).map(({ id }) => id);
  await withNewRoleMacs(ids, tx, async () => {
    await tx.permission.deleteMany({ where: { OR: limitedNames(limit) } });
  });
}

/** Permissions as they are stored: a limit names a group by its id. Throws invalid_input for a group that does not exist. */
export async function withGroupIds(permissions: readonly string[], tx: Tx): Promise<string[]> {
  const stored: string[] = [];
  for (const text of permissions) {
    const { permission, limit } = parseLimited(text) ?? {};
    if (!permission || limit?.kind !== 'group') {
      stored.push(text);
      continue;
    }
    const where = { OR: [{ id: limit.name }, { nameKey: groupKey(limit.name) }] };
    // No group is named like the id of another one.
    const group = isStorable(limit.name) ? await tx.group.findFirst({ where }) : null;
    if (!group) throw invalidInput([fault(['permissions'], 'unknown-group', { groups: limit.name })]);
    stored.push(limitedTo(permission, { kind: 'group', name: group.id }));
  }
  return stored;
}

/** Permissions as people read and write them: a limit names a group by its name. */
export async function withGroupNames(permissions: readonly string[], tx: Tx): Promise<string[]> {
  const limits = permissions.map(parseLimited);
  const ids = limits.flatMap((one) => (one?.limit.kind === 'group' ? one.limit.name : []));
  if (ids.length === 0) return [...permissions];
  const rows = await tx.asStored.group.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } });
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return permissions.map((text, index) => {
    const { permission, limit } = limits[index] ?? {};
    const name = limit?.kind === 'group' ? names.get(limit.name) : undefined;
    return permission && name !== undefined ? limitedTo(permission, { kind: 'group', name }) : text;
  });
}

function limitedName(permission: OwnPermission, limit: UserLimit): PermissionName {
  const text = limitedTo(permission, limit);
  const at = text.lastIndexOf(':');
  return { resource: text.slice(0, at), action: text.slice(at + 1) };
}

function parsed(text: string): PermissionName {
  const name = parsePermission(text);
  if (name) return name;
  throw invalidInput([fault(['permissions'], 'no-permission', { permission: text })]);
}
