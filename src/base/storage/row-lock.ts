// Locks one row, or the names of accounts, until the transaction ends, so that "read, compare, write" has no race.
import type { Tx } from './database.ts';
import type { Sql } from './statements.ts';

export type LockedTable =
  | 'users'
  | 'roles'
  | 'applications'
  | 'resources'
  | 'connections'
  | 'sign_up_codes'
  | 'scim_users'
  | 'scim_groups';

const KEYS = new Map<LockedTable, string>([
  ['resources', 'identifier'],
  ['scim_users', 'user_id'],
  ['scim_groups', 'group_id'],
]);

/** Locks a row on PostgreSQL; SQLite needs no lock, because only one transaction writes at a time. */
export async function lockRow(tx: Tx, sql: Sql, table: LockedTable, id: string): Promise<void> {
  const { forUpdate } = sql.dialect;
  if (forUpdate === '') return;
  const key = KEYS.get(table) ?? 'id';
  await tx.$queryRawUnsafe(`SELECT 1 AS one FROM ${table} WHERE ${key} = $1 ${forUpdate}`, id);
}

/** Against other transactions that compare usernames with email addresses: `shared` ones run beside each other. */
export const lockAccountNames = (tx: Tx, sql: Sql, mode: LockMode): Promise<void> =>
  lock(tx, sql, 'account names', mode);

/** `exclusive`: the graph, the roles or the owners of groups change; `shared`: people join or leave. */
export const lockGroups = (tx: Tx, sql: Sql, mode: LockMode): Promise<void> => lock(tx, sql, 'groups', mode);

type LockMode = 'shared' | 'exclusive';

async function lock(tx: Tx, sql: Sql, name: 'account names' | 'groups', mode: LockMode): Promise<void> {
  if (sql.dialect.forUpdate === '') return;
  const take = mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  await tx.$queryRawUnsafe(`SELECT ${take}(hashtextextended('${name}', 0))::text AS locked`);
}
