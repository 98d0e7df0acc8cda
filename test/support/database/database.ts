// A fresh, migrated database for a test file: a copied file on SQLite, a copied database on PostgreSQL.
import { copyFileSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import type { Prisma } from '../../../src/generated/sqlite/client.ts';
import { randomToken } from '../../../src/platform/random.ts';
import { type Database, openDatabase } from '../../../src/storage/database.ts';
import { postgresUrl } from './postgres.ts';

export interface TestDatabase {
  /** What DATABASE_URL would hold: a second instance opens it too. */
  url: string;
  database: Database;
  close(): Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    testDatabase: {
      kind: Database['kind'];
      /** Removed when the run ends. */
      folder: string;
      /** The migrated database: a file name, or the name of a database. */
      template: string;
      /** JSON of the signing keys made for this run. */
      signingKeys: string;
      postgresUrl?: string;
    };
  }
}

/** The database that this run tests with. */
export const databaseKind = (): Database['kind'] => inject('testDatabase').kind;

export interface TestDatabaseOptions {
  /** With the signing keys of a first start at this time, sealed under testSecret: saves seconds of making them. */
  keysFrom?: Date;
}

/** Opens a database that no other test uses, with every table and no row. */
export async function testDatabase({ keysFrom }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const url = databaseKind() === 'sqlite' ? copyFile() : await copyDatabase();
  const database = await openDatabase(url);
  if (keysFrom) await database.db.signingKey.createMany({ data: signingKeys(keysFrom) });
  return { url, database, close: () => database.close() };
}

/** An empty folder for the files of a test, removed when the run ends. */
export function testFolder(): string {
  return mkdtempSync(path.join(inject('testDatabase').folder, 'files-'));
}

function signingKeys(from: Date): Prisma.SigningKeyCreateManyInput[] {
  const rows: Prisma.SigningKeyCreateManyInput[] = JSON.parse(inject('testDatabase').signingKeys);
  return rows.map((row) => ({ ...row, createdAt: from, activatedAt: row.activatedAt ? from : null }));
}

function copyFile(): string {
  const file = path.join(testFolder(), 'gatehouse.db');
  copyFileSync(inject('testDatabase').template, file);
  return `file:${file}`;
}

async function copyDatabase(): Promise<string> {
  const name = `test_${randomToken(9).toLowerCase().replaceAll('-', '_')}`;
  const admin = await openDatabase(postgresUrl());
  try {
    await admin.db.$executeRawUnsafe(`CREATE DATABASE "${name}" TEMPLATE "${inject('testDatabase').template}"`);
  } finally {
    await admin.close();
  }
  const url = new URL(postgresUrl());
  url.pathname = `/${name}`;
  return url.href;
}
