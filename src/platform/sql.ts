// SQL for the hot path, beside Prisma and on its connections: a statement costs about 10 µs instead of 50 to 150.
// Statements are written once, with `?`; PostgreSQL wants them numbered.

export type SqlValue = string | number | bigint | boolean | Date | Uint8Array | null;

/** Plain statements outside any transaction. Rows hold numbers for integers and a Date for a timestamp. */
export interface Sql {
  /** The rows of a SELECT, or of a statement with RETURNING. */
  query<Row>(statement: string, ...values: SqlValue[]): Promise<Row[]>;
  /** How many rows an INSERT, UPDATE or DELETE changed. */
  execute(statement: string, ...values: SqlValue[]): Promise<number>;
  /** Changes with every change of people, roles and applications; undefined where the database can't say (kept.ts). */
  revision(): number | undefined;
}

/** The statements as the given database wants their parameters. No statement may hold a `?` of its own. */
export function sqlFor<T extends Record<string, string>>(kind: 'sqlite' | 'postgresql', statements: T): T {
  if (kind === 'sqlite') return statements;
  const numbered = Object.entries(statements).map(([name, text]) => {
    let position = 0;
    return [name, text.replaceAll('?', () => `$${++position}`)];
  });
  return Object.fromEntries(numbered) as T;
}
