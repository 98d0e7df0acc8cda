// `gatehouse backup FILE`: a consistent copy of a SQLite database while servers go on writing to it.
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from './command.ts';
import { withServices } from './context.ts';
import type { Io } from './io.ts';

export const backupCommand: Command = {
  name: 'backup',
  args: ['FILE'],
  summary: 'copy the SQLite database into a new file, while the server runs',
  details: `The copy is one moment of the database, checked before it gets its name. Keep the secret (GATEHOUSE_SECRET, or secret.key)
elsewhere and as safely: without it the copy's keys and second factors cannot be read, and with both everything can.
To restore, stop the servers and put the file in the place of the database.`,
  run: (input, io) =>
    withServices(io, async ({ audit, config, db }) => {
      const file = path.resolve(input.words[0] ?? '');
      if (config.databaseKind === 'postgresql') return explainPostgres(config.databaseUrl, io);
      if (existsSync(file)) {
        io.err(`${file} is there already: give another name, or remove it first.`);
        return 1;
      }
      const draft = `${file}.part`;
      rmSync(draft, { force: true });
      try {
        // Created empty first, so that its mode is restrictive before it has content.
        closeSync(openSync(draft, 'wx', 0o600));
        io.err('Copying the database…');
        await db.$executeRawUnsafe('VACUUM INTO ?', draft);
        io.err('Checking the copy…');
        await check(draft);
        chmodSync(draft, 0o600);
        sync(draft);
        renameSync(draft, file);
      } catch (error) {
        io.err(
          `The backup failed: ${error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)}`,
        );
        return 1;
      } finally {
        for (const left of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(left, { force: true });
      }
      const { size } = statSync(file);
      await audit.record({ type: 'backup.created', outcome: 'success', data: { file, bytes: size } });
      io.out(`${file}: ${(size / 1024 / 1024).toFixed(1)} MB`);
      if (config.secretFile) io.err(`Keep a copy of ${config.secretFile} too, apart from it.`);
      return 0;
    }),
};

async function check(file: string): Promise<void> {
  const { openDatabase } = await import('../storage/database.ts');
  const copy = await openDatabase(`file:${file}`);
  try {
    const rows = await copy.db.$queryRawUnsafe<{ quick_check: string }[]>('PRAGMA quick_check');
    if (rows[0]?.quick_check !== 'ok') throw new Error(`the copy is damaged: ${rows[0]?.quick_check}`);
  } finally {
    await copy.close();
  }
}

function sync(file: string): void {
  const handle = openSync(file, 'r+');
  fsyncSync(handle);
  closeSync(handle);
}

function explainPostgres(url: string, io: Io): number {
  const { hostname, port, pathname, username } = new URL(url);
  const where = [`--host=${hostname}`, port ? `--port=${port}` : '', username ? `--username=${username}` : ''].filter(
    Boolean,
  );
  io.err('PostgreSQL makes its own backups, consistent while servers run. Nothing was copied. Run:');
  io.err(`  pg_dump --format=custom ${where.join(' ')} --file=gatehouse.dump ${pathname.slice(1)}`);
  io.err('and to restore into an empty database: pg_restore --dbname=NAME gatehouse.dump');
  return 1;
}
