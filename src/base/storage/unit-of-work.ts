// One transaction for the deferred writes of a request (`later`). They are committed with the next write that is not deferred, before
// the next read of one of their tables, or at the end of the request, before its answer is sent. So whatever an answer confirms is stored, and
// a crash leaves all of these writes or none. Outside of a request no write is deferred.
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { repeatAfterConflict } from './contention.ts';
import { chargeStatement, servedRequest } from './request-scope.ts';
import type { PlainSql, SqlValue, Statement, UnitOfWork, Write } from './statements.ts';
import { unavailableIn } from './unavailable.ts';

type DeferredWrite = Write & { committed?: (() => void) | undefined };

interface Unit {
  waiting: DeferredWrite[];
  /** The tables of what waits or is being committed. */
  tables: Set<string>;
  /** The commit under way; it never rejects. */
  committing?: Promise<void> | undefined;
  /** Why writes that waited are not stored: the request fails, also when the caller that met the error has caught it. */
  failure?: { error: unknown };
  /** Called when what waits is committed, or has failed. */
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
    // `committing` is the lock of the unit: there is no `await` between its check above and its assignment below.
    const onSettled = unit.onSettled.splice(0);
    const result = commitTogether(unit, unit.waiting.splice(0), own);
    const end = () => {
      unit.committing = undefined;
      if (unit.waiting.length === 0) unit.tables.clear();
      for (const settled of onSettled) settled();
    };
    unit.committing = result.then(end, end);
    return await result;
  }

  /** One transaction for what waited and `own`. */
  async function commitTogether(
    unit: Unit,
    waited: readonly DeferredWrite[],
    own: readonly Write[],
  ): Promise<number[]> {
    try {
      const counts = await repeatAfterConflict(() => sql.commit([...waited, ...own]));
      for (const { committed } of waited) committed?.();
      return counts.slice(waited.length);
    } catch (error) {
      // When the database is away, nobody knows whether the commit took place: a repetition could write twice.
      if (own.length > 0 && !unavailableIn(error)) return commitApart(unit, waited, own);
      unit.failure ??= { error };
      throw error;
    }
  }

  /** After an error, which may be that of `own`, such as a violated constraint: then what waited is stored without it. */
  async function commitApart(unit: Unit, waited: readonly DeferredWrite[], own: readonly Write[]): Promise<number[]> {
    await commitTogether(unit, waited, []);
    return repeatAfterConflict(() => sql.commit(own));
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
        // What waits is not in the commit under way, but in the next one.
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
