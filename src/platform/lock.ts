// Holds one row until the transaction ends, so that what is read of it stays true: "read, compare, write" without a race.
import type { DatabaseKind } from './database-url.ts';
import type { Tx } from './db.ts';

export type LockedTable = 'users' | 'roles' | 'applications' | 'resources' | 'audit_chain';

/** Locks a row on PostgreSQL; on SQLite a transaction has the database to itself anyway. */
export async function lockRow(tx: Tx, kind: DatabaseKind, table: LockedTable, id: string): Promise<void> {
  if (kind === 'sqlite') return;
  const key = table === 'resources' ? 'identifier' : 'id';
  await tx.$queryRawUnsafe(`SELECT 1 AS one FROM ${table} WHERE ${key} = $1 FOR UPDATE`, id);
}
