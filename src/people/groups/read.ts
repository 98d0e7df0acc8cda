// Reads of groups: one, lists, their members and owners, and what a deletion takes.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Tx } from '../../base/storage/database.ts';
import { type Fragment, fragment, joinFragments, noFragment } from '../../base/storage/fragments.ts';
import { isStorable, withoutUnstorable } from '../../base/storage/storable-text.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import { holding, ownershipsOf } from '../accounts/account.ts';
import { groupsOfUsers } from '../accounts/members.ts';
import { NAMED_PERSON, nameKey } from '../accounts/names.ts';
import { groupKey } from '../rbac/names.ts';
import { rolesLimitedTo } from '../rbac/roles.ts';
import type { MemberSource } from './rights.ts';

export interface Group {
  id: string;
  name: string;
  /** The names from the top: `/Science/Physics`. */
  path: string;
  description: string;
  /** People may ask to become members. */
  acceptsRequests: boolean;
  source: 'local' | 'file';
  /** The configuration file declares the members too. */
  fileMembers: boolean;
  createdAt: Date;
}

/** Names of roles, applications and APIs before the deletion of a group. */
const NAMED = 20;

/** People whose ids are read in one turn of the event loop. */
const READ = 100;

/** A limit that cuts nothing. */
const ALL = 1_000_000_000;

export function createGroupReads(core: Core) {
  const { db, sql, now } = core;

  async function get(id: string, tx: Tx = db): Promise<Group> {
    const row = await tx.group.findUnique({ where: { id } });
    if (!row) throw notFound({ message: t('console.groups.error.unknown'), detail: { groupId: id } });
    return groupOf(row);
  }

  /**
   * What a page says before the group is deleted: how much its members, and those of the groups below, lose. Members are counted up to
   * `limits.lists.counted` + 1, in three times as many memberships.
   */
  async function losses(id: string, tx: Tx = db) {
    await get(id, tx);
    const { counted } = limits.lists;
    const [found] = await tx.$queryRaw<{ count: number | bigint }[]>(
      fragment`SELECT COUNT(*) AS count FROM (${peopleBelow(id, counted * 3)} LIMIT ${counted + 1}) AS found`,
    );
    const stored = tx.asStored;
    // One after the other: a transaction has one connection.
    const children = await stored.groupChild.count({ where: { parentId: id } });
    const owners = await stored.groupOwner.count({ where: { groupId: id } });
    const name = { select: { name: true } };
    const take = NAMED;
    const ofGroup = { groupId: id };
    const roles = await stored.groupRole.findMany({
      where: ofGroup,
      select: { role: name },
      orderBy: { role: { name: 'asc' } },
      take,
    });
    const applications = await stored.applicationGroup.findMany({
      where: ofGroup,
      select: { application: name },
      orderBy: { application: { nameKey: 'asc' } },
      take,
    });
    const onlyByGroup = { ...ofGroup, application: { roles: { none: {} }, groups: { every: { groupId: id } } } };
    const closed = await stored.applicationGroup.findMany({
      where: onlyByGroup,
      select: { application: name },
      orderBy: { application: { nameKey: 'asc' } },
      take,
    });
    const opened = { access: { contains: JSON.stringify(id) } };
    const apis = await stored.resource.findMany({
      where: opened,
      select: { identifier: true },
      orderBy: { identifier: 'asc' },
      take,
    });
    const limited = await rolesLimitedTo({ kind: 'group', name: id }, tx);
    return {
      members: Number(found?.count ?? 0),
      children,
      owners,
      roles: roles.map(({ role }) => role.name),
      applications: applications.map(({ application }) => application.name),
      /** Those of them that nothing else opens. */
      closed: closed.map(({ application }) => application.name),
      apis: apis.map(({ identifier }) => identifier),
      /** The roles with permissions that are limited to the group, which end. */
      limited: limited.map(({ name }) => name).slice(0, take),
      /** How many there are in all: the lists above end after NAMED names. */
      totals: {
        roles: await stored.groupRole.count({ where: ofGroup }),
        applications: await stored.applicationGroup.count({ where: ofGroup }),
        closed: await stored.applicationGroup.count({ where: onlyByGroup }),
        apis: await stored.resource.count({ where: opened }),
        limited: limited.length,
      },
    };
  }

  const listByIds = async (ids: readonly string[], tx: Tx = db): Promise<Group[]> =>
    (await inChunks(ids, (some) => tx.group.findMany({ where: { id: { in: some } } }))).map(groupOf);

  async function matches(key: string, { after, limit }: { after: string | undefined; limit: number }, tx: Tx) {
    const begins = `${key.replace(/[\\%_]/g, '\\$&')}%`;
    const rank = fragment`CASE WHEN name_key = ${key} THEN 0 WHEN name_key LIKE ${begins} ESCAPE '\\' THEN 1 ELSE 2 END`;
    const last = after === undefined ? undefined : groupKey(withoutUnstorable(after));
    const lastRank = last === key ? 0 : last?.startsWith(key) ? 1 : 2;
    const later = fragment`AND (${rank} > ${lastRank} OR (${rank} = ${lastRank} AND name_key > ${last}))`;
    const rows = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM groups
      WHERE ${sql.dialect.contains('name_key', key)} ${last === undefined ? noFragment : later}
      ORDER BY ${rank}, name_key LIMIT ${limit}`;
    const ids = rows.map(({ id }) => id);
    const groups = new Map((await listByIds(ids, tx)).map((group) => [group.id, group]));
    return ids.flatMap((id) => groups.get(id) ?? []);
  }

  return {
    /** Throws not_found (404). */
    get,
    losses,
    /** By its name, or a name that looks like it. */
    async find(name: string, tx: Tx = db): Promise<Group | undefined> {
      if (!isStorable(name)) return undefined;
      const row = await tx.group.findUnique({ where: { nameKey: groupKey(name) } });
      return row ? groupOf(row) : undefined;
    },
    /** The groups of these names, as `find` finds each. */
    async findAll(names: readonly string[]): Promise<Group[]> {
      const nameKey = { in: names.filter(isStorable).map(groupKey) };
      return (await db.group.findMany({ where: { nameKey } })).map(groupOf);
    },
    /**
     * By name, those whose name has the text `search`: the one with this name, then those that begin with it, then the others. `after` is
     * the name of the last one of the page before.
     */
    async list(
      { search, after, limit = 50 }: { search?: string; after?: string; limit?: number } = {},
      tx: Tx = db,
    ): Promise<Group[]> {
      if (search !== undefined) return matches(groupKey(withoutUnstorable(search)), { after, limit }, tx);
      const where = after === undefined ? {} : { nameKey: { gt: groupKey(after) } };
      return (await tx.group.findMany({ where, orderBy: { nameKey: 'asc' }, take: limit })).map(groupOf);
    },
    listByIds,
    /** The names of the groups that these people are in now, themselves, by the ids of the people; as stored, like the roles of a list. */
    async namesByMember(people: readonly { id: string }[]): Promise<Map<string, string[]>> {
      const ids = people.map(({ id }) => id);
      if (ids.length === 0) return new Map();
      const rows = await db.$queryRaw<{ userId: string; names: string }[]>(
        groupsOfUsers(joinFragments(ids, ', '), now()),
      );
      return new Map(rows.map(({ userId, names }) => [userId, names.split('\n').sort()]));
    },
    /** The memberships of the group itself, in the order of user ids; `after` is the last user of the page before. */
    async members(id: string, { after = '', limit = 50 }: { after?: string; limit?: number } = {}, tx: Tx = db) {
      const rows = await tx.groupMember.findMany({
        where: { groupId: id, userId: { gt: after } },
        orderBy: [{ userId: 'asc' }, { source: 'asc' }],
        take: limit,
      });
      return rows.map(({ mac: _mac, ...row }) => row);
    },
    /**
     * The same by the names of the people, a page at a time; a person who is in by two ways twice. `search`: part of the username, email or
     * name. `next`: for `after`, unless it is the last page; any other text begins at the first. `isByPerson`: after the page comes another
     * person.
     */
    async membersByName(id: string, { search = '', after, limit, isByPerson = false }: MemberPageQuery) {
      const key = nameKey(withoutUnstorable(search));
      const keys = await memberKeys(core, { id, key, after, limit: limit + 1 });
      const page = keys.slice(0, limit);
      const userIds = [...new Set(page.map(({ userId }) => userId))];
      const rows = await inChunks(userIds, (piece) =>
        db.groupMember.findMany({ where: { groupId: id, userId: { in: piece } } }),
      );
      const members = page.flatMap(
        ({ userId, source }) => rows.find((one) => one.userId === userId && one.source === source) ?? [],
      );
      const last = keys.length > limit ? page.at(-1) : undefined;
      const next = last && JSON.stringify([last.nameKey, last.userId, isByPerson ? '\u{10ffff}' : last.source]);
      return { members, next };
    },
    async owners(id: string, tx: Tx = db) {
      const rows = await tx.groupOwner.findMany({ where: { groupId: id } });
      return (await holding(rows, now(), tx)).map(({ mac: _mac, ...row }) => row);
    },
    /** The groups directly above and below, and the names of the group's own roles. */
    async relations(id: string, tx: Tx = db) {
      const name = { select: { id: true, name: true } };
      // One after the other: a transaction has one connection.
      const parents = await tx.groupChild.findMany({ where: { childId: id }, select: { parent: name } });
      const children = await tx.groupChild.findMany({ where: { parentId: id }, select: { child: name } });
      const roles = await tx.groupRole.findMany({
        where: { groupId: id },
        select: { role: { select: { name: true } } },
      });
      return {
        parents: parents.map(({ parent }) => ({ id: parent.id, name: parent.name })),
        children: children.map(({ child }) => ({ id: child.id, name: child.name })),
        roles: roles.map(({ role }) => role.name).sort(),
      };
    },
    /** The groups that a person owns now and those below them, by name: a page after the name `after`, and how many there are. */
    async ownedBy(userId: string, { after = '', limit }: { after?: string | undefined; limit: number }, tx: Tx = db) {
      const owned = (await ownershipsOf(userId, now(), tx)).map(({ groupId }) => groupId);
      const where = { ancestors: { some: { ancestorId: { in: owned } } } };
      const found = await tx.group.findMany({
        where: { ...where, nameKey: { gt: groupKey(after) } },
        orderBy: { nameKey: 'asc' },
        take: limit + 1,
      });
      const rows = found.slice(0, limit);
      // The condition counts rows that another program wrote.
      const below = await tx.groupAncestor.findMany({
        where: { groupId: { in: rows.map((row) => row.id) }, ancestorId: { in: owned } },
      });
      const genuine = new Set(below.map(({ groupId }) => groupId));
      return {
        groups: rows.filter((row) => genuine.has(row.id)).map(groupOf),
        next: found.length > limit ? rows.at(-1)?.name : undefined,
        total: await tx.asStored.group.count({ where }),
      };
    },
    /** What the person owns now, without the groups below. */
    ownershipsOf: async (userId: string, tx: Tx = db) =>
      (await ownershipsOf(userId, now(), tx))
        .filter(({ deputyOf }) => deputyOf === null)
        .sort((one, other) => (one.group < other.group ? -1 : 1)),
    /** The deputies of this owner, and the groups in which the person is one, with the other person. */
    async deputies(userId: string) {
      const include = { group: true } as const;
      const rows = [
        ...(await db.groupOwner.findMany({ where: { deputyOf: userId }, include })),
        ...(await db.groupOwner.findMany({ where: { userId, deputyOf: { not: null } }, include })),
      ];
      const held = await holding(rows, now(), db);
      const other = ({ deputyOf, ...row }: (typeof held)[number]) =>
        deputyOf === userId ? row.userId : (deputyOf ?? '');
      const people = await db.asStored.user.findMany({ where: { id: { in: held.map(other) } }, select: NAMED_PERSON });
      return held.flatMap((row) => {
        const person = people.find(({ id }) => id === other(row));
        return person && row.until
          ? { group: row.group, until: row.until, isOwn: row.deputyOf === userId, person }
          : [];
      });
    },
  };
}

interface MemberPageQuery {
  search?: string | undefined;
  after?: string | undefined;
  limit: number;
  isByPerson?: boolean;
}

/** The place of a membership in the order of the names: a person may be in by several ways. */
interface MemberKey {
  nameKey: string;
  userId: string;
  source: string;
}

interface KeyQuery {
  /** The group. */
  id: string;
  /** What the search finds people by; empty: everyone. */
  key: string;
  after: string | undefined;
  limit: number;
}

/**
 * The first memberships in the order of the names, after a page. Of a large group many are met soon among all users in this order, unless its
 * members are all at the end; else the members are sorted.
 */
async function memberKeys(core: Core, query: KeyQuery): Promise<MemberKey[]> {
  const { few } = limits.lists;
  const [size] = await core.db.$queryRaw<{ count: number | bigint }[]>(fragment`SELECT COUNT(*) AS count FROM
    (SELECT 1 FROM group_members WHERE group_id = ${query.id} LIMIT ${few + 1}) AS found`);
  const near = Number(size?.count ?? 0) > few ? await keysNear(core, query) : undefined;
  const own = fragment`(SELECT * FROM group_members WHERE group_id = ${query.id} LIMIT ${ALL}) m`;
  return near ?? readKeys(core, fragment`${own} CROSS JOIN users u`, query);
}

/** Those among the next users; undefined where these are too few of the page. */
async function keysNear(core: Core, query: KeyQuery): Promise<MemberKey[] | undefined> {
  const { near } = limits.lists;
  const byName = fragment`FROM users u WHERE TRUE ${fromUser(query.after)} ORDER BY u.name_key, u.id LIMIT`;
  const next = fragment`(SELECT u.id, u.name_key, u.search_key ${byName} ${near}) u`;
  const keys = await readKeys(core, fragment`${next} CROSS JOIN group_members m`, query);
  if (keys.length === query.limit) return keys;
  const further = await core.db.$queryRaw<object[]>(fragment`SELECT 1 ${byName} 1 OFFSET ${near}`);
  return further.length === 0 ? keys : undefined;
}

/** A CROSS JOIN leads SQLite, which has no statistics, and a limit in front of it PostgreSQL. */
function readKeys({ db, sql }: Core, from: Fragment, { id, key, after, limit }: KeyQuery): Promise<MemberKey[]> {
  const isMatch = key === '' ? noFragment : fragment`AND ${sql.dialect.contains('u.search_key', key)}`;
  return db.$queryRaw<MemberKey[]>(fragment`SELECT u.name_key AS "nameKey", m.user_id AS "userId", m.source FROM ${from}
    WHERE m.group_id = ${id} AND u.id = m.user_id ${isMatch} ${beyond(after)}
    ORDER BY u.name_key, u.id, m.source LIMIT ${limit}`);
}

/** The memberships after a page. The first condition is one that a database answers by an index. */
function beyond(after: string | undefined): Fragment {
  const key = placeOf(after);
  if (!key) return noFragment;
  const [name, userId, source] = key;
  return fragment`AND u.name_key >= ${name} AND (u.name_key > ${name} OR u.id > ${userId} OR (u.id = ${userId} AND m.source > ${source}))`;
}

/** The users from the last one of a page on, who may be a member in another way too. */
function fromUser(after: string | undefined): Fragment {
  const [name, userId] = placeOf(after) ?? [];
  if (name === undefined) return noFragment;
  return fragment`AND u.name_key >= ${name} AND (u.name_key > ${name} OR u.id >= ${userId})`;
}

function placeOf(after = ''): string[] | undefined {
  try {
    const place: unknown = JSON.parse(after);
    const isPlace = Array.isArray(place) && place.length === 3 && place.every((text) => typeof text === 'string');
    return isPlace ? place.map((text: string) => withoutUnstorable(text)) : undefined;
  } catch {
    return undefined;
  }
}

/** The people who have such a membership, in pages, each in a turn of the event loop; they may be deleted meanwhile. */
export async function* pagesOfIds(
  where: { groupId?: string; source?: Exclude<MemberSource, 'direct'> },
  tx: Tx,
): AsyncGenerator<string[]> {
  const { groupId, source } = where;
  const conditions = present([
    groupId !== undefined && fragment`group_id = ${groupId}`,
    // The index by source leaves out `direct`.
    source !== undefined && fragment`source = ${source} AND source <> 'direct'`,
  ]);
  const condition = joinFragments(conditions, ' AND ');
  for (let after = ''; ; ) {
    const rows = await tx.$queryRaw<{ userId: string }[]>(fragment`SELECT DISTINCT user_id AS "userId"
      FROM group_members WHERE ${condition} AND user_id > ${after} ORDER BY user_id LIMIT ${READ}`);
    const ids = rows.map(({ userId }) => userId);
    if (ids.length > 0) yield ids;
    if (ids.length < READ) return;
    after = ids.at(-1) ?? '';
    await nextTurn();
  }
}

/** The people in the group or below it, in this many memberships, and the `ways` in which each is. */
export const peopleBelow = (
  groupId: string,
  memberships: number,
): Fragment => fragment`SELECT user_id, COUNT(*) AS ways FROM
  (SELECT m.user_id FROM group_ancestors a JOIN group_members m ON m.group_id = a.group_id
    WHERE a.ancestor_id = ${groupId} LIMIT ${memberships}) AS memberships GROUP BY user_id`;

export function groupOf(row: Omit<Group, 'source'> & { source: string }): Group {
  const { id, name, path, description, acceptsRequests, source, fileMembers, createdAt } = row;
  return { id, name, path, description, acceptsRequests, source: source as Group['source'], fileMembers, createdAt };
}
