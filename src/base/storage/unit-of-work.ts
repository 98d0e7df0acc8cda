// One transaction for the deferred writes of a request (`later`). They are committed with the next write that is not deferred, before
// the next read of one of their tables, or at the end of the request, before its answer is sent. So whatever an answer confirms is stored, and
// a crash leaves all of these writes or none. Outside of a request no write is deferred.
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { repeatAfterConflict } from './contention.ts';
import { chargeStatement, servedRequest } from './request-scope.ts';
import type { PlainSql, SqlValue, Statement, UnitOfWork, Write } from './statements.ts';
import { unavailableIn } from './unavailable.ts';

interface Unit {
  waiting: (Write & { committed?: (() => void) | undefined })[];
  /** The tables of what waits or is being committed. */
  tables: Set<string>;
  /** The commit under way; it never rejects. */
  committing?: Promise<void> | undefined;
  /** Why writes that waited are not stored: the request fails, also when the caller that met the error has caught it. */
  failure?: { error: unknown };
  onSettled: (() => void)[];
  isOver: boolean;
}

interface Connections {
  adapter: SqlDriverAdapter;
  sql: PlainSql;
}

/** The same connections; in a request, each statement comes after the deferred writes that it could read or follow. */
export function withUnitOfWork({ adapter, sql }: Connections) {
  const units = new WeakMap<object, Unit>();
  const currentUnit = (): Unit | undefined => {
    const request = servedRequest();
    return request && units.get(request);
  };

  /** Commits `own`, and what waits with it. */
  async function commit(own: readonly Write[]): Promise<number[]> {
    const unit = currentUnit();
    while (unit?.committing) await unit.committing;
    if (!unit || unit.waiting.length === 0) return repeatAfterConflict(() => sql.commit(own));
    const onSettled = unit.onSettled.splice(0);
    const result = commitWithWaiting(unit, own);
    unit.committing = result.then(
      () => {},
      () => {},
    );
    try {
      return await result;
    } finally {
      unit.committing = undefined;
      if (unit.waiting.length === 0) unit.tables.clear();
      for (const settled of onSettled) settled();
    }
  }

  /** One transaction for what waits and `own`; an error of `own`, such as a violated constraint, undoes only `own`. */
  async function commitWithWaiting(unit: Unit, own: readonly Write[]): Promise<number[]> {
    const waiting = unit.waiting.splice(0);
    const stored = (counts: number[]) => {
      for (const { committed } of waiting) committed?.();
      return counts.slice(waiting.length);
    };
    try {
      return stored(await repeatAfterConflict(() => sql.commit([...waiting, ...own])));
    } catch (error) {
      // When the database is away, nobody knows whether the commit took place: a repetition could write twice.
      if (own.length === 0 || unavailableIn(error)) throw noteFailure(unit, error);
    }
    try {
      stored(await repeatAfterConflict(() => sql.commit(waiting)));
    } catch (error) {
      throw noteFailure(unit, error);
    }
    return repeatAfterConflict(() => sql.commit(own));
  }

  /** Returns the error, to be thrown. */
  function noteFailure(unit: Unit, error: unknown): unknown {
    unit.failure ??= { error };
    return error;
  }

  async function commitWaiting({ isLast = false } = {}): Promise<void> {
    const request = servedRequest();
    if (!request) return;
    const unit = units.get(request) ?? newUnit();
    if (isLast) {
      unit.isOver = true;
      units.set(request, unit);
    }
    while (unit.committing) await unit.committing;
    if (unit.waiting.length > 0) await commit([]);
    if (unit.failure) throw unit.failure.error;
  }

  /** Whether something waits that a statement could read or follow; every write follows what waits. */
  function mustCommitBefore(text: string): boolean {
    const tables = currentUnit()?.tables;
    if (!tables || tables.size === 0) return false;
    return !/^\s*select\b/i.test(text) || [...tables].some((table) => text.includes(table));
  }
  const after = <T>(text: string, run: () => Promise<T>): Promise<T> =>
    mustCommitBefore(text) ? commitWaiting().then(run) : run();

  const work: UnitOfWork = {
    query: <Row>(statement: Statement, ...values: SqlValue[]) =>
      after(statement.sqlite, () => sql.query<Row>(statement, ...values)),
    async execute(statement, ...values) {
      chargeStatement(statement.sqlite, values);
      const [count = 0] = await commit([{ statement, values }]);
      return count;
    },
    async later(statement, values, committed) {
      const request = servedRequest();
      const unit = request && (units.get(request) ?? newUnit());
      if (!unit || unit.isOver) {
        await work.execute(statement, ...values);
        return committed?.();
      }
      chargeStatement(statement.sqlite, values);
      units.set(request, unit);
      unit.waiting.push({ statement, values, committed });
      unit.tables.add(statement.table);
    },
    async allOrNone(writes) {
      await commitWaiting();
      for (const { statement, values } of writes) chargeStatement(statement.sqlite, values);
      return (await repeatAfterConflict(() => sql.commit(writes, { orNone: true }))).every((count) => count > 0);
    },
    commitWaiting,
    settled: () =>
      new Promise((resolve) => {
        const unit = currentUnit();
        if (unit && unit.waiting.length > 0) unit.onSettled.push(resolve);
        else resolve(unit?.committing);
      }),
  };
  const ordered: SqlDriverAdapter = Object.assign(Object.create(adapter), {
    queryRaw: (query) => after(query.sql, () => adapter.queryRaw(query)),
    executeRaw: (query) => after(query.sql, () => adapter.executeRaw(query)),
    startTransaction: (level) => after('BEGIN', () => adapter.startTransaction(level)),
  } satisfies Partial<SqlDriverAdapter>);
  return { adapter: ordered, sql: { ...sql, ...work } };
}

function newUnit(): Unit {
  return { waiting: [], tables: new Set(), onSettled: [], isOver: false };
}
