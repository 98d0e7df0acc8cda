// Who may put whom in a group. Putting a person in gives every role of the group and of the groups above it, so each way in asks the same
// question here, and rbac/authority.ts answers it role by role.
import { conflict, forbidden } from '../../base/http/errors.ts';
import { eachChunk, inChunks } from '../../base/storage/chunks.ts';
import type { Tx } from '../../base/storage/database.ts';
import { joinFragments } from '../../base/storage/fragments.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { holding, ownershipsOf } from '../accounts/account.ts';
import { whereActive } from '../accounts/active.ts';
import { managedRole } from '../rbac/assign-roles.ts';
import type { Authority } from '../rbac/authority.ts';
import { ADMIN_ROLE } from '../rbac/built-in.ts';
import { isGenuineRole } from '../rbac/protected-grants.ts';
import { isSensitiveRole, type Role, roleById } from '../rbac/role.ts';
import { assertGroupsClosed } from '../rbac/roles.ts';

/** The sources of a person's own membership. */
export const PERSONAL = ['direct', 'owner', 'request', 'invitation'] as const;

/** How a person came into a group. The first four are the person's own membership, of which there is one. */
export type MemberSource = (typeof PERSONAL)[number] | 'file' | `${'domain' | 'connection' | 'scim'}:${string}`;

/** Who changes a group, in which transaction, and whether the configuration file does: it alone changes what it declares. */
export interface GroupChange {
  by?: Actor | undefined;
  tx?: Tx | undefined;
  source?: 'local' | 'file' | undefined;
}

/** The ways in that take the rights of an owner. */
const BY_OWNERS: readonly string[] = ['owner', 'request', 'invitation'];

/** These groups and all below them. */
export async function idsBelow(groupIds: readonly string[], tx: Tx): Promise<string[]> {
  const rows = await inChunks(groupIds, (ids) => tx.groupAncestor.findMany({ where: { ancestorId: { in: ids } } }));
  return [...new Set([...groupIds, ...rows.map(({ groupId }) => groupId)])];
}

/** These groups and all above them. */
export async function idsAbove(groupIds: readonly string[], tx: Tx): Promise<string[]> {
  const rows = await inChunks(groupIds, (ids) => tx.groupAncestor.findMany({ where: { groupId: { in: ids } } }));
  return [...new Set([...groupIds, ...rows.map(({ ancestorId }) => ancestorId)])];
}

/** Ends the open invitations of a former owner of a group, in it and below it, but for the groups that the person still owns. */
export async function endInvitations(groupId: string, invitedBy: string, now: Date, tx: Tx): Promise<void> {
  const where = { userId: invitedBy, OR: [{ until: null }, { until: { gt: now } }] };
  const owned = await tx.groupOwner.findMany({ where, select: { groupId: true } });
  const kept = await idsBelow(
    owned.map((row) => row.groupId),
    tx,
  );
  const lost = (await idsBelow([groupId], tx)).filter((id) => !kept.includes(id));
  await eachChunk(lost, async (ids) => {
    await tx.groupInvitation.deleteMany({ where: { groupId: { in: ids }, invitedBy, acceptedAt: null } });
  });
}

/** Takes deputies of an owner out of the group, with their invitations. Returns how many. @param data more of the audit event */
export async function endDeputies(
  { audit, now }: Core,
  { id: groupId, name: groupName }: { id: string; name: string },
  where: { deputyOf: string; userId?: string },
  { by = {} }: GroupChange,
  tx: Tx,
  data: { ended?: true } = {},
): Promise<number> {
  const rows = await tx.groupOwner.findMany({ where: { groupId, ...where } });
  for (const { userId } of rows) {
    await tx.groupOwner.deleteMany({ where: { groupId, userId } });
    await endInvitations(groupId, userId, now(), tx);
    const event = { ...by, type: 'group.deputy-removed', outcome: 'success', subjectId: userId } as const;
    await audit.record({ ...event, data: { groupId, groupName, ...data } }, tx);
  }
  return rows.length;
}

/** Owners who get a mail about a group. */
const MOST_OWNERS = 20;

/** The active accounts that own the group or one above it now, or are deputies there; owners first. */
export async function ownersOf(groupId: string, now: Date, tx: Tx) {
  const lasting = { user: whereActive(now), OR: [{ until: null }, { until: { gt: now } }] };
  const where = { groupId: { in: await idsAbove([groupId], tx) }, ...lasting };
  const rows = await holding(await tx.groupOwner.findMany({ where, include: { user: true } }), now, tx);
  rows.sort((one, other) => Number(one.deputyOf !== null) - Number(other.deputyOf !== null));
  return [...new Map(rows.map(({ user }) => [user.id, user])).values()].slice(0, MOST_OWNERS);
}

const roleIdsOf = async (groupIds: readonly string[], tx: Tx): Promise<string[]> => {
  const above = await idsAbove(groupIds, tx);
  const rows = await inChunks(above, (ids) => tx.groupRole.findMany({ where: { groupId: { in: ids } } }));
  return [...new Set(rows.map(({ roleId }) => roleId))].sort();
};

/** Every role that the people in these groups get by them. */
export async function rolesConferred(groupIds: readonly string[], tx: Tx): Promise<Role[]> {
  const roles: Role[] = [];
  for (const id of await roleIdsOf(groupIds, tx)) roles.push(await roleById(id, tx));
  return roles;
}

export function createGroupRights({ now, authority }: Core & { authority: Authority }) {
  /** Every role that the people in these groups, or below them, get by them: what an owner can give. */
  async function rolesBelow(groupIds: readonly string[], tx: Tx): Promise<Role[]> {
    if (groupIds.length === 0) return [];
    const above = await idsAbove(groupIds, tx);
    // Most groups below give no more than those above, so only the others are read and verified.
    const found = await tx.$queryRaw<{ id: string }[]>`SELECT DISTINCT below.group_id AS id FROM group_ancestors below
      JOIN group_ancestors a ON a.group_id = below.group_id JOIN group_roles gr ON gr.group_id = a.ancestor_id
      WHERE below.ancestor_id IN (${joinFragments([...groupIds], ', ')}) AND gr.group_id NOT IN (${joinFragments(above, ', ')})`;
    const rows = await inChunks(found, (some) =>
      tx.groupAncestor.findMany({
        where: { ancestorId: { in: [...groupIds] }, groupId: { in: some.map(({ id }) => id) } },
      }),
    );
    return rolesConferred([...groupIds, ...rows.map(({ groupId }) => groupId)], tx);
  }
  const rolesCoveredBy = (id: string, tx: Tx) => rolesBelow([id], tx);

  /** Whether it gives a right in Gatehouse itself: then nobody but administrators puts people in. */
  const isSensitive = async (id: string, tx: Tx) => (await rolesConferred([id], tx)).some(isSensitiveRole);

  async function assertNotSensitive(id: string, tx: Tx): Promise<void> {
    if (await isSensitive(id, tx)) throw conflict('group_sensitive');
  }

  /** For a change of the groups themselves. Throws forbidden (403). */
  async function assertMayWrite(groupIds: readonly string[], { by = {} }: GroupChange, tx: Tx): Promise<void> {
    const roles = await rolesConferred(groupIds, tx);
    await authority.assertMay(by, { what: 'group', roles }, tx);
    await assertReachStays(groupIds, roles, by, tx);
  }

  /** Throws forbidden for an actor who has a permission limited to one of these groups or roles: more members would extend it. */
  async function assertReachStays(
    groupIds: readonly string[],
    roles: readonly Role[],
    by: Actor,
    tx: Tx,
  ): Promise<void> {
    const groups = await idsAbove(groupIds, tx);
    await authority.assertMay(by, { what: 'reach', groups, roles: roles.map(({ name }) => name) }, tx);
  }

  /** Throws group_sensitive (409) where owners, requests, domains or connections could give these roles, which the group is to get. */
  async function assertMayConfer(
    groupId: string,
    roles: readonly Role[],
    { by = {} }: GroupChange,
    tx: Tx,
  ): Promise<void> {
    if (roles.some(isSensitiveRole)) await assertGroupsClosed({ authority }, await idsBelow([groupId], tx), by, tx);
  }

  /** The ownerships of the group or one above it. Throws forbidden where the actor has none, and group_sensitive (409). */
  async function assertOwns(id: string, userId: string | undefined, tx: Tx) {
    const above = await idsAbove([id], tx);
    const owned = userId === undefined ? [] : await ownershipsOf(userId, now(), tx);
    const fitting = owned.filter(({ groupId }) => above.includes(groupId));
    if (fitting.length === 0) throw forbidden('forbidden', { detail: { groupId: id } });
    await assertNotSensitive(id, tx);
    return fitting;
  }

  /** Throws group_unconfirmed (403) unless one of these appointments covered every role of the group. */
  async function assertConfirmed(id: string, fitting: readonly { covers: string[] }[], tx: Tx): Promise<void> {
    const roleIds = await roleIdsOf([id], tx);
    if (!fitting.some(({ covers }) => roleIds.every((role) => covers.includes(role))))
      throw forbidden('group_unconfirmed', { detail: { groupId: id } });
  }

  /** The one question of every way in: may the actor give all that this group gives? */
  async function assertMayPut(id: string, via: MemberSource, options: GroupChange, tx: Tx): Promise<void> {
    const { by = {} } = options;
    const roles = await rolesConferred([id], tx);
    if (BY_OWNERS.includes(via)) {
      await assertConfirmed(id, await assertOwns(id, by.actorId, tx), tx);
      return assertReachStays([id], roles, by, tx);
    }
    if (via.startsWith('domain:')) await assertNotSensitive(id, tx);
    // Its permissions decide who may give it, and could be put back later.
    for (const role of roles) if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
    await authority.assertMay(by, { what: 'group', roles }, tx);
    await assertReachStays([id], roles, by, tx);
  }

  return {
    /** The actor's own appointment to this group, which a deputy has not. Throws forbidden, and group_sensitive (409). */
    async assertMayDeputize(id: string, { by = {} }: GroupChange, tx: Tx) {
      const own = (await assertOwns(id, by.actorId, tx)).find((one) => one.groupId === id && one.deputyOf === null);
      if (!own) throw forbidden('forbidden', { detail: { groupId: id } });
      return own;
    },

    rolesConferred,
    rolesCoveredBy,
    isSensitive,
    assertNotSensitive,
    assertMayWrite,
    assertMayConfer,

    /** The role that a group is to get. Throws forbidden, not_found, and changed_outside for one that another program wrote. */
    async managedRole(name: string, { by = {} }: GroupChange, tx: Tx): Promise<Role> {
      const role = await managedRole({ authority }, name, by, tx);
      if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
      await assertReachStays([], [role], by, tx);
      return role;
    },

    /** For an owner of a group, who gives the people of it and of all below its roles. */
    async assertMayAppoint(id: string, { by = {} }: GroupChange, tx: Tx): Promise<Role[]> {
      await assertNotSensitive(id, tx);
      const roles = await rolesCoveredBy(id, tx);
      await authority.assertMay(by, { what: 'group', roles }, tx);
      await assertReachStays(await idsBelow([id], tx), roles, by, tx);
      return roles;
    },

    assertMayPut,

    /** The same for the way out, where an owner needs no confirmation: who left the team leaves the group. */
    async assertMayTake(id: string, via: MemberSource, options: GroupChange, tx: Tx): Promise<void> {
      if (!BY_OWNERS.includes(via)) return assertMayPut(id, via, options, tx);
      const { by = {} } = options;
      await assertOwns(id, by.actorId, tx);
      await assertReachStays([id], await rolesConferred([id], tx), by, tx);
    },

    /** Whether the person owns the group, or one above it, now. */
    async owns(userId: string, id: string, tx: Tx): Promise<boolean> {
      const above = await idsAbove([id], tx);
      return (await ownershipsOf(userId, now(), tx)).some(({ groupId }) => above.includes(groupId));
    },

    confersAdmin: async (groupIds: readonly string[], tx: Tx): Promise<boolean> =>
      (await rolesBelow(groupIds, tx)).some(({ name }) => name === ADMIN_ROLE),
  };
}
