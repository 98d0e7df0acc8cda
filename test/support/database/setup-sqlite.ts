// Before the `sqlite` project: the database files that tests copy.
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { prepare } from './prepare.ts';
import { temporaryFolder } from './temporary-folder.ts';

export async function setup(project: TestProject): Promise<() => void> {
  const { folder, remove } = temporaryFolder();
  const template = path.join(folder, 'template.db');
  const installed = path.join(folder, 'installed.db');
  const prepared = await prepare(`file:${template}`, `file:${installed}`);
  project.provide('testDatabase', { kind: 'sqlite', folder, template, installed, ...prepared });
  return remove;
}
