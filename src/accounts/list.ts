// The list of accounts, in pages: newest first, by a cursor that stays right while accounts come and go. Made for a
// hundred thousand of them: which ones a page shows is found in an index that holds all that is searched and filtered by.
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Sql, type SqlValue, sqlFor } from '../platform/sql.ts';
import { isStorable } from '../platform/storable.ts';
import { nameKey } from './names.ts';

export interface ListAccounts {
  /** Part of the user name, e-mail address or name, in whatever case and spelling. */
  search?: string | undefined;
  isActive?: boolean | undefined;
  source?: 'local' | 'file' | undefined;
  /** A role's name. */
  role?: string | undefined;
  limit?: number | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
}

export interface AccountSummary {
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
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

type Row = Omit<AccountSummary, 'roles'> & { roles: string | null };

const PAGE = 50;
/** A role with more members than this is found among the newest accounts; a smaller one through its members. */
const FEW_MEMBERS = 2000;

const COLUMNS = `u.id, u.username, u.email, u.email_verified AS "emailVerified", u.name, u.is_active AS "isActive", u.source,
  u.created_at AS "createdAt", u.updated_at AS "updatedAt",
  (SELECT string_agg(r.name, '\n') FROM user_roles ur JOIN roles r ON r.id = ur.role_id WHERE ur.user_id = u.id) AS roles`;

export async function listAccounts(
  { sql, kind }: { sql: Sql; kind: DatabaseKind },
  query: ListAccounts,
): Promise<AccountPage> {
  const { role, limit = PAGE } = query;
  if (role !== undefined && !isStorable(role)) return { accounts: [] };
  const members = role === undefined ? undefined : await membersOf(sql, kind, role);
  const { found, values } = pageQuery(kind, { ...query, limit }, members);
  const statement = `SELECT ${COLUMNS} FROM users u WHERE u.id IN (${found}) ORDER BY u.created_at DESC, u.id DESC`;
  const rows = await sql.query<Row>(sqlFor(kind, { statement }).statement, ...values);
  const accounts = rows.slice(0, limit).map((row) => ({ ...row, roles: row.roles?.split('\n').sort() ?? [] }));
  const last = accounts.at(-1);
  return rows.length > limit && last ? { accounts, next: `${last.createdAt.getTime()}.${last.id}` } : { accounts };
}

/** Finds the ids of a page, and of one more account. */
export function pageQuery(
  kind: DatabaseKind,
  { search, isActive, source, limit = PAGE, after }: ListAccounts,
  members: { roleId: string; count: number } | undefined,
): { found: string; values: SqlValue[] } {
  const cursor = after === undefined ? undefined : parseCursor(after);
  const key = search && nameKey(search.replace(/[\0\p{Cs}]/gu, ''));
  const where: string[] = [];
  const values: SqlValue[] = [];
  const filter = (condition: string, ...more: SqlValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  // Two conditions, because a database uses the index for the plain one and not for the pair.
  if (cursor) filter('f.created_at <= ? AND (f.created_at < ? OR f.id < ?)', cursor.at, cursor.at, cursor.id);
  if (isActive !== undefined) filter('f.is_active = ?', isActive);
  if (source !== undefined) filter('f.source = ?', source);
  // Not LIKE: it folds case anew for each row, and has signs of its own.
  if (key) filter(`${kind === 'sqlite' ? 'instr' : 'strpos'}(f.search_key, ?) > 0`, key);
  if (members) {
    const held = 'FROM user_roles ur WHERE ur.role_id = ?';
    if (members.count <= FEW_MEMBERS) filter(`f.id IN (SELECT ur.user_id ${held})`, members.roleId);
    else filter(`EXISTS (SELECT 1 ${held} AND ur.user_id = f.id)`, members.roleId);
  }
  const found = `SELECT f.id FROM users f ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
    ORDER BY f.created_at DESC, f.id DESC LIMIT ?`;
  return { found, values: [...values, limit + 1] };
}

/** How many have the role, counted no further than it matters. */
async function membersOf(sql: Sql, kind: DatabaseKind, role: string): Promise<{ roleId: string; count: number }> {
  const { id, count } = sqlFor(kind, {
    id: 'SELECT id FROM roles WHERE name = ?',
    count: `SELECT COUNT(*) AS count FROM (SELECT 1 FROM user_roles WHERE role_id = ? LIMIT ${FEW_MEMBERS + 1}) AS held`,
  });
  const [row] = await sql.query<{ id: string }>(id, role);
  if (!row) return { roleId: '', count: 0 };
  const [members] = await sql.query<{ count: number }>(count, row.id);
  return { roleId: row.id, count: Number(members?.count ?? 0) };
}

// A cursor that is not one begins at the start: it only ever comes from a link of ours.
function parseCursor(text: string): { at: Date; id: string } | undefined {
  const [, time, id] = /^(\d{1,14})\.([\w.~-]{1,64})$/.exec(text) ?? [];
  return time && id ? { at: new Date(Number(time)), id } : undefined;
}
