// Before the `sqlite` project: one migrated database file, which every test file copies.
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { prepare } from './prepare.ts';
import { temporaryFolder } from './temporary-folder.ts';

export async function setup(project: TestProject): Promise<() => void> {
  const { folder, remove } = temporaryFolder();
  const template = path.join(folder, 'template.db');
  const signingKeys = await prepare(`file:${template}`);
  project.provide('testDatabase', { kind: 'sqlite', folder, template, signingKeys });
  return remove;
}
