// A database without a single table, of the kind that this run tests with.
import path from 'node:path';
import { randomToken } from '../../src/base/platform/random.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { databaseKind, testFolder } from '../support/database/database.ts';
import { postgresUrl } from '../support/database/postgres.ts';

export async function emptyDatabaseUrl(): Promise<string> {
  if (databaseKind() === 'sqlite') return `file:${path.join(testFolder(), 'new', 'gatehouse.db')}`;
  const name = `empty_${randomToken(9).toLowerCase().replaceAll('-', '_')}`;
  const admin = await openDatabase(postgresUrl());
  await admin.db.$executeRawUnsafe(`CREATE DATABASE "${name}"`);
  await admin.close();
  const url = new URL(postgresUrl());
  url.pathname = `/${name}`;
  return url.href;
}
