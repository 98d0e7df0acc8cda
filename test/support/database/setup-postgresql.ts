// Before the `postgresql` project: a throw-away server with the databases that tests copy.
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../../src/base/storage/database.ts';
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
  const installed = 'gatehouse_installed';
  const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  const prepared = await prepare(urlOf(template), urlOf(installed));
  project.provide('testDatabase', {
    kind: 'postgresql',
    folder,
    template,
    installed,
    postgresUrl: server.url,
    ...prepared,
  });
  return async () => {
    remove();
    await server.stop();
  };
}
