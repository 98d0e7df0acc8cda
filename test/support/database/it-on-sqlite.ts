import { it } from 'vitest';
import { databaseKind } from './database.ts';

/** A test of a file that runs on both databases (postgresql-files.ts), about what they do not differ in: it runs on SQLite alone. */
export const itOnSqlite = it.skipIf(databaseKind() === 'postgresql');
