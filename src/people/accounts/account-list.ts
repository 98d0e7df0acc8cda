// The list of accounts in pages, the newest first or sorted by name. A cursor keeps the pages right while accounts are added and
// removed. It stays fast with a million accounts: what cannot be found by an index is counted or searched only up to a limit.
// A search finds any part of a name up to 100,000 users, and beginnings by index above: an index for parts is an extension of PostgreSQL and
// another kind of table on SQLite.
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { fromTimeCursor, fromValueCursor, toTimeCursor, toValueCursor } from '../../base/storage/cursors.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Dialect } from '../../base/storage/dialect.ts';
import { type Fragment, fragment, joinFragments, noFragment, trustedText } from '../../base/storage/fragments.ts';
import { isStorable, withoutUnstorable } from '../../base/storage/storable-text.ts';
import type { Core } from '../../core/core.ts';
import { type InvitationState, invitationState, invitationsOf } from '../../core/mail/link-tokens.ts';
import { type AccountState, isInState, withState } from './active.ts';
import { hasRole, isInGroups, rolesOfUsers, usersInGroups, usersWithRoles } from './members.ts';
import { nameKey } from './names.ts';
import { type Address, addressOf, type TextFieldName, textFieldNames } from './profile-fields.ts';

/**
 * `search`: part of the username, email address or name, in whatever case and spelling. With more than `limits.lists.searched`
 * users it is the beginning of one of these or of the last name, and at most `limits.lists.matches` of each are found. Without
 * `sort` the best matches come first: equal ones, then those of which it is the first word, then beginnings, then the rest.
 */
export interface ListAccounts extends AccountPageQuery {
  /** A role's name. */
  role?: string | undefined;
  /** Only users who have at least one of each of these. */
  memberOf?: readonly MemberOf[] | undefined;
}

/** Names of roles and ids of groups. */
export interface MemberOf {
  role: readonly string[];
  group: readonly string[];
}

export interface AccountSummary extends Record<TextFieldName, string | null> {
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  phoneNumber: string | null;
  address: Address | null;
  attributes: Record<string, unknown>;
  ssoId: string | null;
  state: AccountState;
  isActive: boolean;
  isEnabled: boolean;
  activeFrom: Date | null;
  activeUntil: Date | null;
  lastSeenAt: Date;
  source: string;
  termsVersion: string | null;
  termsAcceptedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  roles: string[];
  /** Null: none, and none is needed. */
  invitation: InvitationState | null;
}

export interface AccountPage {
  accounts: AccountSummary[];
  /** Absent on the last page. */
  next?: string;
  /** How many match, counted up to `limits.lists.counted`. */
  count(): Promise<AccountCount>;
}

/** How many accounts a query finds. */
export interface AccountCount {
  /** Undefined where counting takes too long. */
  count: number | undefined;
  /** There are more. */
  isMore: boolean;
}

const SUMMARY = {
  id: true,
  username: true,
  email: true,
  emailVerified: true,
  ...(Object.fromEntries(textFieldNames.map((field) => [field, true])) as Record<TextFieldName, true>),
  phoneNumber: true,
  address: true,
  attributes: true,
  ssoId: true,
  isEnabled: true,
  activeFrom: true,
  activeUntil: true,
  lastSeenAt: true,
  source: true,
  termsVersion: true,
  termsAcceptedAt: true,
  createdAt: true,
  updatedAt: true,
} as const;

export function createAccountList({ db, sql, now }: Pick<Core, 'db' | 'sql' | 'now'>) {
  type PageIds = { ids: string[]; next?: string };

  const read = (query: ListAccounts & { limit: number }, sizes: FilterSizes) =>
    db.$queryRaw<{ id: string; at: Date | string }[]>(pageQuery(sql.dialect, query, sizes));

  /** A role or a group of many is met soon, unless they are all at the other end: the first users are looked at before all of them. */
  async function readOfMany(query: ListAccounts & { limit: number }, sizes: FilterSizes) {
    const met = await read(query, { ...sizes, isNear: true });
    if (met.length > query.limit) return met;
    const [other] = await db.$queryRaw<object[]>(afterNear(query));
    return other ? read(query, { ...sizes, members: await inSets(db, sizes.members, now()) }) : met;
  }

  async function sortedIds(query: ListAccounts & { limit: number }, sizes: FilterSizes): Promise<PageIds> {
    const { limit, sort, search, name, invitation, ids } = query;
    // These leave few to look at.
    const isNarrow = [search, name, invitation, ids].some((filter) => filter?.length);
    const isOfMany = !isNarrow && (sizes.members?.some(({ count }) => count > few) ?? false);
    const found = await (isOfMany ? readOfMany(query, sizes) : read(query, sizes));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return { ids: page.map(({ id }) => id), ...(last && { next: cursorOf(last, sort) }) };
  }

  /** The best matches, found by index and sorted, then the others as the list is sorted without a search. */
  async function matchesOf(
    { after, limit, ...query }: ListAccounts & { limit: number },
    sizes: FilterSizes,
  ): Promise<PageIds> {
    const from = matchCursor(after);
    const isAtRest = from.rank === REST;
    const firstOfRest = { rank: REST };
    const best = isAtRest ? [] : await matchPage({ ...query, limit }, sizes, from);
    const isFull = best.length > limit || sizes.isLarge;
    const room = limit - best.length;
    const others = isFull ? [] : await matchPage({ ...query, limit: room }, sizes, isAtRest ? from : firstOfRest);
    const found = [...best, ...others];
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const isRestNext = last && last.rank !== REST && found[limit]?.rank === REST;
    return { ids: page.map(({ id }) => id), ...(last && { next: toMatchCursor(isRestNext ? firstOfRest : last) }) };
  }

  const matchPage = async (query: ListAccounts & { limit: number }, sizes: FilterSizes, at: MatchCursor) =>
    (await db.$queryRaw<MatchRow[]>(matchQuery(sql.dialect, query, sizes, at))).map((row) => ({
      ...row,
      rank: Number(row.rank),
    }));

  async function pageOf(query: ListAccounts, sizes: FilterSizes): Promise<PageIds> {
    const { limit = limits.api.pageSize } = query;
    return (isByMatch(query) ? matchesOf : sortedIds)({ ...query, limit }, sizes);
  }

  async function countOfQuery(query: ListAccounts, sizes: FilterSizes): Promise<AccountCount> {
    const { search } = query;
    const counting = countQuery(sql.dialect, query, sizes);
    const [found] = counting ? await db.$queryRaw<{ count: number | bigint; ways?: unknown }[]>(counting) : [];
    const count = found && Number(found.count);
    const isCut =
      sizes.isLarge && search
        ? (await countOf(db, matchesQuery(search, query.hiddenFields))) >= limits.lists.matches
        : false;
    return {
      count: count && Math.min(count, counted),
      isMore: isCut || (count !== undefined && count > counted) || Number(found?.ways ?? 0) > maxWays,
    };
  }

  async function listIds(query: ListAccounts): Promise<PageIds & { count(): Promise<AccountCount> }> {
    const sizes = await sizesOf(db, now(), query);
    const page = await pageOf(query, sizes);
    // A search of many users does not find all.
    const isAll = !page.next && query.after === undefined && !sizes.isLarge;
    return {
      ...page,
      count: async () => (isAll ? { count: page.ids.length, isMore: false } : countOfQuery(query, sizes)),
    };
  }

  return {
    /** One page of accounts that match the query, and the cursor of the next one. */
    async list(query: ListAccounts = {}): Promise<AccountPage> {
      const { ids, ...rest } = await listIds(query);
      if (ids.length === 0) return { accounts: [], count: rest.count };
      const rows = new Map(
        (await db.asStored.user.findMany({ where: { id: { in: ids } }, select: SUMMARY })).map((row) => [row.id, row]),
      );
      const held = await db.$queryRaw<{ userId: string; name: string }[]>(
        rolesOfUsers(joinFragments(ids, ', '), now()),
      );
      const roleNames = new Map<string, Set<string>>();
      for (const { userId, name } of held) roleNames.set(userId, (roleNames.get(userId) ?? new Set()).add(name));
      const invitations = await invitationsOf(ids, now(), db);
      const withoutOne = fragment`SELECT id FROM users f WHERE ${joinFragments([...withoutCredentials, isIn(ids)], ' AND ')}`;
      const withoutWayIn = new Set((await db.$queryRaw<{ id: string }[]>(withoutOne)).map(({ id }) => id));
      const accounts = ids
        .flatMap((id) => rows.get(id) ?? [])
        .map((row) => ({
          ...withState(row, now()),
          address: addressOf(row.address),
          attributes: JSON.parse(row.attributes) as Record<string, unknown>,
          // Each once, also one that is granted directly and by a group.
          roles: [...(roleNames.get(row.id) ?? [])].sort(),
          invitation: invitationState(invitations.get(row.id), !withoutWayIn.has(row.id)),
        }));
      return { accounts, ...rest };
    },

    /** The ids alone, for who reads the accounts in full. */
    listIds,

    count: (): Promise<number> => db.user.count(),
  };
}

async function sizesOf(
  db: Db,
  now: Date,
  { role, memberOf = [], search, state, sort, isQuick }: ListAccounts,
): Promise<FilterSizes> {
  const { few } = limits.lists;
  const searched = isQuick ? few : limits.lists.searched;
  const byRole = role === undefined ? [] : [{ role: [role], group: [] }];
  const filters = [...byRole, ...memberOf].map((one) => ({ ...one, role: one.role.filter(isStorable) }));
  const isByName = sort !== undefined && !isByTime(sortingOf(sort).key);
  const [members, users, disabled] = await Promise.all([
    Promise.all(filters.map((one) => membersOf(db, one, now))),
    search ? countOf(db, countedTo(fragment`SELECT 1 FROM users`, searched + 1)) : 0,
    state === 'disabled' && isByName
      ? countOf(db, countedTo(fragment`SELECT 1 FROM users WHERE is_enabled = ${false}`, few + 1))
      : 0,
  ]);
  return { members, isLarge: users > searched, disabled, now };
}

function countedTo(rows: ReturnType<typeof fragment>, limit: number) {
  return fragment`SELECT COUNT(*) AS count FROM (${rows} LIMIT ${limit}) AS found`;
}

async function countOf(db: Db, query: ReturnType<typeof fragment>): Promise<number> {
  const [row] = await db.$queryRaw<{ count: number | bigint }[]>(query);
  return Number(row?.count ?? 0);
}

/** The users with one of these roles, or in one of these groups, counted no further than it matters. */
async function membersOf(db: Db, { role, group: groupIds }: MemberOf, now: Date) {
  const rows = await db.role.findMany({ where: { name: { in: [...role] } }, select: { id: true } });
  const members = { roleIds: rows.map(({ id }) => id), groupIds };
  const held = membersIn(members, now);
  // Not Prisma's `count`: with a limit it sorts all rows before it.
  return { ...members, count: held === undefined ? 0 : await countOf(db, countedTo(held, limits.lists.few + 1)) };
}

type Members = { roleIds: readonly string[]; groupIds?: readonly string[] };

/** These filters for a list of which the beginning has too few: a set is read at once where it fits into memory. */
async function inSets(db: Db, members: FilterSizes['members'] = [], now: Date): Promise<FilterSizes['members']> {
  return Promise.all(
    members.map(async ({ count, ...one }) => {
      const held = count > few ? membersIn(one, now) : undefined;
      const isSet = held !== undefined && (await countOf(db, countedTo(held, inSet + 1))) <= inSet;
      return { ...one, count, isSet };
    }),
  );
}

/** SELECTs the `user_id` of them, once for each way; undefined: nobody. */
function membersIn({ roleIds, groupIds = [] }: Members, now: Date): Fragment | undefined {
  const ways = present([
    roleIds.length > 0 && usersWithRoles(joinFragments([...roleIds], ', '), now),
    groupIds.length > 0 && usersInGroups(groupIds, now),
  ]);
  return ways.length === 0 ? undefined : joinFragments(ways, ' UNION ALL ');
}

/** Whether the user of a row is one of them. */
function isOneOf({ roleIds, groupIds = [] }: Members, now: Date): Fragment {
  const ways = present([
    roleIds.length > 0 && hasRole('f.id', joinFragments([...roleIds], ', '), now),
    groupIds.length > 0 && isInGroups('f.id', groupIds, now),
  ]);
  return fragment`(${joinFragments(ways, ' OR ')})`;
}

// The SQL of the list of accounts. Plain SQL, because Prisma's `contains` takes % and _ for patterns, and because SQLite, which has no
// statistics, has to be led to the right index: test/admin/hundred-thousand.test.ts checks the plans.

const accountSortKeys = ['created', 'name', 'username', 'seen'] as const;
type AccountSortKey = (typeof accountSortKeys)[number];
/** A leading `-` reverses the order. */
export const accountSorts = accountSortKeys.flatMap((key) => [key, `-${key}`] as const);
export type AccountSort = (typeof accountSorts)[number];

interface AccountFilter {
  search?: string | undefined;
  /** A search also finds beginnings of values of own fields but these, with their values in other languages; undefined: of none. */
  hiddenFields?: readonly string[] | undefined;
  /** Finds beginnings alone from `limits.lists.few` users on, and few of them by each index: for a search at each key. */
  isQuick?: boolean | undefined;
  /** The full name, in whatever case; of users without one, the username. */
  name?: string | undefined;
  state?: AccountState | undefined;
  /** Used before this moment last, or never and created before it. */
  lastSeenBefore?: Date | undefined;
  /** With an end before this moment. */
  endsBefore?: Date | undefined;
  source?: 'local' | 'file' | undefined;
  /** `none`: there is none, or it was accepted. */
  invitation?: InvitationState | 'none' | undefined;
  /** Only these accounts. */
  ids?: readonly string[] | undefined;
}

interface AccountPageQuery extends AccountFilter {
  /** `-created` by default: the newest first. */
  sort?: AccountSort | undefined;
  limit?: number | undefined;
  /** The cursor of `cursorOf`. */
  after?: string | undefined;
}

/** What the filters meet, counted no further than it matters for the query. */
export interface FilterSizes {
  /** The users with one of these roles, or in one of these groups, for each filter by them. */
  members?: readonly (Members & { count: number; isSet?: boolean })[];
  /** Only the first `limits.lists.near` users in the order of the list. */
  isNear?: boolean;
  /** Too many users to look into each: a search finds beginnings by index. */
  isLarge?: boolean;
  /** The disabled users, or `limits.lists.few` + 1. */
  disabled?: number;
  /** When a role has to be held. */
  now?: Date;
}

/** Before every end, for a query without a filter by roles. */
const noTime = new Date(0);
const COLUMNS: Record<AccountSortKey, string> = {
  created: 'created_at',
  name: 'name_key',
  username: 'username_key',
  seen: 'last_seen_at',
};
const { few, matches, counted, near, inSet } = limits.lists;
/** Of each index; equal ones are the first of them. */
const quickMatches = 200;
/** In which people with a role or in a group are counted. */
const maxWays = counted * 3;

/** Finds the ids of a page, and of one more account. */
export function pageQuery(dialect: Dialect, query: AccountPageQuery, sizes: FilterSizes = {}): Fragment {
  const { limit = limits.api.pageSize } = query;
  const { key, column, sorted, later } = orderOf(query);
  const where = conditions(dialect, query, sizes, key);
  const users = sizes.isNear
    ? fragment`(SELECT * FROM users f ${clause(later)} ${sorted} LIMIT ${near}) f ${clause(where)}`
    : fragment`users f ${clause([...where, ...later])}`;
  return fragment`SELECT f.id, ${column} AS "at" FROM ${users} ${sorted} LIMIT ${limit + 1}`;
}

/** Finds a user after those of `isNear`. */
function afterNear(query: AccountPageQuery): Fragment {
  const { sorted, later } = orderOf(query);
  return fragment`SELECT f.id FROM users f ${clause(later)} ${sorted} LIMIT 1 OFFSET ${near}`;
}

/** The order of a page, and what is after the page before. */
function orderOf({ sort = '-created', after }: AccountPageQuery) {
  const { key, isDescending } = sortingOf(sort);
  const column = trustedText(`f.${COLUMNS[key]}`);
  const order = trustedText(isDescending ? 'DESC' : 'ASC');
  const cursor = after === undefined ? undefined : parseCursor(after, key);
  const later: Fragment[] = [];
  if (cursor) {
    const { at, id } = cursor;
    // Two conditions, because a database uses the index for the plain one and not for the pair.
    later.push(
      isDescending
        ? fragment`${column} <= ${at} AND (${column} < ${at} OR f.id < ${id})`
        : fragment`${column} >= ${at} AND (${column} > ${at} OR f.id > ${id})`,
    );
  }
  return { key, column, later, sorted: fragment`ORDER BY ${column} ${order}, f.id ${order}` };
}

/** Whether the best matches come first: a search in no other order. */
const isByMatch = ({ search, sort }: AccountPageQuery): boolean =>
  sort === undefined && nameKey(withoutUnstorable(search ?? '')) !== '';

interface MatchRow {
  id: string;
  rank: number;
  createdAt: Date | string;
}

/** Where a page of matches begins: after this account, or with the first one of its rank. */
interface MatchCursor {
  rank: number;
  at?: Date;
  id?: string;
}

/** The rank of matches that no index finds. */
const REST = 3;

/**
 * Finds a page, and one more, of the accounts that begin with the text, equal ones first, then those of which it is the first word; or of the others that have it, which the index of
 * the list finds in its order.
 */
export function matchQuery(
  dialect: Dialect,
  { search = '', limit = limits.api.pageSize, ...filter }: AccountPageQuery,
  sizes: FilterSizes,
  { rank, at, id }: MatchCursor,
): Fragment {
  const key = nameKey(withoutUnstorable(search));
  const isRest = rank === REST;
  const most = filter.isQuick && !sizes.members?.length ? quickMatches : matches;
  const begins = fragment`f.id IN (${joinFragments(
    rangesOf(key, filter.hiddenFields, most).map((range) => fragment`SELECT id FROM (${range}) AS found`),
    ' UNION ',
  )})`;
  const where = isRest
    ? [
        ...conditions(dialect, { ...filter, search, hiddenFields: undefined }, { ...sizes, isLarge: false }, 'created'),
        fragment`NOT (${begins})`,
      ]
    : [...conditions(dialect, filter, sizes, 'name'), begins];
  const ranked = isRest
    ? fragment`3`
    : fragment`CASE WHEN ${key} IN (f.username_key, f.email_key, f.name_key) THEN 0
        WHEN ${firstWordIs(key)} THEN 1 ELSE 2 END`;
  if (at && id !== undefined) {
    const later = fragment`(f.created_at <= ${at} AND (f.created_at < ${at} OR f.id < ${id}))`;
    where.push(isRest ? later : fragment`(${ranked} > ${rank} OR (${ranked} = ${rank} AND ${later}))`);
  }
  const order = isRest ? noFragment : fragment`${ranked}, `;
  return fragment`SELECT f.id, ${ranked} AS "rank", f.created_at AS "createdAt" FROM users f ${clause(where)}
    ORDER BY ${order}f.created_at DESC, f.id DESC LIMIT ${limit + 1}`;
}

/** Whether the text is the first word of a name, or of an address. */
function firstWordIs(key: string): Fragment {
  const words = joinFragments(
    [...' @.-_'].map((end) => `${key}${end}`),
    ', ',
  );
  const start = (column: string) => fragment`substr(${trustedText(column)}, 1, ${[...key].length + 1}) IN (${words})`;
  return fragment`(${joinFragments(['f.username_key', 'f.email_key', 'f.name_key'].map(start), ' OR ')})`;
}

/** `1.1795909854192.<id>`: the rank, and after which account; `3` alone: the first of that rank. */
function toMatchCursor({ rank, createdAt, id }: Partial<MatchRow> & { rank: number }): string {
  return createdAt === undefined ? String(rank) : `${rank}.${new Date(createdAt).getTime()}.${id}`;
}

// A malformed cursor starts at the first page.
function matchCursor(text = ''): MatchCursor {
  const [, rank = 0, time, id] = /^([0123])(?:\.(\d{1,14})\.([\w.~|-]{1,64}))?$/.exec(text) ?? [];
  return { rank: Number(rank), ...(time && { at: new Date(Number(time)), id }) };
}

/** Counts the accounts of the query, at most `limits.lists.counted` + 1 of them or in `maxWays` + 1; undefined where that would take too long. */
function countQuery(dialect: Dialect, query: AccountFilter, sizes: FilterSizes = {}): Fragment | undefined {
  const [members, ...others] = (sizes.members ?? []).filter(({ count }) => count > few);
  const { search, name, state, lastSeenBefore, endsBefore, source, invitation, ids } = query;
  const isFiltered =
    search ||
    name !== undefined ||
    state !== undefined ||
    lastSeenBefore !== undefined ||
    endsBefore !== undefined ||
    source !== undefined ||
    invitation ||
    ids ||
    others.length > 0;
  if (members && isFiltered) return undefined;
  const held = members && membersIn(members, sizes.now ?? noTime);
  if (!held)
    return countedTo(
      fragment`SELECT f.id FROM users f ${clause(conditions(dialect, query, sizes, 'created'))}`,
      counted + 1,
    );
  // A person may have a role, or be in a group, in several ways.
  return fragment`SELECT COUNT(*) AS count, SUM(ways) AS ways FROM (SELECT user_id, COUNT(*) AS ways FROM
    (${held} LIMIT ${maxWays + 1}) AS held GROUP BY user_id) AS found`;
}

/** How many accounts each of the ways of a search by index finds, at most `limits.lists.matches`. */
function matchesQuery(search: string, hiddenFields: AccountFilter['hiddenFields']): Fragment {
  const counts = rangesOf(search, hiddenFields).map(
    (range) => fragment`SELECT COUNT(*) AS count FROM (${range}) AS found`,
  );
  return fragment`SELECT MAX(count) AS count FROM (${joinFragments(counts, ' UNION ALL ')}) AS counts`;
}

function clause(where: readonly Fragment[]): Fragment {
  return where.length > 0 ? fragment`WHERE ${joinFragments([...where], ' AND ')}` : noFragment;
}

function conditions(
  dialect: Dialect,
  { search, hiddenFields, name, state, lastSeenBefore, endsBefore, source, invitation, ids }: AccountFilter,
  { members = [], isLarge = false, disabled = 0, now = noTime }: FilterSizes,
  sortedBy: AccountSortKey,
): Fragment[] {
  const where: Fragment[] = [];
  const key = search && nameKey(withoutUnstorable(search));
  if (state !== undefined) {
    // An index on the state serves the order of creation, and few disabled accounts in any order. As a truth value, it is not used.
    const isDisabled = state === 'disabled';
    const isByState = !key && members.length === 0 && (sortedBy === 'created' || (isDisabled && disabled <= few));
    const isInIt = isInState('f', state, now);
    where.push(isByState ? isInIt : fragment`(${isInIt}) IS TRUE`);
  }
  if (endsBefore !== undefined) where.push(fragment`f.active_until < ${endsBefore}`);
  if (lastSeenBefore !== undefined) where.push(fragment`f.last_seen_at < ${lastSeenBefore}`);
  if (name !== undefined) where.push(fragment`f.name_key = ${nameKey(withoutUnstorable(name))}`);
  if (source !== undefined) where.push(fragment`f.source = ${source}`);
  if (invitation !== undefined) where.push(...withInvitation(invitation, now));
  if (ids) where.push(isIn(ids));
  if (key) where.push(isFound(dialect, key, hiddenFields, isLarge));
  for (const member of members) where.push(isMember(member, now));
  return where;
}

function withInvitation(invitation: NonNullable<AccountFilter['invitation']>, now: Date): Fragment[] {
  if (invitation !== 'none' && invitation !== 'needed')
    return [fragment`f.id IN (${usersByInvitation(invitation, now)})`];
  const hasNone = fragment`NOT EXISTS (SELECT 1 FROM mail_tokens AS m
      WHERE m.user_id = f.id AND m.purpose = 'invite' AND m.used_at IS NULL)`;
  return invitation === 'needed' ? [...withoutCredentials, hasNone] : [hasNone];
}

/** The accounts that a search finds: in many only what begins with the text, by index. */
function isFound(
  dialect: Dialect,
  key: string,
  hiddenFields: AccountFilter['hiddenFields'],
  isLarge: boolean,
): Fragment {
  if (isLarge) {
    const ranges = rangesOf(key, hiddenFields).map((range) => fragment`SELECT id FROM (${range}) AS found`);
    return fragment`f.id IN (${joinFragments(ranges, ' UNION ')})`;
  }
  const inside = dialect.contains('f.search_key', key);
  if (!hiddenFields) return inside;
  return fragment`(${inside} OR f.id IN (SELECT id FROM (${valuesWith(key, hiddenFields)}) AS found))`;
}

function isMember({ count, isSet, ...one }: NonNullable<FilterSizes['members']>[number], now: Date): Fragment {
  const ids = membersIn(one, now);
  if (!ids) return fragment`1 = 0`;
  if (count <= few) return fragment`f.id IN (${ids})`;
  // The limit tells PostgreSQL that it fits into a hash table.
  if (isSet) return fragment`(f.id IN (SELECT user_id FROM (${ids}) AS held LIMIT ${inSet})) IS TRUE`;
  return isOneOf(one, now);
}

const isIn = (ids: readonly string[]): Fragment =>
  ids.length > 0 ? fragment`f.id IN (${joinFragments([...ids], ', ')})` : fragment`1 = 0`;

/** The accounts whose username, email address, name, last name or value of an own field begins with the text: the first ones of each. */
function rangesOf(search: string, hiddenFields: AccountFilter['hiddenFields'], most: number = matches): Fragment[] {
  const names = ['username_key', 'email_key', 'name_key', 'last_name_key'].map((name) => {
    const column = trustedText(name);
    return fragment`SELECT id FROM users WHERE ${beginsWith(column, search)} ORDER BY ${column} LIMIT ${most}`;
  });
  return hiddenFields ? [...names, valuesWith(search, hiddenFields, most)] : names;
}

function valuesWith(search: string, hiddenFields: readonly string[], most: number = matches): Fragment {
  const column = trustedText('value_key');
  const shown = hiddenFields.map(
    // `#` begins the tag of a language.
    (name) => fragment`name <> ${name} AND NOT (name >= ${`${name}#`} AND name < ${`${name}$`})`,
  );
  const where = joinFragments([beginsWith(column, search), ...shown], ' AND ');
  return fragment`SELECT user_id AS id FROM user_values WHERE ${where} ORDER BY ${column} LIMIT ${most}`;
}

function beginsWith(column: ReturnType<typeof trustedText>, search: string): Fragment {
  const from = nameKey(withoutUnstorable(search));
  // The highest character: the columns are compared by code point.
  return fragment`${column} >= ${from} AND ${column} < ${`${from}\u{10ffff}`}`;
}

/** As `hasCredentials` of account/registration/invitation.ts says; first what most people have, so that a database asks no further. */
const withoutCredentials = [
  fragment`NOT EXISTS (SELECT 1 FROM password_credentials AS c WHERE c.user_id = f.id)`,
  fragment`NOT EXISTS (SELECT 1 FROM scim_users AS c WHERE c.user_id = f.id)`,
  fragment`NOT EXISTS (SELECT 1 FROM external_identities AS c WHERE c.user_id = f.id)`,
  fragment`NOT EXISTS (SELECT 1 FROM passkeys AS c WHERE c.user_id = f.id)`,
  fragment`NOT EXISTS (SELECT 1 FROM totp_credentials AS c WHERE c.user_id = f.id)`,
  fragment`NOT EXISTS (SELECT 1 FROM phone_factors AS c WHERE c.user_id = f.id)`,
  fragment`f.sso_id IS NULL`,
];

/** As `invitationsOf` of link-tokens.ts says. */
function usersByInvitation(state: Exclude<InvitationState, 'needed'>, now: Date): Fragment {
  const of = (condition: Fragment) =>
    fragment`SELECT user_id FROM mail_tokens WHERE purpose = 'invite' AND ${condition}`;
  const open = fragment`used_at IS NULL AND bounced_at IS NULL AND expires_at > ${now}`;
  switch (state) {
    case 'invited':
      return of(fragment`${open} AND opened_at IS NULL`);
    case 'opened':
      return of(fragment`${open} AND opened_at IS NOT NULL`);
    case 'accepted':
      return of(fragment`used_at IS NOT NULL`);
    case 'bounced':
      return of(fragment`used_at IS NULL AND bounced_at IS NOT NULL`);
    case 'expired':
      return of(fragment`used_at IS NULL AND bounced_at IS NULL AND expires_at <= ${now}`);
  }
}

const isByTime = (key: AccountSortKey): boolean => key === 'created' || key === 'seen';

function sortingOf(sort: AccountSort): { key: AccountSortKey; isDescending: boolean } {
  const isDescending = sort.startsWith('-');
  return { key: (isDescending ? sort.slice(1) : sort) as AccountSortKey, isDescending };
}

/** The cursor of the page after this account. */
function cursorOf({ id, at }: { id: string; at: Date | string }, sort: AccountSort = '-created'): string {
  return isByTime(sortingOf(sort).key) ? toTimeCursor(new Date(at), id) : toValueCursor([String(at), id]);
}

// A malformed cursor starts at the first page; the links of the pages never contain one.
function parseCursor(text: string, key: AccountSortKey): { at: Date | string; id: string } | undefined {
  if (isByTime(key)) return fromTimeCursor(text);
  const [at, id] = fromValueCursor(text);
  return typeof at === 'string' && typeof id === 'string'
    ? { at: withoutUnstorable(at), id: withoutUnstorable(id) }
    : undefined;
}
