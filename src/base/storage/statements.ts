// Hot statements: SQL for the few queries of every request, on the connections of Prisma but without the cost of its query
// compiler. Everything else uses Prisma. bench/README.md says what they save.
import type { Outage } from './availability.ts';
import type { DatabaseKind } from './database-url.ts';
import type { Dialect } from './dialect.ts';
import type { Covered, ProtectedRows, ProtectedTable } from './protected-rows.ts';
import { tableWritten } from './stored-size.ts';

export type SqlValue = string | number | bigint | boolean | Date | Uint8Array | null;

/** One hot statement, in the syntax of each database. */
export interface Statement {
  /** `domain.action`, as a span is named. */
  readonly name: string;
  readonly sqlite: string;
  readonly postgresql: string;
  /** The table that it writes; empty for a read. */
  readonly table: string;
}

/** A statement that writes, with its values. */
export interface Write {
  statement: Statement;
  values: SqlValue[];
}

/** Begins a statement that changes one of the engine's rows, by its id: the caller forgets what it remembers of that row itself. */
export const ONE_ARTIFACT = '/* one artifact */';
/** Begins a statement that changes only when accounts were used last: what is cached of the directory stays (directory-cache.ts). */
export const LAST_USE = '/* last use */';

/**
 * Names the hot statements of a domain and prepares their text for both databases. `?` marks a parameter, which PostgreSQL
 * gets as `$1`; a statement must not contain another `?`.
 */
export function hotStatements<Name extends string>(
  domain: string,
  texts: Record<Name, string>,
): Record<Name, Statement> {
  const named = Object.entries<string>(texts).map(([name, text]) => {
    let position = 0;
    const postgresql = text.replaceAll('?', () => `$${++position}`);
    return [name, { name: `${domain}.${name}`, sqlite: text, postgresql, table: tableWritten(text) ?? '' }];
  });
  return Object.fromEntries(named) as Record<Name, Statement>;
}

/** Runs hot statements. */
export interface Statements {
  /** The rows of a SELECT, or of a statement with RETURNING. */
  query<Row>(statement: Statement, ...values: SqlValue[]): Promise<Row[]>;
  /** How many rows an INSERT, UPDATE or DELETE changed. */
  execute(statement: Statement, ...values: SqlValue[]): Promise<number>;
}

/** The raw queries of a Prisma transaction. */
export interface RawQueries {
  $queryRawUnsafe<Rows>(text: string, ...values: SqlValue[]): PromiseLike<Rows>;
  $executeRawUnsafe(text: string, ...values: SqlValue[]): PromiseLike<number>;
}

/** Runs hot statements inside a transaction. */
export function statementsIn(tx: RawQueries, kind: DatabaseKind): Statements {
  return {
    query: async <Row>(statement: Statement, ...values: SqlValue[]) =>
      tx.$queryRawUnsafe<Row[]>(statement[kind], ...values),
    execute: async (statement, ...values) => tx.$executeRawUnsafe(statement[kind], ...values),
  };
}

/** Undefined when the database has none, so that nothing is cached. */
export type Revision = number | string | undefined;

/** What every connection says of its database. */
interface DatabaseProperties {
  /** SQL that differs between the two databases. */
  readonly dialect: Dialect;
  /** Each statement is a round trip to another process, so that one statement for several rows is cheaper. */
  readonly isRemote: boolean;
  /** A value that changes with every change of users, roles, applications and connections (directory-cache.ts). */
  revision(): Revision | Promise<Revision>;
  /**
   * A value that changes with every change of the engine's rows but those by statements marked ONE_ARTIFACT; undefined on PostgreSQL, where to
   * read it would cost as much as to read a row.
   */
  artifactRevision(): number | undefined;
  /** The last time that the database could not be used, as far as this process has noticed. */
  lastOutage(): Outage | undefined;
}

/** What an adapter provides: hot statements that neither seal nor verify. */
export interface PlainSql extends DatabaseProperties {
  query: Statements['query'];
  /**
   * Runs them in one transaction; how many rows each has changed. `orNone`: when one changes no row, its count is the last, and
   * nothing is changed.
   */
  commit(writes: readonly Write[], options?: { orNone?: boolean }): Promise<number[]>;
  /** Runs them inside a transaction. Rows may hold a bigint for an integer, text for a time and 0 or 1 for a boolean. */
  in(tx: RawQueries): Statements;
}

/** Writes of hot statements, alone or together (unit-of-work.ts). */
export interface UnitOfWork extends Statements {
  /**
   * Writes at the end of the request at the latest. Not for a table of the directory, whose cache does not know what waits.
   * @param committed called after the commit
   */
  later(statement: Statement, values: SqlValue[], committed?: () => void): Promise<void>;
  /** Runs all of them in one transaction, or none when one would change no row. */
  allOrNone(writes: readonly Write[]): Promise<boolean>;
  /** Commits what waits in this request. `isLast`: what comes later is not in the answer, and is written at once. */
  commitWaiting(options?: { isLast?: boolean }): Promise<void>;
  /** Resolves when what waits now is committed, or has failed. */
  settled(): Promise<void>;
}

/** Statements that read protected rows. */
export interface ProtectedStatements extends Statements {
  /** The rows that this server wrote; raises an alarm for each other one. They have every column that their MAC covers, and `mac`. */
  genuine<Row>(table: ProtectedTable, statement: Statement, ...values: SqlValue[]): Promise<Row[]>;
}

/** What services get. Rows hold numbers for integers and a Date for a timestamp, except in a transaction (`in`). */
export interface Sql extends DatabaseProperties, UnitOfWork, ProtectedStatements {
  /** As `in` of PlainSql. */
  in(tx: RawQueries): ProtectedStatements;
  /** For rows that a statement writes, and for those that it joins. */
  macs: ProtectedRows;
}

/** Completes the statements with the operations with MACs; `macs` is called with the first protected row. */
export function protectedStatements(sql: PlainSql & UnitOfWork, macs: () => ProtectedRows): Sql {
  const genuineOf =
    (statements: () => Statements): ProtectedStatements['genuine'] =>
    async <Row>(table: ProtectedTable, statement: Statement, ...values: SqlValue[]) => {
      const rows = await statements().query<Covered<typeof table> & { mac: string }>(statement, ...values);
      return rows.filter((row) => macs().isGenuine(table, row, row.mac)) as Row[];
    };
  const all: Sql = {
    ...sql,
    genuine: genuineOf(() => all),
    in(tx) {
      const statements = sql.in(tx);
      return { ...statements, genuine: genuineOf(() => statements) };
    },
    get macs() {
      return macs();
    },
  };
  return all;
}
