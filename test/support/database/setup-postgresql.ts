// Before the `postgresql` project: a throw-away server with one migrated database, which every test file copies.
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../../src/storage/database.ts';
import { startPostgres } from './postgres-start.ts';
import { prepare } from './prepare.ts';
import { temporaryFolder } from './temporary-folder.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const { folder, remove } = temporaryFolder();
  const template = 'gatehouse_template';
  const admin = await openDatabase(server.url);
  await admin.db.$executeRawUnsafe(`CREATE DATABASE ${template}`);
  await admin.close();
  const url = new URL(server.url);
  url.pathname = `/${template}`;
  const signingKeys = await prepare(url.href);
  project.provide('testDatabase', { kind: 'postgresql', folder, template, signingKeys, postgresUrl: server.url });
  return async () => {
    remove();
    await server.stop();
  };
}
