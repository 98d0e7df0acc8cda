// The audit event of every account that gets permissions in Gatehouse, by whatever change: the alert for new administrators.
import { inChunks } from '../../base/storage/chunks.ts';
import type { Tx } from '../../base/storage/database.ts';
import { type Fragment, fragment } from '../../base/storage/fragments.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { ADMIN_ROLE, OWN_PREFIX } from './built-in.ts';
import { isSensitiveRole, type Role } from './role.ts';

/** People with an event each; more have one event with their number. */
const EACH = 100;

/** Who gets which roles by a change. */
export interface RolesGiven {
  /** Ids, at most 100, or what finds them, in the column `user_id`. */
  people: readonly string[] | Fragment;
  /** What they get by it. */
  roles: readonly Role[];
  group?: { id: string; name: string } | undefined;
  by: Actor;
}

/** Runs a change, and records each account that gets a role with permissions in Gatehouse by it, at once or at a later time. */
export async function recordingAdministrators<T>(
  { audit, now }: Pick<Core, 'audit' | 'now'>,
  { people, roles, group, by }: RolesGiven,
  tx: Tx,
  work: () => Promise<T>,
): Promise<T> {
  const given = roles.filter(isSensitiveRole);
  if (given.length === 0) return work();
  const ofGroup = group && { groupId: group.id, groupName: group.name };
  const event = { ...by, type: 'administrator.added', outcome: 'success' } as const;
  const ids = 'strings' in people ? await idsOf(people, tx) : people;
  if ('strings' in people && ids.length > EACH) {
    const result = await work();
    const roleName = given.map(({ name }) => name).join(', ');
    await audit.record({ ...event, data: { roleName, ...ofGroup, count: await countOf(people, tx) } }, tx);
    return result;
  }
  const before = await rolesHeld(ids, now(), tx);
  const result = await work();
  const after = await rolesHeld(ids, now(), tx);
  const events = [];
  for (const subjectId of ids) {
    const gained = [...(after.get(subjectId) ?? [])].filter((name) => !before.get(subjectId)?.has(name));
    const roleName = gained.sort().join(', ');
    if (gained.length > 0) events.push({ ...event, subjectId, data: { roleName, ...ofGroup } });
  }
  await audit.recordAll(events, tx);
  return result;
}

async function countOf(people: Fragment, tx: Tx): Promise<number> {
  const [found] = await tx.$queryRaw<{ count: number | bigint }[]>(
    fragment`SELECT COUNT(DISTINCT user_id) AS count FROM (${people}) AS found`,
  );
  return Number(found?.count ?? 0);
}

/** The people whom a change gives roles; at most one more than have an event each. */
async function idsOf(people: Fragment, tx: Tx): Promise<string[]> {
  const rows = await tx.$queryRaw<{ userId: string }[]>(
    fragment`SELECT DISTINCT user_id AS "userId" FROM (${people}) AS found LIMIT ${EACH + 1}`,
  );
  return rows.map(({ userId }) => userId);
}

/** The roles with permissions in Gatehouse that each of these people has or will have, by name. Grants that another program wrote do not count. */
async function rolesHeld(ids: readonly string[], now: Date, tx: Tx): Promise<Map<string, Set<string>>> {
  const own = { permissions: { some: { permission: { resource: { startsWith: OWN_PREFIX } } } } };
  const where = { OR: [{ name: ADMIN_ROLE }, own] };
  const roles = new Map(
    (await tx.role.findMany({ where, select: { id: true, name: true } })).map((r) => [r.id, r.name]),
  );
  const held = new Map<string, Set<string>>();
  const note = (userId: string, roleId: string) => {
    const name = roles.get(roleId);
    if (name !== undefined) held.set(userId, (held.get(userId) ?? new Set()).add(name));
  };
  const roleId = { in: [...roles.keys()] };
  const lasting = { userId: { in: [...ids] }, OR: [{ until: null }, { until: { gt: now } }] };
  for (const row of await tx.userRole.findMany({ where: { roleId, ...lasting } })) note(row.userId, row.roleId);
  const granted = await tx.groupRole.findMany({ where: { roleId } });
  const above = await inChunks(granted, (piece) =>
    tx.groupAncestor.findMany({ where: { ancestorId: { in: piece.map(({ groupId }) => groupId) } } }),
  );
  const below = [...new Set(above.map(({ groupId }) => groupId))];
  const members = await inChunks(below, (groupIds) =>
    tx.groupMember.findMany({ where: { groupId: { in: groupIds }, ...lasting } }),
  );
  for (const { userId, groupId } of members)
    for (const { ancestorId } of above.filter((one) => one.groupId === groupId))
      for (const one of granted.filter((row) => row.groupId === ancestorId)) note(userId, one.roleId);
  return held;
}

/** The people who have the role, directly or by a group, in at most this many grants and memberships. */
export const holdersOf = (
  roleId: string,
  most: number,
): Fragment => fragment`SELECT user_id FROM user_roles WHERE role_id = ${roleId}
  UNION ALL SELECT m.user_id FROM group_roles r JOIN group_ancestors a ON a.ancestor_id = r.group_id
  JOIN group_members m ON m.group_id = a.group_id WHERE r.role_id = ${roleId} LIMIT ${most}`;
