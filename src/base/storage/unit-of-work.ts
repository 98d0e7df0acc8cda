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
  /** Why writes that waited are not stored. `commitWaiting` throws it at the end of the request, also when the first caller has caught it. */
  failure?: { error: unknown };
  /** Called when what waits is committed, or has failed. */
  onSettled: (() => void)[];
  /** The request has ended: nothing more is deferred. */
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
  function unitOf(request: object): Unit {
    const known = units.get(request);
    if (known) return known;
    const unit: Unit = { waiting: [], tables: new Set(), onSettled: [], isOver: false };
    units.set(request, unit);
    return unit;
  }

  const commitAtOnce = (writes: readonly Write[]): Promise<number[]> => repeatAfterConflict(() => sql.commit(writes));

  /** Commits `own`, and what waits in this request with it; returns how many rows each of `own` changed. */
  async function commit(own: readonly Write[]): Promise<number[]> {
    const unit = currentUnit();
    // `committing` is the lock of the unit: nothing is awaited between this loop and its assignment below.
    while (unit?.committing) await unit.committing;
    if (!unit || unit.waiting.length === 0) return commitAtOnce(own);
    const waited = unit.waiting.splice(0);
    const onSettled = unit.onSettled.splice(0);
    const counts = commitWith(waited, own, unit);
    const end = () => {
      unit.committing = undefined;
      if (unit.waiting.length === 0) unit.tables.clear();
      for (const settled of onSettled) settled();
    };
    unit.committing = counts.then(end, end);
    return await counts;
  }

  async function commitWith(waited: readonly DeferredWrite[], own: readonly Write[], unit: Unit): Promise<number[]> {
    let counts: number[] | undefined;
    try {
      counts = await commitBothOrWaited(waited, own);
    } catch (error) {
      unit.failure ??= { error };
      throw error;
    }
    for (const { committed } of waited) committed?.();
    // After an error of the common transaction, `own` is committed by itself, and throws its own error.
    return counts ?? commitAtOnce(own);
  }

  /** One transaction for both; returns the counts of `own`, or undefined where only what waited is stored. */
  async function commitBothOrWaited(
    waited: readonly DeferredWrite[],
    own: readonly Write[],
  ): Promise<number[] | undefined> {
    try {
      return (await commitAtOnce([...waited, ...own])).slice(waited.length);
    } catch (error) {
      // When the database is away, nobody knows whether the commit took place: a repetition could write twice.
      if (own.length === 0 || unavailableIn(error)) throw error;
    }
    // It may have been an error of `own`, such as a violated constraint.
    await commitAtOnce(waited);
    return undefined;
  }

  async function commitWaiting({ isLast = false } = {}): Promise<void> {
    const request = servedRequest();
    if (!request) return;
    const unit = unitOf(request);
    if (isLast) unit.isOver = true;
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
      const unit = request && unitOf(request);
      if (!unit || unit.isOver) {
        await work.execute(statement, ...values);
        return committed?.();
      }
      chargeStatement(statement.sqlite, values);
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
