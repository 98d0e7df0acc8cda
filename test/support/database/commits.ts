// Counts the transactions that write, as the database itself does.
import { readFileSync } from 'node:fs';
import type { Db } from '../../../src/base/storage/database.ts';
import { sqliteFileOf } from '../../../src/base/storage/database-url.ts';
import type { TestIdp } from '../idp.ts';

/** Returns a function that says how many transactions have written to the database of this server since it was called last. */
export async function countCommits({ services: { db }, environment }: TestIdp): Promise<() => Promise<number>> {
  const file = sqliteFileOf(environment.DATABASE_URL ?? '');
  const count = file === undefined ? await countWithTriggers(db) : async () => commitsInLog(`${file}-wal`);
  let last = await count();
  return async () => {
    const before = last;
    last = await count();
    return last - before;
  };
}

/** PostgreSQL: each row that is written notes its transaction. */
async function countWithTriggers(db: Db): Promise<() => Promise<number>> {
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`;
  await db.$executeRaw`CREATE TABLE written (id xid8 PRIMARY KEY)`;
  await db.$executeRaw`CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO written VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING; RETURN NULL; END $$`;
  for (const { name } of tables)
    await db.$executeRawUnsafe(`CREATE TRIGGER note_written AFTER INSERT OR UPDATE OR DELETE ON "${name}"
      FOR EACH ROW EXECUTE FUNCTION note_written()`);
  return async () => {
    const [row] = await db.$queryRaw<{ count: bigint }[]>`SELECT count(*) AS count FROM written`;
    return Number(row?.count);
  };
}

/** SQLite: the frames of the write-ahead log that end a transaction (https://www.sqlite.org/fileformat2.html#walformat). */
function commitsInLog(file: string): number {
  const wal = readFileSync(file);
  const pageSize = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at + 24 <= wal.length; at += 24 + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}
