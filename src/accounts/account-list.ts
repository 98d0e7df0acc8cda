// The list of accounts in pages, newest first. A cursor keeps the pages right while accounts are added and removed. An
// index contains every column that is searched and filtered by, so that it stays fast with 100,000 accounts.
import type { Db } from '../storage/database.ts';
import type { Dialect } from '../storage/dialect.ts';
import { type Fragment, fragment, joinFragments, noFragment } from '../storage/fragments.ts';
import type { Sql } from '../storage/statements.ts';
import { isStorable, withoutUnstorable } from '../storage/storable-text.ts';
import { nameKey } from './names.ts';
import { type Address, addressOf, type TextFieldName, textFieldNames } from './profile-fields.ts';

export interface ListAccounts {
  /** Part of the user name, e-mail address or name, in whatever case and spelling. */
  search?: string | undefined;
  isActive?: boolean | undefined;
  source?: 'local' | 'file' | undefined;
  /** A role's name. */
  role?: string | undefined;
  /** Names of roles: only users who have at least one of them. */
  memberOf?: readonly string[] | undefined;
  limit?: number | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
}

export interface AccountSummary extends Record<TextFieldName, string | null> {
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  phoneNumber: string | null;
  address: Address | null;
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

/** The users with one of these roles. */
interface Members {
  /** At least one; an empty identifier has no members. */
  roleIds: readonly string[];
  count: number;
}

const PAGE = 50;
/** A role with more members than this is found among the newest accounts; a smaller one through its members. */
const MANY_MEMBERS = 2000;

const SUMMARY = {
  id: true,
  username: true,
  email: true,
  emailVerified: true,
  ...(Object.fromEntries(textFieldNames.map((field) => [field, true])) as Record<TextFieldName, true>),
  phoneNumber: true,
  address: true,
  ssoId: true,
  isActive: true,
  source: true,
  createdAt: true,
  updatedAt: true,
  roles: { select: { role: { select: { name: true } } } },
} as const;

/** One page of accounts that match the query, and the cursor of the next one. */
export async function listAccounts(
  { db, sql }: { db: Db; sql: Pick<Sql, 'dialect'> },
  query: ListAccounts,
): Promise<AccountPage> {
  const { role, limit = PAGE } = query;
  if (role !== undefined && !isStorable(role)) return { accounts: [] };
  const members: Members[] = [];
  if (role !== undefined) members.push(await membersOf(db, [role]));
  if (query.memberOf) members.push(await membersOf(db, query.memberOf.filter(isStorable)));
  const found = await db.$queryRaw<{ id: string }[]>(pageQuery(sql.dialect, { ...query, limit }, members));
  const rows = await db.user.findMany({
    where: { id: { in: found.slice(0, limit).map(({ id }) => id) } },
    select: SUMMARY,
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  const accounts = rows.map((row) => ({ ...row, address: addressOf(row.address), roles: namesOf(row.roles) }));
  const last = accounts.at(-1);
  return found.length > limit && last ? { accounts, next: `${last.createdAt.getTime()}.${last.id}` } : { accounts };
}

/** Each role once, also one that is granted directly and by a group. */
function namesOf(held: readonly { role: { name: string } }[]): string[] {
  return [...new Set(held.map(({ role }) => role.name))].sort();
}

/** Finds the ids of a page, and of one more account. Plain SQL, because Prisma's `contains` takes % and _ for patterns. */
export function pageQuery(
  dialect: Dialect,
  { search, isActive, source, limit = PAGE, after }: ListAccounts,
  members: readonly Members[] = [],
): Fragment {
  const cursor = after === undefined ? undefined : parseCursor(after);
  const key = search && nameKey(withoutUnstorable(search));
  const where: Fragment[] = [];
  // Two conditions, because a database uses the index for the plain one and not for the pair.
  if (cursor)
    where.push(fragment`f.created_at <= ${cursor.at} AND (f.created_at < ${cursor.at} OR f.id < ${cursor.id})`);
  if (isActive !== undefined) where.push(fragment`f.is_active = ${isActive}`);
  if (source !== undefined) where.push(fragment`f.source = ${source}`);
  if (key) where.push(dialect.contains('f.search_key', key));
  for (const { roleIds, count } of members) {
    const held = fragment`FROM user_roles ur WHERE ur.role_id IN (${joinFragments([...roleIds], ', ')})`;
    where.push(
      count <= MANY_MEMBERS
        ? fragment`f.id IN (SELECT ur.user_id ${held})`
        : fragment`EXISTS (SELECT 1 ${held} AND ur.user_id = f.id)`,
    );
  }
  const condition = where.length > 0 ? fragment`WHERE ${joinFragments(where, ' AND ')}` : noFragment;
  return fragment`SELECT f.id FROM users f ${condition} ORDER BY f.created_at DESC, f.id DESC LIMIT ${limit + 1}`;
}

/** The users with one of these roles, counted no further than it matters. */
async function membersOf(db: Db, names: readonly string[]): Promise<Members> {
  const rows = await db.role.findMany({ where: { name: { in: [...names] } }, select: { id: true } });
  if (rows.length === 0) return { roleIds: [''], count: 0 };
  const roleIds = rows.map(({ id }) => id);
  return { roleIds, count: await db.userRole.count({ where: { roleId: { in: roleIds } }, take: MANY_MEMBERS + 1 }) };
}

// A malformed cursor starts at the first page; the links of the pages never contain one.
function parseCursor(text: string): { at: Date; id: string } | undefined {
  const [, time, id] = /^(\d{1,14})\.([\w.~|-]{1,64})$/.exec(text) ?? [];
  return time && id ? { at: new Date(Number(time)), id } : undefined;
}
