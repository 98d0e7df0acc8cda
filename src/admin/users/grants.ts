// The roles and the groups of one user: how the user came to each, from when on and until when, for the API and the console alike.

import { z } from 'zod';
import { type Tx, withinTransaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { ownedUser } from '../../people/accounts/account.ts';
import { NAMED_PERSON, type NamedPerson } from '../../people/accounts/names.ts';
import type { NewMember } from '../../people/groups/groups.ts';
import { PERSONAL } from '../../people/groups/rights.ts';
import type { RoleTimes } from '../../people/rbac/assign-roles.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { within } from '../../people/rbac/rights.ts';
import type { UserServices } from '../admin-services.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { byId, id, jsonOf, personFields, personJson, time } from '../api/parts.ts';
import { memberSource, moment, PEOPLE, sourceJson } from '../groups/groups.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { EndpointsBelow } from '../resource.ts';
import type { UserLookup } from './lookup.ts';

/** To give and take roles: one of these, and the right to manage the role. */
export const ASSIGN: readonly OwnPermission[] = ['gatehouse.users:write', 'gatehouse.roles:write'];

interface Times {
  since: Date | null;
  until: Date | null;
}

/** A role by one of the ways in which the user has it; one that begins later too. */
export interface HeldRole extends Times {
  name: string;
  /** Empty: given directly; `connection:ID`. */
  via: string;
  /** The group that gives it. */
  group?: { id: string; name: string };
}

/** A group by one of the ways in which the user is in it. */
export interface HeldGroup extends Times {
  id: string;
  name: string;
  path: string;
  /** The way in; empty: by a group below it. */
  source: string;
  /** The name of the group whose member the user is. */
  below?: string;
  addedBy: NamedPerson | null;
  /** The configuration file declares the members. */
  isDeclared: boolean;
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

export type UserGrants = ReturnType<typeof createUserGrants>;

export function createUserGrants(services: UserServices, { find, lockForChange }: UserLookup) {
  const { db, authority, groups, roles } = services;

  async function covered(userId: string, by: Actor) {
    await authority.assertCovers(by, 'gatehouse.users:read', userId);
    return find(userId);
  }

  return {
    /** The roles of the user, by name. Throws not_found as `get` does. */
    async heldRoles(userId: string, by: Actor): Promise<HeldRole[]> {
      const account = await covered(userId, by);
      const own = await db.userRole.findMany({ where: { userId }, include: { role: true } });
      const groupIds = account.groups.map((group) => group.id);
      const given = await db.groupRole.findMany({ where: { groupId: { in: groupIds } }, include: { role: true } });
      return [
        ...own.map(({ role: { name }, via, since, until }) => ({ name, via, since, until })),
        ...given.flatMap(({ role: { name }, groupId }) =>
          account.groups
            .filter((group) => group.id === groupId)
            .map(({ until, ...group }) => ({ name, via: '', group, since: null, until })),
        ),
      ].sort(byName);
    },

    /** The groups of the user, by name; those above them too. Throws not_found as `get` does. */
    async heldGroups(userId: string, by: Actor): Promise<HeldGroup[]> {
      const account = await covered(userId, by);
      const rows = await db.groupMember.findMany({ where: { userId }, include: { group: true } });
      const adders = [...new Set(rows.flatMap((row) => row.addedBy ?? []))];
      const users = await db.asStored.user.findMany({
        where: { id: { in: adders } },
        select: NAMED_PERSON,
      });
      return [
        ...rows.map(({ group, source, since, until, addedBy }) => ({
          id: group.id,
          name: group.name,
          path: group.path,
          source,
          since,
          until,
          addedBy: users.find((user) => user.id === addedBy) ?? null,
          isDeclared: group.source === 'file' && group.fileMembers,
        })),
        ...account.groups
          .filter(({ isDirect }) => !isDirect)
          .map(({ isDirect: _direct, via: below, ...group }) => ({
            ...group,
            source: '',
            below,
            since: null,
            addedBy: null,
            isDeclared: false,
          })),
      ].sort(byName);
    },

    /** Gives the role, or changes when it begins and ends. False when nothing changed. Throws owned_by_file for a user of the file. */
    giveRole: (userId: string, name: string, times: RoleTimes, by: Actor, within?: Tx): Promise<boolean> =>
      withinTransaction(db, within, async (tx) => {
        const account = await lockForChange(userId, by, 'any', tx, ASSIGN);
        if (account.source === 'file') throw ownedUser(account);
        const isChanged = await roles.assign(userId, name, by, tx, times);
        if (isChanged) assertFreshProof(by, 'user.change-roles', account.username);
        return isChanged;
      }),

    /** Takes a role that was given directly. False when the user did not have it. */
    takeRole: (userId: string, name: string, by: Actor, within?: Tx): Promise<boolean> =>
      withinTransaction(db, within, async (tx) => {
        const account = await lockForChange(userId, by, 'any', tx, ASSIGN);
        if (account.source === 'file') throw ownedUser(account);
        const isChanged = await roles.unassign(userId, name, by, tx);
        if (isChanged) assertFreshProof(by, 'user.change-roles', account.username);
        return isChanged;
      }),

    /** Puts the user in the group, or changes when the membership begins and ends. Returns how many changed. */
    async join(groupId: string, { userId, ...times }: NewMember, by: Actor, within?: Tx): Promise<number> {
      await covered(userId, by);
      return withinTransaction(db, within, async (tx) => {
        const { name } = await groups.get(groupId, tx);
        const changed = await groups.addMembers(groupId, [{ userId, ...times }], { by, tx });
        if (changed > 0) assertFreshProof(by, 'group.change-members', name);
        return changed;
      });
    },

    /** Ends the user's own membership; what a connection, a domain or the file gives stays. Returns how many ended. */
    async leave(groupId: string, userId: string, by: Actor, within?: Tx): Promise<number> {
      await covered(userId, by);
      return withinTransaction(db, within, async (tx) => {
        const { name } = await groups.get(groupId, tx);
        const changed = await groups.removeMembers(groupId, [userId], { by, tx });
        if (changed > 0) assertFreshProof(by, 'group.change-members', name);
        return changed;
      });
    },
  };
}

export const isPersonal = (source: string): boolean => (PERSONAL as readonly string[]).includes(source);

const times = { since: time.nullable().describe('null: at once'), until: time.nullable().describe('null: no end') };
const heldRole = z
  .object({
    role: z.string(),
    source: z.enum(['direct', 'group', 'connection']),
    source_id: z.string().nullable().describe('Id of the group or the connection; null for a role given directly'),
    ...times,
  })
  .meta({ id: 'HeldRole' });
const heldGroup = z
  .object({
    group: z.string().describe('Id of the group'),
    name: z.string(),
    path: z.string(),
    source: z.enum([...memberSource.options, 'below']).describe('The way in; `below`: by a group below this one'),
    source_id: z
      .string()
      .nullable()
      .describe('The domain, or the id of the connection or SCIM connection; null for the other sources'),
    below: z.string().nullable().describe('The name of the group below it by which the user is in it'),
    added_by: z.object(personFields).nullable().describe('Who added the user'),
    ...times,
  })
  .meta({ id: 'HeldGroup' });
const change = z.strictObject({ since: moment.optional(), until: moment.optional() });

function roleJson(held: HeldRole): z.output<typeof heldRole> {
  const { name: role, via, group } = held;
  if (group) return jsonOf(heldRole, held, { role, source: 'group', source_id: group.id });
  if (via === '') return jsonOf(heldRole, held, { role, source: 'direct', source_id: null });
  return jsonOf(heldRole, held, { role, source: 'connection', source_id: via.replace(/^connection:/, '') });
}

function groupJson(held: HeldGroup): z.output<typeof heldGroup> {
  const { id: group, source, below = null, addedBy } = held;
  const way = source === '' ? { source: 'below' as const, source_id: null } : sourceJson(source);
  return jsonOf(heldGroup, held, { group, ...way, below, added_by: addedBy && personJson(addedBy) });
}

/** /api/admin/users/{id}/roles and …/groups. */
export function userGrantEndpoints({ items, action }: EndpointsBelow, users: UserGrants): Endpoint[] {
  const byRole = byId.extend({ role: z.string().min(1).max(100) });
  const byGroup = byId.extend({ group: id });
  const assign = [within('gatehouse.roles:write', 'gatehouse.users:write')];
  const join = ['gatehouse.groups:write', within('gatehouse.users:read')] as const;
  return [
    items('listUserRoles', '/roles', {
      summary: 'The roles of the user, with where each comes from and when it ends; one that begins later too',
      item: heldRole,
      run: async ({ key, by }) => (await users.heldRoles(key, by)).map(roleJson),
    }),
    action('giveUserRole', 'PUT /roles/{role}', {
      needs: assign,
      summary: 'Gives the user the role of this name, or changes when it begins and ends',
      params: byRole,
      body: change,
      status: 204,
      run: async ({ key, params, body, by }) => void (await users.giveRole(key, params.role, body, by)),
    }),
    action('takeUserRole', 'DELETE /roles/{role}', {
      needs: assign,
      summary: 'Takes a role that was given directly; what a group or a connection gives stays',
      params: byRole,
      status: 204,
      run: async ({ key, params, by }) => void (await users.takeRole(key, params.role, by)),
    }),
    items('listUserGroups', '/groups', {
      needs: PEOPLE,
      summary: 'The groups of the user and those above them, with the way in and the end',
      item: heldGroup,
      run: async ({ key, by }) => (await users.heldGroups(key, by)).map(groupJson),
    }),
    action('putUserInGroup', 'PUT /groups/{group}', {
      needs: join,
      summary: 'Puts the user in the group, or changes when the membership begins and ends',
      params: byGroup,
      body: change,
      status: 204,
      run: async ({ key: userId, params, body, by }) => void (await users.join(params.group, { userId, ...body }, by)),
    }),
    action('takeUserFromGroup', 'DELETE /groups/{group}', {
      needs: join,
      summary: 'Takes the user out of the group; what a connection, a domain or the configuration file gives stays',
      params: byGroup,
      status: 204,
      run: async ({ key, params, by }) => void (await users.leave(params.group, key, by)),
    }),
  ];
}
