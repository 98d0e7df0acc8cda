// PostgreSQL under Prisma: a pool with limits, so that a stuck server shows up as an error and not as a hang.
import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import type { DatabaseLocation } from './database-url.ts';
import type { Sql, SqlValue } from './sql.ts';

const KEPT_STATEMENTS = 500;

type Location = Extract<DatabaseLocation, { kind: 'postgresql' }>;

/** Opens the pool: for Prisma, and for plain statements on the same connections. */
export async function openPostgres(location: Location): Promise<{ adapter: SqlDriverAdapter; sql: Sql }> {
  const adapter = await postgresAdapter(location).connect();
  const sql: Sql = {
    async query<Row>(statement: string, ...args: SqlValue[]) {
      const { columnNames, columnTypes, rows } = await adapter.queryRaw({
        sql: statement,
        args,
        argTypes: untyped(args),
      });
      return rows.map(
        (row) => Object.fromEntries(columnNames.map((name, at) => [name, plain(row[at], columnTypes[at])])) as Row,
      );
    },
    execute: (statement, ...args) => adapter.executeRaw({ sql: statement, args, argTypes: untyped(args) }),
    revision: () => undefined,
  };
  return { adapter, sql };
}

/** A pool of at most `max` connections. */
export function postgresAdapter({ connectionString, schema, keepsStatements }: Location, max = 10): PrismaPg {
  return new PrismaPg(
    {
      connectionString,
      max,
      application_name: 'gatehouse',
      connectionTimeoutMillis: 5000,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      // Raw SQL names tables without their schema.
      ...(schema === 'public' ? {} : { options: `-c search_path=${schema}` }),
    },
    { schema, ...(keepsStatements ? { statementNameGenerator: createNames() } : {}) },
  );
}

// A named statement is parsed and planned once per connection, which halves what a small query costs.
function createNames(): (query: SqlQuery) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known) return known;
    if (names.size >= KEPT_STATEMENTS) return ''; // unnamed: lists of varying length must not fill the server
    const name = `gatehouse_${names.size}`;
    names.set(sql, name);
    return name;
  };
}

function untyped(args: SqlValue[]): ArgType[] {
  return args.map(() => ({ scalarType: 'unknown', arity: 'scalar' }));
}

// The adapter hands out what Prisma converts later: text for a timestamp and for an integer of 64 bits.
function plain(value: unknown, type: ColumnType | undefined): unknown {
  if (value === null) return null;
  if (type === ColumnTypeEnum.DateTime) return new Date(String(value));
  return type === ColumnTypeEnum.Int64 ? Number(value) : value;
}
