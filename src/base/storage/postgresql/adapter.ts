// PostgreSQL under Prisma, on the pool of pool.ts.

import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ArgType,
  type ColumnType,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import { createAvailability } from '../availability.ts';
import type { DatabaseLocation } from '../database-url.ts';
import { dialects } from '../dialect.ts';
import { guardedAdapter, type Watch } from '../guarded-adapter.ts';
import type { OpenOptions } from '../open-options.ts';
import { withinRequest } from '../request-scope.ts';
import { type PlainSql, type SqlValue, type Statement, statementsIn } from '../statements.ts';
import type { DatabaseUnavailable } from '../unavailable.ts';
import { revisionOf } from './directory-revision.ts';
import { closeIdleConnections, endWaits, lookAtServer, type PoolOptions, poolConfig, type Waits } from './pool.ts';

const MAX_NAMED_STATEMENTS = 500;
/** Pauses between two looks at the server, without a failure, after which it is usable again. */
const PAUSES_WITHOUT_FAILURE = 10;

type Location = Extract<DatabaseLocation, { kind: 'postgresql' }>;

/** Opens the pool, for Prisma and for hot statements on the same connections. */
export async function openPostgres(
  location: Location,
  { limits, onChange }: OpenOptions,
): Promise<{ adapter: SqlDriverAdapter; sql: PlainSql }> {
  const waits: Waits = new Set();
  const plainAdapter = await postgresAdapter(location, { limits, max: limits.connections, waits }).connect();
  const pool = plainAdapter.underlyingDriver();
  const failing = watchFailingOperations(onChange, PAUSES_WITHOUT_FAILURE * limits.pauseMs, () => availability.isUp());
  const availability = createAvailability({
    look: () => lookAtServer(location, limits),
    pauseMs: limits.pauseMs,
    onChange,
    onLook(isThere, { reason }) {
      closeIdleConnections(pool);
      if (!isThere) {
        failing.reset();
        endWaits(waits, 0);
      } else if (reason === 'no answer') {
        // Other connections may be as silent as that one. A statement that is only slow has so much time.
        endWaits(waits, limits.lookMs);
      }
    },
    onFailure: failing.failed,
  });
  const { fail } = availability;
  const adapter = guardedAdapter(plainAdapter, availability, {
    limited: (run, discard) => withinRequest(limits, { run, fail, ...(discard && { discard }) }),
    watch: failing.watch,
  });
  const sql: PlainSql = {
    async query<Row>({ postgresql: text }: Statement, ...args: SqlValue[]) {
      const { columnNames, columnTypes, rows } = await adapter.queryRaw({ sql: text, args, argTypes: untyped(args) });
      return rows.map((row) => {
        const plainRow: Record<string, unknown> = {};
        for (const [at, name] of columnNames.entries()) plainRow[name] = plain(row[at], columnTypes[at]);
        return plainRow as Row;
      });
    },
    commit: (writes, { orNone = false } = {}) => {
      const queries = writes.map(({ statement, values: args }) => ({
        sql: statement.postgresql,
        args,
        argTypes: untyped(args),
      }));
      const [first] = queries;
      if (!first) return Promise.resolve([]);
      const run = () =>
        queries.length === 1 ? executeOne(plainAdapter, first) : executeAll(plainAdapter, queries, orNone);
      return failing.watch(first, withinRequest(limits, { run: () => availability.run(run), fail }));
    },
    in: (tx) => statementsIn(tx, 'postgresql'),
    dialect: dialects.postgresql,
    isRemote: true,
    revision: () => revisionOf(sql),
    artifactRevision: () => undefined,
    lastOutage: availability.lastOutage,
  };
  return { adapter, sql };
}

async function executeOne(adapter: SqlDriverAdapter, query: SqlQuery): Promise<number[]> {
  return [await adapter.executeRaw(query)];
}

/** In one transaction. `orNone`: rolled back after the first that changes no row. */
async function executeAll(adapter: SqlDriverAdapter, queries: readonly SqlQuery[], orNone: boolean): Promise<number[]> {
  const tx = await adapter.startTransaction();
  const end = (sql: string) => tx.executeRaw({ sql, args: [], argTypes: [] });
  const counts: number[] = [];
  try {
    for (const query of queries) {
      counts.push(await tx.executeRaw(query));
      if (orNone && counts.at(-1) === 0) break;
    }
    await end(orNone && counts.includes(0) ? 'ROLLBACK' : 'COMMIT');
  } catch (error) {
    await end('ROLLBACK').catch(() => {}); // the connection may be lost
    await tx.rollback();
    throw error;
  }
  await tx.commit(); // gives the connection back
  return counts;
}

/** Prisma's adapter on a pool. */
export function postgresAdapter(location: Location, options: PoolOptions): PrismaPg {
  const { schema, keepsStatements } = location;
  return new PrismaPg(poolConfig(location, options), {
    schema,
    ...(keepsStatements ? { statementNameGenerator: createNames() } : {}),
  });
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

interface FailingOperations {
  /** An operation has failed for this reason, and the server answers. */
  failed(reason: DatabaseUnavailable): void;
  /** Sees each statement: a write that succeeds ends the state. */
  watch: Watch;
  /** The server does not answer at all, which is reported elsewhere. */
  reset(): void;
}

const WRITE = /\b(insert|update|delete)\b/i;

/**
 * @param pauseMs how long no operation must have failed before a write ends the state, so that several locks in a row are reported once
 * @param isUp false from a failure until the server was looked at: a write that succeeds meanwhile, on another connection, proves nothing
 */
export function watchFailingOperations(
  onChange: OpenOptions['onChange'],
  pauseMs: number,
  isUp: () => boolean,
): FailingOperations {
  let failedAt: number | undefined;

  function succeeded(): void {
    if (failedAt === undefined || performance.now() - failedAt < pauseMs || !isUp()) return;
    failedAt = undefined;
    onChange?.(undefined);
  }

  return {
    failed(reason) {
      const isNew = failedAt === undefined;
      failedAt = performance.now();
      if (isNew) onChange?.(reason);
    },
    watch(query, result) {
      if (failedAt === undefined || !WRITE.test(query.sql)) return result;
      return result.then((value) => {
        succeeded();
        return value;
      });
    },
    reset() {
      failedAt = undefined;
    },
  };
}
