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

/** The same connections; what they do in a request comes after what it has written before. */
export function withUnitOfWork({ adapter, sql }: Connections) {
  const units = new WeakMap<object, Unit>();
  const unit = (): Unit | undefined => {
    const request = servedRequest();
    return request && units.get(request);
  };

  async function commit(own: readonly Write[]): Promise<number[]> {
    const known = unit();
    while (known?.committing) await known.committing;
    if (!known || known.waiting.length === 0) return repeatAfterConflict(() => sql.commit(own));
    const onSettled = known.onSettled.splice(0);
    const result = commitWith(known, own);
    known.committing = result.then(
      () => {},
      () => {},
    );
    try {
      return await result;
    } finally {
      known.committing = undefined;
      if (known.waiting.length === 0) known.tables.clear();
      for (const settled of onSettled) settled();
    }
  }

  /** Commits what waits, and `own` with it; an error of `own`, such as a violated constraint, undoes only `own`. */
  async function commitWith(known: Unit, own: readonly Write[]): Promise<number[]> {
    const waiting = known.waiting.splice(0);
    const stored = (counts: number[]) => {
      for (const { committed } of waiting) committed?.();
      return counts.slice(waiting.length);
    };
    try {
      return stored(await repeatAfterConflict(() => sql.commit([...waiting, ...own])));
    } catch (error) {
      // When the database is away, nobody knows whether the commit took place: a repetition could write twice.
      if (own.length === 0 || unavailableIn(error)) throw failed(known, error);
    }
    try {
      stored(await repeatAfterConflict(() => sql.commit(waiting)));
    } catch (error) {
      throw failed(known, error);
    }
    return repeatAfterConflict(() => sql.commit(own));
  }

  function failed(known: Unit, error: unknown): unknown {
    known.failure ??= { error };
    return error;
  }

  async function commitWaiting({ isLast = false } = {}): Promise<void> {
    const request = servedRequest();
    if (!request) return;
    const known = units.get(request) ?? newUnit();
    if (isLast) {
      known.isOver = true;
      units.set(request, known);
    }
    while (known.committing) await known.committing;
    if (known.waiting.length > 0) await commit([]);
    if (known.failure) throw known.failure.error;
  }

  /** Whether something waits that a statement could read or follow; every write follows what waits. */
  function mustCommitBefore(text: string): boolean {
    const tables = unit()?.tables;
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
      const known = request && (units.get(request) ?? newUnit());
      if (!known || known.isOver) {
        await work.execute(statement, ...values);
        return committed?.();
      }
      chargeStatement(statement.sqlite, values);
      units.set(request, known);
      known.waiting.push({ statement, values, committed });
      known.tables.add(statement.table);
    },
    async allOrNone(writes) {
      await commitWaiting();
      for (const { statement, values } of writes) chargeStatement(statement.sqlite, values);
      return (await repeatAfterConflict(() => sql.commit(writes, { orNone: true }))).every((count) => count > 0);
    },
    commitWaiting,
    settled: () =>
      new Promise((resolve) => {
        const known = unit();
        if (known && known.waiting.length > 0) known.onSettled.push(resolve);
        else resolve(known?.committing);
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
