// Assigns roles to users and takes them away. authority.ts decides who may; one active administrator always remains.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { conflict, invalidInput, notFound } from '../../base/http/errors.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { type Db, type Tx, withinTransaction } from '../../base/storage/database.ts';
import { isStorableTime } from '../../base/storage/storable-text.ts';
import { fault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import { isCurrent } from '../accounts/account.ts';
import { whereActive } from '../accounts/active.ts';
import type { Authority } from './authority.ts';
import { ADMIN_ROLE } from './built-in.ts';
import { recordingAdministrators } from './new-administrators.ts';
import { isGenuineRole } from './protected-grants.ts';
import { findRole, type Role } from './role.ts';

/** `via` of a role that was granted to the user, not through a group or a connection. */
const DIRECT = '';

/**
 * Called in the transaction in which the roles or groups of users changed; many are signed out by a job afterwards.
 * @param groupId whose page shows the job; none where it is deleted
 */
export type LogoutOnRoleChange = (
  userIds: readonly string[],
  by: Actor,
  tx: Tx,
  groupId?: string | null,
) => Promise<void>;

/** Called in the transaction in which a role or group gets another name; without `after` it is deleted. */
export type NameChanged = (
  change: { kind: 'role' | 'group'; before: string; after?: string },
  by: Actor,
  tx: Tx,
) => Promise<void>;

type AssignmentContext = {
  db: Db;
  now: Clock;
  audit: Audit;
  authority: Authority;
  logoutOnRoleChange: LogoutOnRoleChange;
};

/** Null or absent: at once, and without end. */
export interface RoleTimes {
  since?: Date | null | undefined;
  until?: Date | null | undefined;
}

/** A name, or a name with its times. */
export type WantedRole = string | ({ name: string } & RoleTimes);

/** Gives the role, or changes how long the user has it. False when nothing changed. Throws invalid_input for an end that has passed. */
export function assignRole(
  context: AssignmentContext,
  userId: string,
  roleName: string,
  by: Actor,
  outer: Tx | undefined,
  { since = null, until = null }: RoleTimes = {},
): Promise<boolean> {
  const { db, now, audit, logoutOnRoleChange } = context;
  return withinTransaction(db, outer, async (tx) => {
    const role = await managedRole(context, roleName, by, tx);
    // Its permissions decided who may give it, and could be put back later.
    if (!(await isGenuineRole(role, tx))) throw conflict('changed_outside');
    const grant = { userId, roleId: role.id, via: DIRECT };
    const at = now();
    assertTimes({ since, until }, at);
    const held = await tx.userRole.findUnique({ where: { userId_roleId_via: grant } });
    if (held && sameTime(held.since, since) && sameTime(held.until, until)) return false;
    if ((await tx.user.count({ where: { id: userId } })) === 0) throw notFound({ detail: { userId } });
    const isLast = until !== null && role.name === ADMIN_ROLE && (await isLastAdmin(userId, tx, at));
    const row = { ...grant, since, until, notice: since !== null && since > at ? 'begins' : '' };
    await recordingAdministrators(context, { people: [userId], roles: [role], by }, tx, () =>
      tx.userRole.upsert({ where: { userId_roleId_via: grant }, create: row, update: row }),
    );
    if (isLast && !(await hasAdministrator(tx, at))) throw conflict('last_admin');
    const data = { roleName, ...(since && { since }), ...(until && { until }) };
    await audit.record({ ...by, type: 'role.assigned', outcome: 'success', subjectId: userId, data }, tx);
    if ((held !== null && isCurrent(held, at)) !== isCurrent(row, at)) await logoutOnRoleChange([userId], by, tx);
    return true;
  });
}

/** Throws invalid_input for an end that has passed or comes before the beginning, and for a year before 1 or after 9999. */
export function assertTimes({ since, until }: { since: Date | null; until: Date | null }, now: Date): void {
  for (const [field, at] of Object.entries({ since, until }))
    if (at !== null && !isStorableTime(at)) throw invalidInput([fault([field], 'wrong-form')]);
  if (until !== null && (until <= now || (since !== null && until <= since)))
    throw invalidInput([fault(['until'], 'end-passed')]);
}

export const sameTime = (one: Date | null, other: Date | null): boolean => one?.getTime() === other?.getTime();

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
    const isLast = role.name === ADMIN_ROLE && (await isLastAdmin(userId, tx, context.now()));
    const { count } = await tx.userRole.deleteMany({ where: { userId, roleId: role.id, via: DIRECT } });
    if (count === 0) return false;
    if (isLast && !(await hasAdministrator(tx, context.now()))) throw conflict('last_admin');
    const data = { roleName };
    await audit.record({ ...by, type: 'role.unassigned', outcome: 'success', subjectId: userId, data }, tx);
    await logoutOnRoleChange([userId], by, tx);
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
  if (!role) throw notFound({ message: t('console.roles.error.unknown', { name }) });
  return role;
}

/**
 * Assigns the roles that the user lacks and takes away those that are not in `wanted`. A name leaves the end of a role that the user has; an
 * object sets it.
 */
export function setRoles(
  context: AssignmentContext,
  userId: string,
  wanted: readonly WantedRole[],
  by: Actor,
  outer: Tx | undefined,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const held = await directRoles(userId, tx);
    const names = wanted.map((role) => (typeof role === 'string' ? role : role.name));
    for (const role of wanted) {
      if (typeof role !== 'string') await assignRole(context, userId, role.name, by, tx, role);
      else if (!held.includes(role)) await assignRole(context, userId, role, by, tx);
    }
    for (const name of held) if (!names.includes(name)) await unassignRole(context, userId, name, by, tx);
  });
}

/** The names of the roles that were granted to the user, not through a group or a connection. */
export async function directRoles(userId: string, tx: Tx): Promise<string[]> {
  const where = { userId, via: DIRECT };
  const rows = await tx.asStored.userRole.findMany({ where, select: { role: { select: { name: true } } } });
  return rows.map(({ role }) => role.name);
}

/** Throws last_admin (409) when no other active user has the admin role. */
export async function assertNotLastAdmin(userId: string, tx: Tx, now: Date): Promise<void> {
  if (await isLastAdmin(userId, tx, now)) throw conflict('last_admin');
}

/** Whether the user is the only administrator. @param isRead to show it, without the lock that a change needs */
export async function isLastAdmin(userId: string, tx: Tx, now: Date, isRead = false): Promise<boolean> {
  const hasOther = await hasAdministrator(tx, now, { userId: { not: userId }, isRead });
  return !hasOther && hasAdministrator(tx, now, { userId: { equals: userId }, isRead });
}

interface AdministratorQuery {
  userId?: { not?: string; equals?: string };
  /** Direct roles, or those by a connection, that are about to end. */
  endingGrants?: { via: string; userId?: string }[];
  /** Whether a membership is about to end. */
  isLeaving?: (member: { groupId: string; userId: string; source: string }) => boolean;
  /** Without the lock that a change needs. */
  isRead?: boolean;
}

/**
 * Whether an active user has the admin role now, directly or by a group, and for good: one whose role or account ends does not count, nor does what another
 * program wrote.
 */
export async function hasAdministrator(
  tx: Tx,
  now: Date,
  { userId = {}, endingGrants = [], isLeaving = () => false, isRead = false }: AdministratorQuery = {},
): Promise<boolean> {
  // Locks the row, so that two administrators who remove each other at the same moment are serialized.
  if (!isRead) await tx.role.updateMany({ where: { name: ADMIN_ROLE }, data: { name: ADMIN_ROLE } });
  const user = { ...whereActive(now), activeUntil: null };
  const lasting = { userId, user, until: null, OR: [{ since: null }, { since: { lte: now } }] };
  const include = { user: true } as const;
  const where = { role: { name: ADMIN_ROLE }, NOT: endingGrants, ...lasting };
  if ((await tx.userRole.findMany({ where, include, take: MOST_READ })).length > 0) return true;
  const granted = await tx.groupRole.findMany({ where: { role: { name: ADMIN_ROLE } } });
  if (granted.length === 0) return false;
  const ancestorId = { in: granted.map(({ groupId }) => groupId) };
  const below = await tx.groupAncestor.findMany({ where: { ancestorId } });
  for (const { groupId } of below)
    for (let skip = 0; ; skip += MOST_READ) {
      const orderBy = [{ userId: 'asc' as const }, { source: 'asc' as const }];
      const page = { where: { groupId, ...lasting }, orderBy, skip, take: MOST_READ };
      const members = await tx.groupMember.findMany({ ...page, include });
      if (members.some((member) => !isLeaving(member))) return true;
      if ((await tx.asStored.groupMember.count(page)) < MOST_READ) break;
      await nextTurn();
    }
  return false;
}

/** One genuine administrator is enough; more are read in case another program wrote some, or many leave. */
const MOST_READ = 100;

// Grants that time ends or begins, for the job of ends (people/groups/ends.ts). Each returns how many rows it found.

type GrantJob = Pick<AssignmentContext, 'audit' | 'logoutOnRoleChange'>;

/** Rows of one transaction of the job `ends`. */
export interface Page {
  take: number;
  skip: number;
}

/** What a transaction of the job `ends` found. */
export interface Batch {
  found: number;
  /** Of them, what another program wrote: a read leaves it out, and it stays. */
  forged?: number;
}

export async function deleteEndedGrants(
  { audit, logoutOnRoleChange }: GrantJob,
  now: Date,
  tx: Tx,
  { take }: Page,
): Promise<Batch> {
  const ended = { until: { lte: now } };
  const include = { role: { select: { name: true } } } as const;
  const rows = await tx.asStored.userRole.findMany({ where: ended, include, take });
  for (const { userId, roleId, via, role } of rows) {
    if ((await tx.userRole.deleteMany({ where: { userId, roleId, via, ...ended } })).count === 0) continue;
    const data = { roleName: role.name, via, ended: true };
    await audit.record({ type: 'role.unassigned', outcome: 'success', subjectId: userId, data }, tx);
    await logoutOnRoleChange([userId], {}, tx);
  }
  return { found: rows.length };
}

export async function reportBegunGrants(
  { logoutOnRoleChange }: Pick<GrantJob, 'logoutOnRoleChange'>,
  now: Date,
  tx: Tx,
  page: Page,
): Promise<Batch> {
  const where = { notice: 'begins', since: { lte: now } };
  const asc = 'asc' as const;
  const query = { where, orderBy: [{ userId: asc }, { roleId: asc }, { via: asc }], ...page };
  const found = await tx.userRole.count(query);
  const rows = await tx.userRole.findMany(query);
  for (const { userId, roleId, via } of rows) {
    await tx.userRole.updateMany({ where: { userId, roleId, via }, data: { notice: '' } });
    await logoutOnRoleChange([userId], {}, tx);
  }
  return { found, forged: found - rows.length };
}

/** The user is told of the end by mail. False when that happened before, or the end is another one. */
export async function markWarned(
  { userId, roleId, via, until }: { userId: string; roleId: string; via: string; until: Date | null },
  tx: Tx,
): Promise<boolean> {
  const where = { userId, roleId, via, until, notice: '' };
  return (await tx.userRole.updateMany({ where, data: { notice: 'warned' } })).count > 0;
}
