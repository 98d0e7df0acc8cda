// PostgreSQL under Prisma: a connection pool with time limits, so that a server that does not respond causes an error.
import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import type { DatabaseLocation } from '../database-url.ts';
import { dialects } from '../dialect.ts';
import { type Sql, type SqlValue, type Statement, statementsIn } from '../statements.ts';

const MAX_NAMED_STATEMENTS = 500;

type Location = Extract<DatabaseLocation, { kind: 'postgresql' }>;

/** Opens the pool, for Prisma and for hot statements on the same connections. */
export async function openPostgres(location: Location): Promise<{ adapter: SqlDriverAdapter; sql: Sql }> {
  const adapter = await postgresAdapter(location).connect();
  const sql: Sql = {
    async query<Row>({ postgresql: text }: Statement, ...args: SqlValue[]) {
      const { columnNames, columnTypes, rows } = await adapter.queryRaw({ sql: text, args, argTypes: untyped(args) });
      return rows.map(
        (row) => Object.fromEntries(columnNames.map((name, at) => [name, plain(row[at], columnTypes[at])])) as Row,
      );
    },
    execute: ({ postgresql: text }, ...args) => adapter.executeRaw({ sql: text, args, argTypes: untyped(args) }),
    in: (tx) => statementsIn(tx, 'postgresql'),
    dialect: dialects.postgresql,
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
    if (names.size >= MAX_NAMED_STATEMENTS) return ''; // unnamed: texts with lists of any length must not fill the server
    const name = `gatehouse_${names.size}`;
    names.set(sql, name);
    return name;
  };
}

function untyped(args: SqlValue[]): ArgType[] {
  return args.map(() => ({ scalarType: 'unknown', arity: 'scalar' }));
}

// The adapter returns text for a timestamp and for a 64-bit integer, which Prisma converts later.
function plain(value: unknown, type: ColumnType | undefined): unknown {
  if (value === null) return null;
  if (type === ColumnTypeEnum.DateTime) return new Date(String(value));
  return type === ColumnTypeEnum.Int64 ? Number(value) : value;
}
