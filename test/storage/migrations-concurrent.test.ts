import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { readMigrations } from '../../src/base/storage/migrations/files.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { databaseKind } from '../support/database/database.ts';
import { emptyDatabaseUrl } from './empty-database.ts';

const all = () => readMigrations(databaseKind()).map(({ name }) => name);
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(command: 'migrate' | 'hold', url: string): ChildProcess {
  const script = path.join(import.meta.dirname, 'migrate-process.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script, command, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

async function finished(child: ChildProcess): Promise<unknown> {
  let output = '';
  child.stdout?.on('data', (text) => (output += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return code === 0 ? JSON.parse(output) : `exit code ${code}`;
}

describe('several instances that start on one empty database', () => {
  it('let one process migrate while the others wait', async () => {
    const url = await emptyDatabaseUrl();
    const results = await Promise.all([1, 2, 3].map(() => finished(start('migrate', url))));
    expect(results.sort()).toEqual([[], [], all()].sort());
  });

  it('do the same within one process', async () => {
    const url = await emptyDatabaseUrl();
    const results = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(results.flat()).toEqual(all());
  });

  it('continue with an unchanged database when the migrating one is killed', async () => {
    const url = await emptyDatabaseUrl();
    const holder = start('hold', url);
    const said = await new Promise((resolve) => {
      holder.stdout?.once('data', (text) => resolve(String(text)));
      holder.once('close', (code) => resolve(`exit code ${code}`));
    });
    expect(said).toBe('holding');
    const waiting = migrate(url);
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, 'still waiting'))]);
    expect(early).toBe('still waiting');
    holder.kill('SIGKILL');
    expect(await waiting).toEqual(all());
    const { db, close } = await openDatabase(url);
    await expect(db.$queryRawUnsafe('SELECT * FROM half_done')).rejects.toThrow(/half_done/);
    expect(await db.user.count()).toBe(0);
    await close();
  });
});
