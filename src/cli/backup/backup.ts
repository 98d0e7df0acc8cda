// `gatehouse backup FILE`: a consistent copy of the database while servers go on writing to it.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../../base/config.ts';
import { systemClock } from '../../base/platform/clock.ts';
import { newHead, type Progress } from '../../base/storage/backup/head.ts';
import { type DatabaseLocation, parseDatabaseUrl } from '../../base/storage/database-url.ts';
import { pendingMigrations } from '../../base/storage/migrations/migrate.ts';
import type { Command } from '../command.ts';
import { requireDatabase, withServices } from '../context.ts';
import type { Io } from '../io.ts';
import { progressPrinter } from './progress.ts';

export const backupCommand: Command = {
  name: 'backup',
  args: ['FILE'],
  summary: 'copy the database to a new file while the server runs',
  details: `The backup is a consistent snapshot, and is checked before it gets its name. SQLite: a copy of the file, with its digest in
FILE.json beside it. PostgreSQL: an export that "gatehouse restore" reads; pg_dump is not needed.
It contains only the database. Keep the secret (GATEHOUSE_SECRET, or secret.key) and the configuration file in another safe
place: without the secret, the keys in the backup can't be read.
"gatehouse verify FILE" checks a backup, "gatehouse restore FILE" restores it.`,
  async run(input, io) {
    const config = loadConfig(undefined, { readOnly: true });
    requireDatabase(config);
    const file = path.resolve(input.words[0] ?? '');
    const taken = [file, `${file}.json`].find((name) => existsSync(name));
    if (taken !== undefined && !(await isLeftOver(file))) {
      io.err(`${taken} already exists: choose another name, or remove it first.`);
      return 1;
    }
    const pending = await pendingMigrations(config.databaseUrl); // rejects a database of a newer version
    const draft = `${file}.part`;
    try {
      rmSync(draft, { force: true });
      await copy(parseDatabaseUrl(config.databaseUrl), draft, file, io);
    } catch (error) {
      io.err(`The backup failed: ${error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)}`);
      return 1;
    } finally {
      for (const left of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(left, { force: true });
    }
    const { size } = statSync(file);
    await record({ file, bytes: size }, pending.length === 0, io);
    io.out(`${file}: ${(size / 1024 / 1024).toFixed(1)} MB`);
    if (config.secretFile) io.note(`Also keep a copy of ${config.secretFile}, in a different place than the backup.`);
    return 0;
  },
};

/** Whether only FILE.json is there, of a backup that was removed. */
async function isLeftOver(file: string): Promise<boolean> {
  const { readManifest } = await import('../../base/storage/backup/manifest.ts');
  try {
    return !existsSync(file) && readManifest(file) !== undefined;
  } catch {
    return false;
  }
}

async function copy(location: DatabaseLocation, draft: string, file: string, io: Io): Promise<void> {
  const onProgress = progressPrinter(io);
  io.note('Copying the database…');
  if (location.kind === 'postgresql') return exportAndCheck(location, draft, file, io, onProgress);
  const [
    { assertIntact, copySqlite, digestOf, inspectSqlite, recordedMigrations, syncFile },
    { countRows },
    { writeManifest },
  ] = await Promise.all([
    import('../../base/storage/backup/sqlite-copy.ts'),
    import('../../base/storage/backup/tables.ts'),
    import('../../base/storage/backup/manifest.ts'),
  ]);
  const at = systemClock();
  await copySqlite(location.file, draft, onProgress);
  io.note('Checking the copy…');
  const { rows, migrations } = await inspectSqlite(draft, async (query) => {
    assertIntact(query);
    return { rows: await countRows(query, 'sqlite'), migrations: recordedMigrations(query).map(({ name }) => name) };
  });
  const sha256 = await digestOf(draft);
  const { size: bytes } = statSync(draft);
  // First, so that there is never a backup without it.
  writeManifest(file, { ...newHead('sqlite', at, migrations), bytes, sha256, rows });
  renameSync(draft, file);
  syncFile(path.dirname(file));
}

async function exportAndCheck(
  location: Extract<DatabaseLocation, { kind: 'postgresql' }>,
  draft: string,
  file: string,
  io: Io,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const [{ exportPostgres }, { checkBackup }, { syncFile }] = await Promise.all([
    import('../../base/storage/backup/export.ts'),
    import('../../base/storage/backup/read-backup.ts'),
    import('../../base/storage/backup/sqlite-copy.ts'),
  ]);
  await exportPostgres(location, draft, { now: systemClock(), onProgress });
  io.note('Checking the copy…');
  await checkBackup(draft);
  renameSync(draft, file);
  syncFile(path.dirname(file));
}

/** Records the backup in the audit log, unless that would migrate the database: a backup comes before an upgrade. */
async function record(data: { file: string; bytes: number }, isMigrated: boolean, io: Io): Promise<void> {
  if (isMigrated)
    await withServices(io, ({ audit }) => audit.record({ type: 'backup.created', outcome: 'success', data }));
  else
    io.note('The database is of an older version and was not migrated, so the audit log does not record this backup.');
}
