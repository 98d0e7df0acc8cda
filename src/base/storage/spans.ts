// A span for each statement (OpenTelemetry's conventions for databases): a hot statement by its name, one of Prisma by what it does
// to which table. Neither the text of a statement nor a value is in it. Used only when traces are on.
import type { SqlDriverAdapter, SqlQuery, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils';
import { runInChildSpan, type SpanOptions } from '../platform/tracing.ts';
import type { DatabaseKind } from './database-url.ts';
import type { PlainSql, Statement, Statements } from './statements.ts';

interface Connections {
  adapter: SqlDriverAdapter;
  sql: PlainSql;
}

/** The same connections with spans. */
export function withStatementSpans({ adapter, sql }: Connections, kind: DatabaseKind): Connections {
  const queries = (
    target: SqlQueryable,
  ): Pick<SqlQueryable, 'provider' | 'adapterName' | 'queryRaw' | 'executeRaw'> => ({
    provider: target.provider,
    adapterName: target.adapterName,
    queryRaw: (query) => runInChildSpan(...spanOf(query, kind), () => target.queryRaw(query)),
    executeRaw: (query) => runInChildSpan(...spanOf(query, kind), () => target.executeRaw(query)),
  });
  const transaction = (target: Transaction): Transaction => ({
    ...queries(target),
    options: target.options,
    commit: () => target.commit(),
    rollback: () => target.rollback(),
    ...(target.createSavepoint && { createSavepoint: (name) => target.createSavepoint?.(name) as Promise<void> }),
    ...(target.rollbackToSavepoint && {
      rollbackToSavepoint: (name) => target.rollbackToSavepoint?.(name) as Promise<void>,
    }),
    ...(target.releaseSavepoint && { releaseSavepoint: (name) => target.releaseSavepoint?.(name) as Promise<void> }),
  });
  const named = (statements: Statements): Statements => ({
    query: (statement, ...values) =>
      runInChildSpan(...namedSpan(statement, kind), () => statements.query(statement, ...values)),
    execute: (statement, ...values) =>
      runInChildSpan(...namedSpan(statement, kind), () => statements.execute(statement, ...values)),
  });
  return {
    adapter: {
      ...queries(adapter),
      executeScript: (script) => adapter.executeScript(script),
      startTransaction: async (level) =>
        transaction(
          // It waits for a connection, or for the writer of SQLite.
          await runInChildSpan('BEGIN', optionsOf('BEGIN', undefined, kind), () => adapter.startTransaction(level)),
        ),
      ...(adapter.getConnectionInfo && {
        getConnectionInfo: () =>
          adapter.getConnectionInfo?.() as ReturnType<NonNullable<typeof adapter.getConnectionInfo>>,
      }),
      dispose: () => adapter.dispose(),
    },
    sql: { ...sql, ...named(sql), in: (tx) => named(sql.in(tx)) },
  };
}

function spanOf({ sql }: SqlQuery, kind: DatabaseKind): [string, SpanOptions] {
  const operation = /^\s*(\w{1,20})/.exec(sql)?.[1]?.toUpperCase() ?? 'SQL';
  const table = /\b(?:FROM|INTO|UPDATE)\s+(?:["`]?\w+["`]?\.)?["`]?([a-z_]{1,63})["`]?/i.exec(sql)?.[1];
  return [table ? `${operation} ${table}` : operation, optionsOf(operation, table, kind)];
}

function namedSpan({ name }: Statement, kind: DatabaseKind): [string, SpanOptions] {
  return [name, { kind: 'client', isLeaf: true, attributes: { 'db.system.name': kind, 'db.query.summary': name } }];
}

function optionsOf(operation: string, table: string | undefined, kind: DatabaseKind): SpanOptions {
  return {
    kind: 'client',
    isLeaf: true,
    attributes: { 'db.system.name': kind, 'db.operation.name': operation, 'db.collection.name': table },
  };
}
