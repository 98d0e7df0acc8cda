// Groups: who is in them, what they give, and who may put people in. A person in a group is in every group above it and has the roles of all
// of them. rights.ts decides who may change what; graph.ts keeps what reads need of the graph.

import { AppError, conflict, invalidInput, notFound, ownedByFile } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { isUniqueConstraintError, type Tx, transaction } from '../../base/storage/database.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { fault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { AuditEventType } from '../../core/audit/events.ts';
import type { Core } from '../../core/core.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { holding, isCurrent } from '../accounts/account.ts';
import { stateOf } from '../accounts/active.ts';
import {
  assertTimes,
  hasAdministrator,
  isLastAdmin,
  type LogoutOnRoleChange,
  type NameChanged,
  sameTime,
} from '../rbac/assign-roles.ts';
import type { Authority } from '../rbac/authority.ts';
import { groupKey, isGroupName } from '../rbac/names.ts';
import { type RolesGiven, recordingAdministrators } from '../rbac/new-administrators.ts';
import { roleNamed } from '../rbac/role.ts';
import { removeLimit } from '../rbac/roles.ts';
import { storeGraph } from './graph.ts';
import { createGroupReads, type Group, pagesOfIds, peopleBelow } from './read.ts';
import {
  createGroupRights,
  endDeputies,
  endInvitations,
  type GroupChange,
  idsBelow,
  type MemberSource,
  PERSONAL,
} from './rights.ts';

export type { GroupChange, MemberSource } from './rights.ts';

export interface NewGroup {
  name: string;
  description?: string | undefined;
  acceptsRequests?: boolean | undefined;
  fileMembers?: boolean | undefined;
}

export interface NewMember {
  userId: string;
  /** Null or absent: at once. */
  since?: Date | null | undefined;
  /** Null or absent: no end. */
  until?: Date | null | undefined;
}

interface Times {
  since: Date | null;
  until: Date | null;
}

/** A membership to store. */
interface NewRow extends Times {
  groupId: string;
  userId: string;
  source: string;
  notice: string;
  addedBy: string | null;
  createdAt: Date;
}

/** What puts people in groups at sign-in. */
export type SignInSource = Extract<MemberSource, `${string}:${string}`>;

export type Groups = ReturnType<typeof createGroups>;

/** Members of one turn of the event loop: each has an audit event. */
const RECORDED = 25;

/** A change of many rows: two hundred thousand members, or a graph of five thousand groups. */
const LONG = { timeout: 120_000 };

/** What events say of a group. */
type RecordedGroup = Pick<Group, 'id' | 'name'>;

/** Every operation on groups. A change joins the transaction `tx`, or is one of its own. */
export function createGroups(
  core: Core & { authority: Authority; logoutOnRoleChange: LogoutOnRoleChange; nameChanged?: NameChanged },
) {
  const { db, sql, now, audit, outbox } = core;
  const rights = createGroupRights(core);
  const reads = createGroupReads(core);
  const { get, losses } = reads;

  /** Runs a change under the lock of groups: `shared` where only memberships change. */
  const change = <T>(mode: 'shared' | 'exclusive', { tx: outer }: GroupChange, work: (tx: Tx) => Promise<T>) => {
    const locked = async (tx: Tx) => {
      await lockGroups(tx, sql, mode);
      return work(tx);
    };
    return outer ? locked(outer) : transaction(db, locked, LONG);
  };

  const eventOf = (type: AuditEventType, group: RecordedGroup, { by = {} }: GroupChange, data = {}) => {
    const { subjectId, ...rest } = data as { subjectId?: string };
    const event = { ...by, type, outcome: 'success', ...(subjectId !== undefined && { subjectId }) } as const;
    return { ...event, data: { groupId: group.id, groupName: group.name, ...rest } };
  };

  const record = (type: AuditEventType, group: RecordedGroup, options: GroupChange, tx: Tx, data = {}): Promise<void> =>
    audit.record(eventOf(type, group, options, data), tx);

  /**
   * Throws owned_by_file (403) for a change of what the configuration file declares. What a connection or a domain gives is not declared
   * there.
   */
  async function changeable(
    id: string,
    { source = 'local' }: GroupChange,
    tx: Tx,
    what: 'group' | 'members' = 'group',
  ) {
    const group = await get(id, tx);
    if (group.source === 'file' && source !== 'file' && (what === 'group' || group.fileMembers))
      throw ownedByFile('group', group);
    return group;
  }

  /**
   * Runs a change of the roles of the people in these groups, or below them, or of the groups above them: an administrator remains, and
   * they are signed out if the settings say so.
   */
  async function changingRoles<T>(
    groupIds: readonly string[],
    { by = {} }: GroupChange,
    tx: Tx,
    work: () => Promise<T>,
    shownBy: string | null = groupIds[0] ?? null,
  ) {
    const gaveAdmin = await rights.confersAdmin(groupIds, tx);
    const members = await membersBelow(groupIds, tx);
    const result = await work();
    if (gaveAdmin && !(await hasAdministrator(tx, now()))) throw conflict('last_admin');
    await core.logoutOnRoleChange(members, by, tx, shownBy);
    return result;
  }

  const giving = <T>(given: Omit<RolesGiven, 'by'>, { by = {} }: GroupChange, tx: Tx, work: () => Promise<T>) =>
    recordingAdministrators(core, { ...given, by }, tx, work);

  /** The people in these groups and below them; none where nobody is signed out, so that nobody is read. */
  async function membersBelow(groupIds: readonly string[], tx: Tx): Promise<string[]> {
    if (!core.settings.latest().sign_out_on_role_change) return [];
    const found = new Set<string>();
    for (const groupId of await idsBelow(groupIds, tx))
      for await (const page of pagesOfIds({ groupId }, tx)) for (const userId of page) found.add(userId);
    return [...found];
  }

  /** Throws group_name_taken (409), invalid_input (400), forbidden (403). */
  function create(declared: NewGroup & { id?: string }, options: GroupChange = {}): Promise<Group> {
    return change('exclusive', options, async (tx) => {
      await rights.assertMayWrite([], options, tx);
      const { id = randomId(), name, description = '', acceptsRequests = false, fileMembers = false } = declared;
      const source = options.source ?? 'local';
      const columns = { ...namesOf(name), path: `/${name}`, description, acceptsRequests, fileMembers, source };
      await assertNoId(name, tx);
      const at = now();
      await tx.group.create({ data: { id, ...columns, createdAt: at, updatedAt: at } }).catch(throwTaken);
      await tx.groupAncestor.create({ data: { groupId: id, ancestorId: id } });
      const group = await get(id, tx);
      await record('group.created', group, options, tx, { after: declaredOf(group) });
      return group;
    });
  }

  /** Throws as `create` does, not_found (404), owned_by_file (403), and group_sensitive (409) for requests to a sensitive group. */
  function update(
    id: string,
    changes: Partial<NewGroup> & { source?: 'local' | 'file' },
    options: GroupChange = {},
  ): Promise<Group> {
    return change('exclusive', options, async (tx) => {
      const before = await changeable(id, options, tx);
      await rights.assertMayWrite([id], options, tx);
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const after: Group = { ...before, ...given };
      if (JSON.stringify(after) === JSON.stringify(before)) return before;
      if (after.acceptsRequests && !before.acceptsRequests) await rights.assertNotSensitive(id, tx);
      const { name, description, acceptsRequests, source, fileMembers, path } = after;
      if (name !== before.name) await assertNoId(name, tx);
      const data = { id, ...namesOf(name), path, description, acceptsRequests, source, fileMembers, updatedAt: now() };
      await tx.group.update({ where: { id }, data, select: { id: true } }).catch(throwTaken);
      if (name !== before.name) {
        await storeGraph(tx, [id]);
        await core.nameChanged?.({ kind: 'group', before: before.name, after: name }, options.by ?? {}, tx);
      }
      const stored = await get(id, tx);
      const difference = { before: declaredOf(before), after: declaredOf(stored) };
      if (JSON.stringify(difference.before) !== JSON.stringify(difference.after))
        await record('group.updated', stored, options, tx, difference);
      return stored;
    });
  }

  /** Deletes the group; its child groups stay. Throws not_found, owned_by_file, forbidden, last_admin. */
  function remove(id: string, options: GroupChange = {}): Promise<void> {
    return change('exclusive', options, async (tx) => {
      const group = await changeable(id, options, tx);
      await rights.assertMayWrite([id], options, tx);
      const lost = await losses(id, tx);
      const work = async () => {
        const children = await tx.groupChild.findMany({ where: { parentId: id } });
        // A group of the same name is another group.
        await removeLimit({ kind: 'group', name: id }, tx);
        await core.nameChanged?.({ kind: 'group', before: group.name }, options.by ?? {}, tx);
        // Not with the group: SQLite would delete all of them in one turn of the event loop.
        for await (const userIds of pagesOfIds({ groupId: id }, tx))
          await tx.groupMember.deleteMany({ where: { groupId: id, userId: { in: userIds } } });
        await tx.group.delete({ where: { id }, select: { id: true } });
        await storeGraph(
          tx,
          children.map(({ childId }) => childId),
        );
      };
      await changingRoles([id], options, tx, work, null);
      await record('group.deleted', group, options, tx, { before: { ...declaredOf(group), ...lost } });
    });
  }

  /** Makes one group a child of another. Throws invalid_input for a cycle and for too many levels, group_sensitive (409), forbidden (403). */
  function addChild(parentId: string, childId: string, options: GroupChange = {}): Promise<boolean> {
    return change('exclusive', options, async (tx) => {
      const [parent, child] = [await changeable(parentId, options, tx), await get(childId, tx)];
      await rights.assertMayWrite([parentId], options, tx);
      const edge = { parentId, childId };
      if (await tx.groupChild.findUnique({ where: { parentId_childId: edge } })) return false;
      const given = await rights.rolesConferred([parentId], tx);
      await rights.assertMayConfer(childId, given, options, tx);
      const held = (await rights.rolesConferred([childId], tx)).map((role) => role.id);
      const roles = given.filter((role) => !held.includes(role.id));
      await changingRoles([childId], options, tx, () =>
        giving(
          { people: peopleBelow(childId, limits.lists.counted * 3), roles, group: parent },
          options,
          tx,
          async () => {
            await tx.groupChild.upsert({ where: { parentId_childId: edge }, create: edge, update: edge });
            await storeGraph(tx, [childId]);
          },
        ),
      );
      await record('group.child-added', parent, options, tx, { childId, childName: child.name });
      return true;
    });
  }

  /** False when it was no child. Throws forbidden, owned_by_file, last_admin. */
  function removeChild(parentId: string, childId: string, options: GroupChange = {}): Promise<boolean> {
    return change('exclusive', options, async (tx) => {
      const [parent, child] = [await changeable(parentId, options, tx), await get(childId, tx)];
      await rights.assertMayWrite([parentId], options, tx);
      const count = await changingRoles([childId], options, tx, async () => {
        const deleted = await tx.groupChild.deleteMany({ where: { parentId, childId } });
        if (deleted.count > 0) await storeGraph(tx, [childId]);
        return deleted.count;
      });
      if (count > 0) await record('group.child-removed', parent, options, tx, { childId, childName: child.name });
      return count > 0;
    });
  }

  /** Gives the people in the group, and below it, a role. Throws group_sensitive (409) where owners, requests or domains could give it. */
  function addRole(id: string, roleName: string, options: GroupChange = {}): Promise<boolean> {
    return change('exclusive', options, async (tx) => {
      const group = await changeable(id, options, tx);
      const role = await rights.managedRole(roleName, options, tx);
      await rights.assertMayWrite([id], options, tx);
      const row = { groupId: id, roleId: role.id };
      if (await tx.groupRole.findUnique({ where: { groupId_roleId: row } })) return false;
      await rights.assertMayConfer(id, [role], options, tx);
      const held = await rights.rolesConferred([id], tx);
      const roles = held.some((one) => one.id === role.id) ? [] : [role];
      await changingRoles([id], options, tx, () =>
        giving({ people: peopleBelow(id, limits.lists.counted * 3), roles, group }, options, tx, () =>
          tx.groupRole.upsert({ where: { groupId_roleId: row }, create: row, update: row }),
        ),
      );
      await record('group.role-added', group, options, tx, { roleName });
      return true;
    });
  }

  /** False when the group did not have it. Throws forbidden, owned_by_file, last_admin. */
  function removeRole(id: string, roleName: string, options: GroupChange = {}): Promise<boolean> {
    return change('exclusive', options, async (tx) => {
      const group = await changeable(id, options, tx);
      await rights.assertMayWrite([id], options, tx);
      const { id: roleId } = await roleNamed(roleName, tx);
      const { count } = await changingRoles([id], options, tx, () =>
        tx.groupRole.deleteMany({ where: { groupId: id, roleId } }),
      );
      if (count > 0) await record('group.role-removed', group, options, tx, { roleName });
      return count > 0;
    });
  }

  /**
   * Makes a person an owner, who gets an email, or changes the end of the ownership; again, it confirms roles that the group got since. Takes
   * every role of the group. Throws group_sensitive (409), forbidden, not_found.
   */
  function appointOwner(
    id: string,
    owner: { userId: string; until?: Date | null },
    options: GroupChange = {},
  ): Promise<void> {
    return change('exclusive', options, async (tx) => {
      const group = await changeable(id, options, tx);
      const roles = await rights.assertMayAppoint(id, options, tx);
      const { userId, until = null } = owner;
      assertTimes({ since: null, until }, now());
      const user = await tx.user.findUnique({ where: { id: userId } });
      if (!user) throw unknownUser(userId);
      const key = { groupId: id, userId };
      const before = await tx.groupOwner.findUnique({ where: { groupId_userId: key } });
      const covers = JSON.stringify(roles.map((role) => role.id));
      const columns = { ...key, until, covers, deputyOf: null };
      const row = { ...columns, appointedBy: options.by?.actorId ?? null, createdAt: now() };
      await tx.groupOwner.upsert({ where: { groupId_userId: key }, create: row, update: columns });
      const isOwner = before?.deputyOf === null && isCurrent({ since: null, until: before.until }, now());
      const to = isOwner || stateOf(user, now()) !== 'active' ? undefined : recipientOf(user);
      if (to) await outbox.send({ to, kind: 'group-owner', group: group.name, groupId: id, until }, tx);
      await record('group.owner-added', group, options, tx, { subjectId: userId, until });
    });
  }

  /**
   * Lets a person do what the acting owner does in the group, until a time: the deputy gets an email about each new end. Who is an owner stays
   * one, and of two owners' deputies the later end counts. Throws forbidden unless the actor owns the group itself, and group_sensitive (409).
   */
  function appointDeputy(id: string, { userId, until }: { userId: string; until: Date }, options: GroupChange) {
    return change('exclusive', options, async (tx) => {
      const group = await get(id, tx);
      const own = await rights.assertMayDeputize(id, options, tx);
      const user = await tx.user.findUnique({ where: { id: userId } });
      if (!user) throw unknownUser(userId);
      const key = { groupId: id, userId };
      const before = await tx.groupOwner.findUnique({ where: { groupId_userId: key } });
      const [held] = before ? await holding([before], now(), tx) : [];
      const end = own.until && own.until < until ? own.until : until;
      if (held && isAtLeast(held, own.userId, end)) return;
      const columns = { ...key, until: end, covers: '[]', deputyOf: own.userId };
      const row = { ...columns, appointedBy: own.userId, createdAt: now() };
      await tx.groupOwner.upsert({ where: { groupId_userId: key }, create: row, update: columns });
      const to = recipientOf(user);
      if (to) await outbox.send({ to, kind: 'group-owner', group: group.name, groupId: id, until: end }, tx);
      await record('group.deputy-added', group, options, tx, { subjectId: userId, until: end });
    });
  }

  /** Ends the time of a deputy of the acting owner. False when the person was none. */
  function dismissDeputy(id: string, userId: string, options: GroupChange): Promise<boolean> {
    return change('exclusive', options, async (tx) => {
      const deputyOf = options.by?.actorId ?? '';
      return (await endDeputies(core, await get(id, tx), { deputyOf, userId }, options, tx)) > 0;
    });
  }

  /** Also ends the invitations and the deputies of the owner. False when the person was none. */
  function dismissOwner(id: string, userId: string, options: GroupChange = {}): Promise<boolean> {
    return change('exclusive', options, async (tx) => {
      const group = await changeable(id, options, tx);
      await rights.assertMayWrite([id], options, tx);
      const before = await tx.groupOwner.findFirst({ where: { groupId: id, userId } });
      const { count } = await tx.groupOwner.deleteMany({ where: { groupId: id, userId } });
      if (count === 0) return false;
      await endInvitations(id, userId, now(), tx);
      await endDeputies(core, group, { deputyOf: userId }, options, tx);
      await record(`group.${before?.deputyOf ? 'deputy' : 'owner'}-removed`, group, options, tx, { subjectId: userId });
      return true;
    });
  }

  /** Throws unless the actor may put people in by this way; the right is asked first, so that nobody else learns which groups there are. */
  async function joinable(id: string, via: MemberSource, options: GroupChange, tx: Tx): Promise<Group> {
    await rights.assertMayPut(id, via, options, tx);
    if (via.startsWith('connection:') || via.startsWith('scim:')) await rights.assertNotSensitive(id, tx);
    const isDeclared = isPersonal(via) || via === 'file';
    return isDeclared ? changeable(id, options, tx, 'members') : get(id, tx);
  }

  /**
   * Puts people in the group, or changes the end of those who are in it; all or none of them. Returns how many rows changed.
   * @param via the way in: `direct` takes the rights of an administrator, `owner`, `request` and `invitation` those of an owner
   * @param instead sources whose membership of the same time becomes this one, which is no change
   */
  function addMembers(
    id: string,
    members: readonly NewMember[],
    {
      via = 'direct',
      instead = [],
      ...options
    }: GroupChange & { via?: MemberSource; instead?: readonly string[] } = {},
  ): Promise<number> {
    return change('shared', options, async (tx) => {
      const group = await joinable(id, via, options, tx);
      const roles = await rights.rolesConferred([id], tx);
      const store = (piece: NewMember[]) =>
        giving({ people: piece.map(({ userId }) => userId), roles, group }, options, tx, () =>
          storeMembers(group, piece, { via, instead }, options, tx),
        );
      const changed = await inChunks(members, store, RECORDED);
      if (await rights.confersAdmin([id], tx)) await assertAdministrator(tx);
      const joinedOrLeft = changed.filter(({ isMoved }) => isMoved).map(({ userId }) => userId);
      await core.logoutOnRoleChange(joinedOrLeft, options.by ?? {}, tx, id);
      return changed.length;
    });
  }

  /** Hands a group of the configuration file back, with the members that it declared: an administrator can take them out then. */
  async function release(id: string, options: GroupChange): Promise<void> {
    await change('exclusive', options, async (tx) => {
      const inTx = { ...options, tx };
      // One that has ended stays for the job that deletes it.
      const isOpen = { OR: [{ until: null }, { until: { gt: now() } }] };
      const declared = await tx.groupMember.findMany({ where: { groupId: id, source: 'file', ...isOpen } });
      await addMembers(
        id,
        declared.map(({ userId, since, until }) => ({ userId, since, until })),
        { ...inTx, instead: ['file'] },
      );
      await update(id, { source: 'local', fileMembers: false }, inTx);
    });
  }

  /** Stores memberships of this source, and returns the people for whom that changes anything. `isMoved`: they joined, or left by a new end. */
  async function storeMembers(
    group: Group,
    members: readonly NewMember[],
    { via, instead }: { via: MemberSource; instead: readonly string[] },
    options: GroupChange,
    tx: Tx,
  ): Promise<{ userId: string; isMoved: boolean }[]> {
    const wanted = new Map(members.map((one) => [one.userId, one]));
    await assertKnown([...wanted.keys()], tx);
    const sources = isPersonal(via) ? [...PERSONAL] : [via];
    const where = { groupId: group.id, userId: { in: [...wanted.keys()] } };
    const held = await tx.groupMember.findMany({ where: { ...where, source: { in: [...sources, ...instead] } } });
    const at = now();
    const plans = [...wanted.values()].map((member) => planFor(member, held, instead, at));

    const replaced = plans.flatMap(({ userId, before }) => (before ? [userId] : []));
    if (replaced.length > 0)
      await tx.groupMember.deleteMany({ where: { ...where, userId: { in: replaced }, source: { in: [...instead] } } });
    const moved = plans.filter(({ own, times }) => own !== undefined && !isSameTime(own, times));
    for (const { own, times } of moved) if (own) await changeTimes(group, own, times, options, tx);
    const fresh = plans.filter(({ own }) => own === undefined);
    const rows = fresh.map(({ userId, times, before }) => {
      const addedBy = (before ? before.addedBy : options.by?.actorId) ?? null;
      return { groupId: group.id, userId, source: via, ...times, addedBy, createdAt: at };
    });
    if (rows.length > 0) await insertMembers(group.id, rows, sources, tx);

    const joined = fresh.filter(({ before }) => before === undefined);
    const added = joined.map(({ userId, times: { since, until } }) =>
      eventOf('group.member-added', group, options, { subjectId: userId, via, since, until }),
    );
    await audit.recordAll(added, tx);
    return [...moved, ...joined].map(({ userId, own, times }) => {
      const wasIn = own !== undefined && isCurrent(own, at);
      return { userId, isMoved: wasIn !== isCurrent(times, at) };
    });
  }

  /** Throws not_found (404). */
  async function assertKnown(userIds: string[], tx: Tx): Promise<void> {
    const users = await tx.user.findMany({ where: { id: { in: userIds } }, select: { id: true } });
    const known = new Set(users.map(({ id }) => id));
    const unknown = userIds.find((id) => !known.has(id));
    if (unknown !== undefined) throw unknownUser(unknown);
  }

  async function changeTimes(
    group: Group,
    { userId, source, since, until }: { userId: string; source: string } & Times,
    times: Times & { notice: string },
    options: GroupChange,
    tx: Tx,
  ): Promise<void> {
    const key = { groupId: group.id, userId, source };
    await tx.groupMember.update({ where: { groupId_userId_source: key }, data: times, select: { groupId: true } });
    const data = { subjectId: userId, via: source, before: { since, until }, since: times.since, until: times.until };
    await record('group.member-changed', group, options, tx, data);
  }

  /** In place of rows of these sources that another program wrote. */
  async function insertMembers(groupId: string, rows: NewRow[], sources: string[], tx: Tx): Promise<void> {
    const forged = { groupId, userId: { in: rows.map(({ userId }) => userId) }, source: { in: sources } };
    await tx.groupMember.deleteMany({ where: forged });
    await tx.groupMember.createMany({ data: rows }).catch((error: unknown) => {
      throw isUniqueConstraintError(error) ? conflict('changed_meanwhile', { cause: error }) : error;
    });
  }

  /** Removes the memberships of these people that have the source `via`; `direct` stands for every source of a person's own one. Returns their number. */
  function removeMembers(
    id: string,
    userIds: readonly string[],
    { via = 'direct', ...options }: GroupChange & { via?: MemberSource } = {},
  ): Promise<number> {
    return change('shared', options, async (tx) => {
      const isDeclared = isPersonal(via) || via === 'file';
      const group = await (isDeclared ? changeable(id, options, tx, 'members') : get(id, tx));
      // The domain takes only what it gave: whatever the group gives since, nobody stays.
      if (!via.startsWith('domain:')) await rights.assertMayTake(id, via, options, tx);
      const source = { in: isPersonal(via) ? [...PERSONAL] : [via] };
      const removed = await inChunks(
        [...new Set(userIds)],
        async (piece) => {
          const where = { groupId: id, userId: { in: piece }, source };
          const rows = await tx.asStored.groupMember.findMany({
            where,
            select: { userId: true },
            distinct: ['userId'],
          });
          await tx.groupMember.deleteMany({ where });
          const events = rows.map(({ userId }) =>
            eventOf('group.member-removed', group, options, { subjectId: userId, via }),
          );
          await audit.recordAll(events, tx);
          return rows.map(({ userId }) => userId);
        },
        RECORDED,
      );
      if (await rights.confersAdmin([id], tx)) await assertAdministrator(tx);
      await core.logoutOnRoleChange(removed, options.by ?? {}, tx, id);
      return removed.length;
    });
  }

  const assertAdministrator = async (tx: Tx) => {
    if (!(await hasAdministrator(tx, now()))) throw conflict('last_admin');
  };

  /**
   * Whether people who sign in join the group. One that is gone or was written by another program, or gives by now a role that another
   * program wrote or a permission in Gatehouse, takes nobody in; the sign-in goes on.
   */
  async function mayJoin(groupId: string, via: SignInSource, tx: Tx): Promise<boolean> {
    try {
      await joinable(groupId, via, {}, tx);
      return true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      core.logger.warn({ groupId, via, code: error.code }, 'nobody joins the group by this way');
      return false;
    }
  }

  /**
   * Makes these the groups that a person is in by a connection or a domain: joins the missing that take the person in, and leaves the
   * others. The last administrator stays one.
   */
  async function setMemberships(
    userId: string,
    via: SignInSource,
    groupIds: readonly string[],
    options: GroupChange = {},
  ): Promise<{ added: string[]; removed: string[] }> {
    const where = { userId, source: via };
    if (groupIds.length === 0 && (await (options.tx ?? db).groupMember.count({ where })) === 0)
      return { added: [], removed: [] };
    return change('shared', options, async (tx) => {
      const rows = await tx.groupMember.findMany({ where, select: { groupId: true } });
      const held = rows.map(({ groupId }) => groupId);
      const inner = { ...options, tx, via };
      const added: string[] = [];
      for (const id of groupIds.filter((one) => !held.includes(one)))
        if ((await mayJoin(id, via, tx)) && (await addMembers(id, [{ userId }], inner)) > 0) added.push(id);
      const removed: string[] = [];
      for (const id of held.filter((one) => !groupIds.includes(one))) {
        const isLast = (await rights.confersAdmin([id], tx)) && (await isLastAdmin(userId, tx, now()));
        if (!isLast && (await removeMembers(id, [userId], inner)) > 0) removed.push(id);
      }
      return { added, removed };
    });
  }

  return {
    ...reads,
    owns: rights.owns,
    rolesConferred: (id: string, tx: Tx = db) => rights.rolesConferred([id], tx),
    /** What an appointment covers: the roles of the group and of those below it. */
    rolesOfOwners: (id: string, tx: Tx = db) => rights.rolesCoveredBy(id, tx),
    isSensitive: (id: string, tx: Tx = db) => rights.isSensitive(id, tx),
    /** Throws unless the actor may put people in by this way: forbidden, then not_found and owned_by_file. */
    assertMayPut: async (id: string, via: MemberSource, options: GroupChange = {}, tx: Tx = db): Promise<void> => {
      await joinable(id, via, options, tx);
    },
    /** A change of what belongs to the group, in another table, by who may change the group. Throws forbidden, owned_by_file, not_found. */
    changing: <T>(id: string, options: GroupChange, work: (group: Group, tx: Tx) => Promise<T>): Promise<T> =>
      change('exclusive', options, async (tx) => {
        const group = await changeable(id, options, tx);
        await rights.assertMayWrite([id], options, tx);
        return work(group, tx);
      }),
    mayJoin,
    confersAdmin: (id: string, tx: Tx = db) => rights.confersAdmin([id], tx),
    create,
    update,
    remove,
    addChild,
    removeChild,
    addRole,
    removeRole,
    appointOwner,
    /** For a page: throws what an appointment would throw. */
    async assertMayAppoint(id: string, options: GroupChange): Promise<void> {
      await changeable(id, options, db);
      await rights.assertMayAppoint(id, options, db);
    },
    appointDeputy,
    assertMayDeputize: async (id: string, { tx = db, ...options }: GroupChange): Promise<void> =>
      void (await rights.assertMayDeputize(id, options, tx)),
    dismissDeputy,
    release,
    dismissOwner,
    addMembers,
    removeMembers,
    setMemberships,
  };
}

/** Takes everyone out who is in a group by this connection, before it is deleted. Its groups are never sensitive. */
export async function takeConnectionMemberships(
  { audit, logoutOnRoleChange }: Pick<Core, 'audit'> & { logoutOnRoleChange: LogoutOnRoleChange },
  connectionId: string,
  by: Actor,
  tx: Tx,
): Promise<void> {
  const via = `connection:${connectionId}` as const;
  const include = { group: { select: { name: true } } } as const;
  const gone = new Set<string>();
  for await (const userIds of pagesOfIds({ source: via }, tx)) {
    const where = { source: via, userId: { in: userIds } };
    const rows = await tx.asStored.groupMember.findMany({ where, include });
    await tx.groupMember.deleteMany({ where });
    const events = rows.map(({ userId, groupId, group }) => {
      const data = { groupId, groupName: group.name, via };
      return { ...by, type: 'group.member-removed', outcome: 'success', subjectId: userId, data } as const;
    });
    await audit.recordAll(events, tx);
    for (const id of userIds) gone.add(id);
  }
  await logoutOnRoleChange([...gone], by, tx);
}

/** A limit of a permission names a group by its id or its name. Throws group_name_taken (409). */
async function assertNoId(name: string, tx: Tx): Promise<void> {
  if (await tx.asStored.group.findUnique({ where: { id: name }, select: { id: true } }))
    throw conflict('group_name_taken');
}

function namesOf(name: string): { name: string; nameKey: string } {
  if (!isGroupName(name)) throw invalidInput([fault(['name'], 'group-name-form')]);
  return { name, nameKey: groupKey(name) };
}

const declaredOf = ({ name, description, acceptsRequests }: Group) => ({ name, description, acceptsRequests });

export const isPersonal = (source: string): boolean => PERSONAL.some((one) => one === source);

function throwTaken(error: unknown): never {
  throw isUniqueConstraintError(error) ? conflict('group_name_taken', { cause: error }) : error;
}

/** The times of a membership to store, and the memberships that the person has already. Throws invalid_input for times in the wrong order. */
function planFor<Row extends Times & { userId: string; source: string }>(
  { userId, since = null, until = null }: NewMember,
  held: readonly Row[],
  instead: readonly string[],
  at: Date,
) {
  assertTimes({ since, until }, at);
  const times = { since, until, notice: since !== null && since > at ? 'begins' : '' };
  const ofPerson = held.filter((row) => row.userId === userId);
  return {
    userId,
    times,
    /** Of this source: it gets the times. */
    own: ofPerson.find(({ source }) => !instead.includes(source)),
    /** Of a source in `instead`, with the same times: it becomes this one. */
    before: ofPerson.find((row) => instead.includes(row.source) && isSameTime(row, times)),
  };
}

const isSameTime = (one: Times, other: Times): boolean =>
  sameTime(one.since, other.since) && sameTime(one.until, other.until);

/** Whether an ownership stays where this owner appoints its person as a deputy until then. */
function isAtLeast(held: { deputyOf: string | null; until: Date | null }, owner: string, end: Date): boolean {
  if (held.deputyOf === owner) return sameTime(held.until, end);
  return held.deputyOf === null || held.until === null || held.until >= end;
}

const unknownUser = (userId: string) => notFound({ message: t('console.person.unknown'), detail: { userId } });
