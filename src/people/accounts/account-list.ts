// The list of accounts in pages, the newest first or sorted by name. A cursor keeps the pages right while accounts are added and
// removed. It stays fast with a million accounts: what cannot be found by an index is counted or searched only up to a limit.
// A search finds any part of a name up to 100,000 users, and beginnings by index above: an index for parts is an extension of PostgreSQL and
// another kind of table on SQLite.
import { limits } from '../../base/limits.ts';
import type { Db } from '../../base/storage/database.ts';
import { fragment, joinFragments } from '../../base/storage/fragments.ts';
import type { Sql } from '../../base/storage/statements.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import {
  type AccountPageQuery,
  countQuery,
  cursorOf,
  type FilterSizes,
  matchesQuery,
  pageQuery,
} from './account-query.ts';
import { type Address, addressOf, type TextFieldName, textFieldNames } from './profile-fields.ts';

export type { AccountSort } from './account-query.ts';

/**
 * `search`: part of the username, email address or name, in whatever case and spelling. With more than `limits.lists.searched`
 * users it is the beginning of one of these or of the last name, and at most `limits.lists.matches` of each are found.
 */
export interface ListAccounts extends AccountPageQuery {
  /** A role's name. */
  role?: string | undefined;
  /** Names of roles: only users who have at least one of them. */
  memberOf?: readonly string[] | undefined;
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
  isActive: boolean;
  source: string;
  createdAt: Date;
  updatedAt: Date;
  roles: string[];
}

export interface AccountPage {
  accounts: AccountSummary[];
  /** Absent on the last page. */
  next?: string;
}

/** How many accounts a query finds. */
export interface AccountCount {
  /** Undefined where counting takes too long. */
  count: number | undefined;
  /** There are more. */
  isMore: boolean;
}

interface Context {
  db: Db;
  sql: Sql;
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
  isActive: true,
  source: true,
  createdAt: true,
  updatedAt: true,
  usernameKey: true,
  nameKey: true,
  roles: { select: { role: { select: { name: true } } } },
} as const;

/** One page of accounts that match the query, and the cursor of the next one. */
export async function listAccounts(context: Context, query: ListAccounts): Promise<AccountPage> {
  const { role, sort, limit = limits.api.pageSize } = query;
  if (role !== undefined && !isStorable(role)) return { accounts: [] };
  const { db, sql } = context;
  const sizes = await sizesOf(context, query);
  const found = await db.$queryRaw<{ id: string }[]>(pageQuery(sql.dialect, { ...query, limit }, sizes));
  const ids = found.slice(0, limit).map(({ id }) => id);
  const rows = new Map(
    (await db.asStored.user.findMany({ where: { id: { in: ids } }, select: SUMMARY })).map((row) => [row.id, row]),
  );
  const page = ids.flatMap((id) => rows.get(id) ?? []);
  const accounts = page.map(({ usernameKey: _username, nameKey: _name, ...row }) => ({
    ...row,
    address: addressOf(row.address),
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
    roles: namesOf(row.roles),
  }));
  const last = page.at(-1);
  return found.length > limit && last ? { accounts, next: cursorOf(last, sort) } : { accounts };
}

/** The number of accounts that match, counted up to `limits.lists.counted`. */
export async function countAccounts(context: Context, query: ListAccounts): Promise<AccountCount> {
  const { db, sql } = context;
  const { role, search } = query;
  if (role !== undefined && !isStorable(role)) return { count: 0, isMore: false };
  const sizes = await sizesOf(context, query);
  const counting = countQuery(sql.dialect, query, sizes);
  const count = counting && (await countOf(db, counting));
  const isCut = sizes.isLarge && search ? (await countOf(db, matchesQuery(search))) >= limits.lists.matches : false;
  const { counted } = limits.lists;
  return { count: count && Math.min(count, counted), isMore: isCut || (count !== undefined && count > counted) };
}

/** Each role once, also one that is granted directly and by a group. */
function namesOf(held: readonly { role: { name: string } }[]): string[] {
  return [...new Set(held.map(({ role }) => role.name))].sort();
}

async function sizesOf(
  { db }: Context,
  { role, memberOf, search, isActive, sort }: ListAccounts,
): Promise<FilterSizes> {
  const { few, searched } = limits.lists;
  const filters = [...(role === undefined ? [] : [[role]]), ...(memberOf ? [memberOf.filter(isStorable)] : [])];
  const isByName = sort !== undefined && !sort.endsWith('created');
  const [members, users, disabled] = await Promise.all([
    Promise.all(filters.map((names) => membersOf(db, names))),
    search ? countOf(db, countedTo(fragment`SELECT 1 FROM users`, searched + 1)) : 0,
    isActive === false && isByName
      ? countOf(db, countedTo(fragment`SELECT 1 FROM users WHERE is_active = ${false}`, few + 1))
      : 0,
  ]);
  return { members, isLarge: users > searched, disabled };
}

function countedTo(rows: ReturnType<typeof fragment>, limit: number) {
  return fragment`SELECT COUNT(*) AS count FROM (${rows} LIMIT ${limit}) AS found`;
}

async function countOf(db: Db, query: ReturnType<typeof fragment>): Promise<number> {
  const [row] = await db.$queryRaw<{ count: number | bigint }[]>(query);
  return Number(row?.count ?? 0);
}

/** The users with one of these roles, counted no further than it matters. */
async function membersOf(db: Db, names: readonly string[]) {
  const rows = await db.role.findMany({ where: { name: { in: [...names] } }, select: { id: true } });
  if (rows.length === 0) return { roleIds: [''], count: 0 };
  const roleIds = rows.map(({ id }) => id);
  const held = fragment`SELECT 1 FROM user_roles WHERE role_id IN (${joinFragments(roleIds, ', ')})`;
  // Not Prisma's `count`: with a limit it sorts all rows before it.
  const count = await countOf(db, countedTo(held, limits.lists.few + 1));
  return { roleIds, count };
}
