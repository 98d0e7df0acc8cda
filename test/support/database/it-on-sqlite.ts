import { describe, it } from 'vitest';
import { isLongRun } from '../long-run.ts';
import { databaseKind } from './database.ts';

const isPostgres = databaseKind() === 'postgresql';

/** A test of a file that runs on both databases (postgresql-files.ts), about what they do not differ in: it runs on SQLite alone. */
export const itOnSqlite = it.skipIf(isPostgres);

/** The same for several tests. */
export const describeOnSqlite = describe.skipIf(isPostgres);

/** A test whose statements and locks other tests of its file execute on PostgreSQL too: it runs there in a long run alone. */
export const itOnBothInLongRun = it.skipIf(isPostgres && !isLongRun);
