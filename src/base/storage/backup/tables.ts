// The tables of Gatehouse in a database of either kind, as the database itself describes them.
import type { DatabaseKind } from '../database-url.ts';

export interface Table {
  table: string;
  columns: string[];
  /** Of the columns, as the database names them. */
  types: string[];
}

type Query = (sql: string) => readonly Record<string, unknown>[] | Promise<readonly Record<string, unknown>[]>;

/** The tables, each after those that it refers to. */
export async function tablesOf(query: Query, kind: DatabaseKind): Promise<Table[]> {
  const { columns, references } = QUERIES[kind];
  const parents = await query(references);
  const tables = new Map<string, Table>();
  for (const { table, column, type } of await query(columns)) {
    const entry = tables.get(String(table)) ?? { table: String(table), columns: [], types: [] };
    entry.columns.push(String(column));
    entry.types.push(String(type));
    tables.set(entry.table, entry);
  }
  const sorted: Table[] = [];
  const waiting = new Set(tables.keys());
  while (waiting.size > 0) {
    const next = [...waiting].filter(
      (name) => !parents.some(({ table, parent }) => table === name && parent !== name && waiting.has(String(parent))),
    );
    if (next.length === 0) throw new Error(`the tables ${[...waiting].join(', ')} refer to each other`);
    for (const name of next) {
      waiting.delete(name);
      sorted.push(tables.get(name) as Table);
    }
  }
  return sorted;
}

/** The number of rows of each table. */
export async function countRows(query: Query, kind: DatabaseKind): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const { table } of await tablesOf(query, kind)) {
    const [counted] = await query(`SELECT count(*) AS count FROM "${table}"`);
    rows[table] = Number(counted?.count);
  }
  return rows;
}

const MIGRATIONS = '_prisma_migrations';

const OWN_POSTGRESQL = `pg_class.relkind = 'r' AND pg_class.relnamespace = current_schema()::regnamespace
  AND pg_class.relname <> '${MIGRATIONS}'`;
const OWN_SQLITE = `own.type = 'table' AND own.name NOT LIKE 'sqlite_%' AND own.name <> '${MIGRATIONS}'`;

const QUERIES: Record<DatabaseKind, { columns: string; references: string }> = {
  postgresql: {
    columns: `SELECT relname::text AS table, attname::text AS column, format_type(atttypid, atttypmod) AS type
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
      WHERE ${OWN_POSTGRESQL} ORDER BY relname, attnum`,
    references: `SELECT pg_class.relname::text AS table, parent.relname::text AS parent
      FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
      WHERE contype = 'f' AND ${OWN_POSTGRESQL}`,
  },
  sqlite: {
    columns: `SELECT own.name AS "table", info.name AS "column", info.type AS type
      FROM sqlite_schema AS own JOIN pragma_table_info(own.name) AS info WHERE ${OWN_SQLITE} ORDER BY own.name, info.cid`,
    references: `SELECT own.name AS "table", key."table" AS parent
      FROM sqlite_schema AS own JOIN pragma_foreign_key_list(own.name) AS key WHERE ${OWN_SQLITE}`,
  },
};
