// What a migration script does to which tables, read from its SQL as Prisma writes it.
import type { DatabaseKind } from '../database-url.ts';

export interface TouchedTable {
  table: string;
  /** Created and removed by the script, changed, or every row written again. */
  change: 'created' | 'removed' | 'changed' | 'rewritten';
}

/** The tables of a script, each once, in order. */
export function touchedTables(sql: string, kind: DatabaseKind): TouchedTable[] {
  const found = new Map<string, TouchedTable['change']>();
  const note = (table: string, change: TouchedTable['change']) => {
    const strongest = ORDER.indexOf(change) > ORDER.indexOf(found.get(table) ?? 'changed') ? change : found.get(table);
    found.set(table, strongest ?? change);
  };
  const script = sql.replace(/--[^\n]*/g, '');
  for (const [, table = ''] of script.matchAll(/CREATE TABLE "(?!new_)(\w+)"/g)) note(table, 'created');
  for (const [, table = ''] of script.matchAll(/ALTER TABLE "(?!new_)(\w+)"/g)) note(table, 'changed');
  for (const [, table = ''] of script.matchAll(/CREATE (?:UNIQUE )?INDEX "\w+" ON "(\w+)"/g)) note(table, 'changed');
  for (const [, table = ''] of script.matchAll(/DELETE FROM "?(\w+)"?/g)) note(table, 'changed');
  for (const [, table = ''] of script.matchAll(/INSERT INTO "?(?!new_)(\w+)"?/g)) note(table, 'changed');
  for (const [, table = ''] of script.matchAll(/UPDATE "?(?!new_)(\w+)"? SET/g)) note(table, 'rewritten');
  // SQLite: Prisma copies a table to change a column. PostgreSQL: another type.
  for (const [, table = ''] of script.matchAll(/ALTER TABLE "new_\w+" RENAME TO "(\w+)"/g)) note(table, 'rewritten');
  if (kind === 'postgresql')
    for (const [, table = ''] of script.matchAll(/ALTER TABLE "(\w+)"[^;]*(?:SET DATA TYPE|\sTYPE\s)/g))
      note(table, 'rewritten');
  for (const [, table = ''] of script.matchAll(/DROP TABLE "(\w+)"/g))
    if (!new RegExp(`RENAME TO "${table}"`).test(script)) note(table, 'removed');
  return [...found].map(([table, change]) => ({ table, change }));
}

const ORDER: TouchedTable['change'][] = ['changed', 'rewritten', 'created', 'removed'];
