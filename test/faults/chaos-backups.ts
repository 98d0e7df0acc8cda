// Backups that chaos.ts makes while everything else goes on, and the restore of the last one.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openDatabase } from '../../src/base/storage/database.ts';
import { programArguments } from '../support/program.ts';

export interface Backups {
  /** Makes and verifies one; these users have to be in it. */
  make(users: string[]): Promise<void>;
  /** Restores the last one into an empty SQLite file, and says what came of it. */
  restored(): Promise<string>;
}

export interface BackupsDependencies {
  folder: string;
  environmentOf(more?: Record<string, string>): Record<string, string>;
  found(what: string): void;
}

export function createBackups({ folder, environmentOf, found }: BackupsDependencies): Backups {
  let count = 0;
  let last: { file: string; users: string[] } | undefined;
  return {
    async make(users) {
      count += 1;
      const file = path.join(folder, `backup-${count}`);
      for (const command of ['backup', 'verify']) {
        const { status, text } = await runCommand([command, file], environmentOf());
        if (status !== 0) return found(`gatehouse ${command}: ${status} ${text.slice(0, 800)}`);
      }
      last = { file, users };
    },
    async restored() {
      if (!last) return 'none';
      const { file, users } = last;
      const home = path.join(folder, 'restored');
      mkdirSync(home);
      const url = `file:${path.join(home, 'gatehouse.db')}`;
      const { status, text } = await runCommand(
        ['restore', file],
        environmentOf({ DATA_DIR: home, DATABASE_URL: url }),
      );
      if (status !== 0) {
        found(`gatehouse restore: ${status} ${text.slice(0, 800)}`);
        return 'the restore failed';
      }
      const { db, close } = await openDatabase(url);
      const there = new Set((await db.asStored.user.findMany({ select: { id: true } })).map(({ id }) => id));
      await close();
      const lost = users.filter((id) => !there.has(id));
      if (lost.length > 0) found(`${lost.length} users are not in the backup`);
      return `${count} made and verified; the last one restored with ${there.size} users, ${lost.length} of ${users.length} lost`;
    },
  };
}

/** Runs a command of Gatehouse. */
export function runCommand(
  command: string[],
  env: Record<string, string>,
): Promise<{ status: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...programArguments('cli'), ...command], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    child.once('close', (status) => resolve({ status, text }));
  });
}
