// Roles and their permissions: those of the configuration file are read-only, and each change names the version that it is made for.

import { z } from 'zod';
import { ownedByFile } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Db, type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { fragment, joinFragments } from '../../base/storage/fragments.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { rule } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { usersWithRoles } from '../../people/accounts/members.ts';
import { isRoleName, parsePermission, permissionSchema, roleNameSchema } from '../../people/rbac/names.ts';
import type { StoredRole } from '../../people/rbac/protected-grants.ts';
import { isBrokenLimit, limitSyntax } from '../../people/rbac/rights.ts';
import { descriptionOf, isSensitiveRole } from '../../people/rbac/role.ts';
import { type NewRole, type Role, withGroupNames } from '../../people/rbac/roles.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { fromCursor, paged, pageOf, toCursor } from '../api/parts.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { answerOf, endpointsOf, type Resource } from '../resource.ts';

/** An application that the role opens. */
export interface OpenedApplication {
  id: string;
  clientId: string;
  name: string;
  protocol: string;
  enabled: boolean;
}

export type RoleAdmin = ReturnType<typeof createRoleAdmin>;

/** Sensitive changes throw StepUpNeeded; all throw owned_by_file for a role of the file, and precondition_failed for another version. */
export function createRoleAdmin({ db, sql, roles, authority, applications }: AdminServices) {
  /** As people read and write it: a permission that is limited to a group names it. */
  const written = async (role: Role, tx: Tx = db): Promise<Role> => ({
    ...role,
    permissions: await withGroupNames(role.permissions, tx),
  });
  const listed = async () => Promise.all((await roles.list()).map((role) => written(role)));

  async function lockForChange(id: string, expected: Expected, tx: Tx): Promise<StoredRole> {
    await lockRow(tx, sql, 'roles', id);
    const stored = await roles.forChange(id, tx);
    assertVersion(expected, await written(stored.role, tx));
    if (stored.role.source === 'file') throw ownedByFile('role', stored.role);
    return stored;
  }

  return {
    list: listed,
    /** The members of each role by its id, counted up to `limits.lists.counted` + 1. */
    async members(): Promise<Map<string, number>> {
      const all = await roles.list();
      return new Map(await inChunks(all, (piece) => countMembers(db, piece)));
    },
    /** Names of the roles that the actor may give and take. */
    assignable: async (by: Actor): Promise<string[]> =>
      (await authority.assignable(by, await roles.list())).map(({ name }) => name),
    /** The same as choices of a form, by name, with their descriptions. */
    async choices(by: Actor): Promise<{ value: string; label: string; hint?: PageText }[]> {
      const found = await authority.assignable(by, await roles.list());
      return found
        .map((role) => ({ value: role.name, label: role.name, ...(role.description && { hint: descriptionOf(role) }) }))
        .sort((one, other) => one.label.localeCompare(other.label, 'en'));
    },
    /** Whether the role of this name gives permissions in Gatehouse; false where the actor may not give it. */
    async isSensitive(name: string, by: Actor): Promise<boolean> {
      const role = await roles.find(name);
      return role !== undefined && isSensitiveRole(role) && (await authority.assignable(by, [role])).length > 0;
    },
    get: async (id: string): Promise<Role> => written(await roles.get(id)),
    /** `onCreated` runs in the transaction. */
    create: (
      role: Omit<NewRole, 'source'>,
      by: Actor,
      onCreated: OnCreated<Role> = async () => {},
      within?: Tx,
    ): Promise<Role> =>
      withinTransaction(db, within, async (tx) => {
        const made = await written(await roles.create(role, by, tx), tx);
        assertFreshProof(by, 'role.create', made.name);
        await onCreated(made, tx);
        return made;
      }),

    /** Creates those of these roles that are missing, without permissions; joins the transaction `tx`. */
    async createMissing(wanted: readonly { name: string; description: string }[], by: Actor, tx: Tx): Promise<void> {
      for (const { name, description } of wanted) {
        if (await roles.find(name, tx)) continue;
        await roles.create({ name, description }, by, tx);
        assertFreshProof(by, 'role.create', name);
      }
    },

    update: (
      id: string,
      changes: Partial<Omit<NewRole, 'source'>>,
      by: Actor,
      expected: Expected = 'any',
    ): Promise<Role> =>
      transaction(db, async (tx) => {
        const stored = await lockForChange(id, expected, tx);
        const before = stored.role;
        const after = await roles.update(stored, changes, by, tx);
        const isSame = after.name === before.name && String(after.permissions) === String(before.permissions);
        if (!isSame) assertFreshProof(by, 'role.change', before.name);
        return written(after, tx);
      }),

    remove: (id: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      transaction(db, async (tx) => {
        const stored = await lockForChange(id, expected, tx);
        assertFreshProof(by, 'role.delete', stored.role.name);
        await roles.remove(stored, by, tx);
      }),

    /** The applications whose access rule names the role, by name; `isMore`: the list was cut. */
    applications: (id: string): Promise<{ applications: OpenedApplication[]; isMore: boolean }> => openedBy(db, id),

    /** The websites with a rule for a path that names the role. */
    websites: (name: string): Promise<string[]> => applications.withPathsFor('role', name),

    /** The APIs whose access rule names the role, by identifier; at most a page. */
    apis: (id: string): Promise<string[]> => apisOpenedBy(db, id),

    /** Every permission that a role has, with those roles. */
    permissions: async (): Promise<{ permission: string; roles: string[] }[]> => permissionsOf(await listed()),
  };
}

/** In one statement, which on SQLite has at most 500 parts. */
async function countMembers(db: Db, roles: readonly Role[]): Promise<[id: string, members: number][]> {
  const limit = limits.lists.counted + 1;
  const counts = roles.map(
    ({ id }) => fragment`SELECT ${id} AS id, COUNT(DISTINCT user_id) AS count FROM
      (SELECT user_id FROM (${usersWithRoles(fragment`${id}`)}) AS found LIMIT ${limit}) AS held`,
  );
  const rows = await db.$queryRaw<{ id: string; count: number | bigint }[]>(joinFragments(counts, ' UNION ALL '));
  return rows.map(({ id, count }) => [id, Number(count)]);
}

async function openedBy(db: Db, roleId: string): Promise<{ applications: OpenedApplication[]; isMore: boolean }> {
  const found = await db.asStored.application.findMany({
    where: { access: 'roles', roles: { some: { roleId } } },
    select: { id: true, clientId: true, name: true, protocol: true, enabled: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: limits.api.pageSize + 1,
  });
  return { applications: found.slice(0, limits.api.pageSize), isMore: found.length > limits.api.pageSize };
}

async function apisOpenedBy(db: Db, roleId: string): Promise<string[]> {
  const found = await db.asStored.resource.findMany({
    where: { access: { contains: JSON.stringify(roleId) } },
    select: { identifier: true },
    orderBy: { identifier: 'asc' },
    take: limits.api.pageSize,
  });
  return found.map(({ identifier }) => identifier);
}

/** Every permission with the roles that have it, by name. */
function permissionsOf(all: readonly Role[]): { permission: string; roles: string[] }[] {
  const names = [...new Set(all.flatMap(({ permissions }) => permissions))].sort();
  return names.map((permission) => ({
    permission,
    roles: all.filter(({ permissions }) => permissions.includes(permission)).map(({ name }) => name),
  }));
}

const schema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    source: z.enum(['local', 'file', 'built-in']).describe('file: declared in the configuration file'),
    permissions: z.array(z.string()).describe('resource:action'),
  })
  .meta({ id: 'Role' });
/** A new role. */
export const newRole = z.strictObject({
  name: z.string().refine(isRoleName, rule('role-name')).meta(roleNameSchema),
  description: z.string().max(1000).optional(),
  permissions: z
    .array(
      z
        .string()
        .refine((text) => parsePermission(text) !== undefined, rule('permission'))
        .refine((text) => !isBrokenLimit(text), limitSyntax)
        .meta(permissionSchema),
    )
    .max(500)
    .optional(),
});
const permission = z.object({ permission: z.string(), roles: z.array(z.string()) });

export const roleNoun = (roles: RoleAdmin): Resource<Role> => ({
  names: ['Role', 'Roles'],
  tag: 'Roles',
  api: '/roles',
  home: '/admin/roles',
  title: t('console.roles.title'),
  nameOf: ({ name }) => name,
  declared: { what: 'role', entryOf: ({ name, source }) => ({ section: 'roles', name, source }) },
  read: ['gatehouse.roles:read'],
  write: ['gatehouse.roles:write'],
  keyOf: ({ id }) => id,
  get: roles.get,
  schema,
  json: (role) => role,
  version: (role) => role,
});

/** /api/admin/roles, and /api/admin/permissions with the roles that have each. */
export function roleEndpoints(roles: RoleAdmin): Endpoint[] {
  const noun = roleNoun(roles);
  const { list, create, get, update, remove } = endpointsOf(noun);
  return [
    list({
      summary: 'The roles, by name',
      query: z.object(paged),
      response: pageOf(schema),
      handle: async (query) => pageBy(await roles.list(), ({ name }) => name, query),
    }),
    create({
      summary: 'A new role',
      description:
        'Its permissions may be any resource:action that the caller has too. To change or give it afterwards takes the role itself, or gatehouse.roles:manage.',
      body: newRole,
      run: roles.create,
    }),
    get({ summary: 'One role' }),
    update({
      summary: 'Changes the given fields; permissions are replaced as a whole',
      body: newRole.partial(),
      run: async (...change) => answerOf(noun, await roles.update(...change)),
    }),
    remove({ summary: 'Deletes the role and takes it from every user', run: roles.remove }),
    endpoint('listPermissions', 'GET /permissions', {
      tag: 'Roles',
      needs: ['gatehouse.roles:read'],
      summary: 'Every permission that a role has',
      query: z.object(paged),
      response: pageOf(permission),
      handle: async ({ query }) => ({ body: pageBy(await roles.permissions(), (one) => one.permission, query) }),
    }),
  ];
}

/** One page of a list that is read as a whole; `keyOf` gives the unique key that it is sorted by. */
function pageBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): { items: Item[]; next: string | null } {
  const after = fromCursor(cursor);
  const sorted = [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const rest = after === undefined ? sorted : sorted.filter((item) => keyOf(item) > after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { items: page, next: rest.length > limit && last ? toCursor(keyOf(last)) : null };
}
