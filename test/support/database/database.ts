// A fresh, migrated database for a test file: a copied file on SQLite, a copied database on PostgreSQL.
import { copyFileSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { randomToken } from '../../../src/base/platform/random.ts';
import { type Database, openDatabase } from '../../../src/base/storage/database.ts';
import type { FirstAdmin } from '../../../src/config-file/first-admin.ts';
import type { Prisma } from '../../../src/generated/sqlite/client.ts';
import { patientDatabase } from '../waits.ts';
import { postgresUrl } from './postgres.ts';
import type { Prepared } from './prepare.ts';

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
      /** The same after the first start of a server, with the setting admin_mfa of startIdp(). */
      installed: string;
      postgresUrl?: string;
    } & Prepared;
  }
}

let openMaintenance: Promise<Database> | undefined;

/** The database that this run tests with. */
export const databaseKind = (): Database['kind'] => inject('testDatabase').kind;

export interface TestDatabaseOptions {
  /** With the signing keys of a first start at this time, sealed under testSecret: saves seconds of making them. */
  keysFrom?: Date;
}

/** Opens a database that no other test uses, with every table and no row. */
export async function testDatabase({ keysFrom }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const url = await copyOf(inject('testDatabase').template);
  const database = await openDatabase(url, { limits: patientDatabase });
  if (keysFrom) await database.db.signingKey.createMany({ data: signingKeys(keysFrom) });
  return { url, database, close: () => database.close() };
}

/**
 * The URL of a database that no other test uses, as after the first start of a server under testSecret: a start on it takes a
 * third of the time.
 */
export async function installedDatabase(): Promise<{ url: string; firstAdmin: FirstAdmin }> {
  const { installed, firstAdmin } = inject('testDatabase');
  return { url: await copyOf(installed), firstAdmin };
}

/** An empty folder for the files of a test, removed when the run ends. */
export function testFolder(): string {
  return mkdtempSync(path.join(inject('testDatabase').folder, 'files-'));
}

function signingKeys(from: Date): Prisma.SigningKeyCreateManyInput[] {
  const rows: Prisma.SigningKeyCreateManyInput[] = JSON.parse(inject('testDatabase').signingKeys);
  return rows.map((row) => ({ ...row, createdAt: from, activatedAt: row.activatedAt ? from : null }));
}

function copyOf(template: string): Promise<string> | string {
  return databaseKind() === 'sqlite' ? copyFile(template) : copyDatabase(template);
}

function copyFile(template: string): string {
  const file = path.join(testFolder(), 'gatehouse.db');
  copyFileSync(template, file);
  return `file:${file}`;
}

/** The connection of this process that creates databases, for hundreds of them; it ends with the process. */
function maintenance(): Promise<Database> {
  openMaintenance ??= openDatabase(postgresUrl());
  return openMaintenance;
}

async function copyDatabase(template: string): Promise<string> {
  const name = `test_${randomToken(9).toLowerCase().replaceAll('-', '_')}`;
  const { db } = await maintenance();
  // Copying its 500 files takes half the time of writing their pages to the log. Nothing here has to survive a crash.
  await db.$executeRawUnsafe(`CREATE DATABASE "${name}" TEMPLATE "${template}" STRATEGY FILE_COPY`);
  const url = new URL(postgresUrl());
  url.pathname = `/${name}`;
  return url.href;
}
