// `gatehouse backup FILE`: a consistent copy of the database while servers go on writing to it. `verify FILE` checks one without restoring
// it; `restore FILE` puts one in the place of the database, while no server runs on it.

import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Config, loadConfig } from '../../base/config.ts';
import { systemClock } from '../../base/platform/clock.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { plural } from '../../base/platform/plural.ts';
import { createVault, VaultError } from '../../base/platform/vault.ts';
import { newHead, type Progress } from '../../base/storage/backup/head.ts';
import { type Restored, restoreBackup, type StoredDataKey } from '../../base/storage/backup/restore.ts';
import { DatabaseError, type DatabaseLocation, parseDatabaseUrl } from '../../base/storage/database-url.ts';
import { pendingMigrations } from '../../base/storage/migrations/migrate.ts';
import type { ChainResult } from '../../core/audit/chain/check.ts';
import { decryptDataKeys } from '../../core/keys/data-keys.ts';
import { startError } from '../../server/writable.ts';
import { acceptRestore, chainWords } from '../audit.ts';
import { type Commands, fail, jsonOption, type Result } from '../command.ts';
import { requireDatabase, withServices } from '../context.ts';
import { findingLines } from '../doctor/findings.ts';
import { formatDate, type Io } from '../io.ts';

export const backupCommands: Commands = {
  backup: {
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
      if (taken !== undefined && !(await isLeftOver(file)))
        fail(`${taken} already exists: choose another name, or remove it first.`);
      const pending = await pendingMigrations(config.databaseUrl); // rejects a database of a newer version
      const draft = `${file}.part`;
      try {
        rmSync(draft, { force: true });
        await copy(parseDatabaseUrl(config.databaseUrl), draft, file, io);
      } catch (error) {
        fail(`The backup failed: ${error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)}`);
      } finally {
        for (const left of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(left, { force: true });
      }
      const { size } = statSync(file);
      await record({ file, bytes: size }, pending.length === 0, io);
      io.out(`${file}: ${(size / 1024 / 1024).toFixed(1)} MB`);
      if (config.secretFile) io.err(`Also keep a copy of ${config.secretFile}, in a different place than the backup.`);
      return 0;
    },
  },

  verify: {
    args: ['FILE'],
    summary: 'check that a backup is complete and intact, and that the secret opens it',
    details: `It works on a copy in the temporary folder (TMPDIR), and changes neither the backup nor the database. With the server's
secret, it also verifies the MAC of each row and the audit log. The exit code is 1 if a check failed.`,
    options: jsonOption,
    async run(input, io) {
      const config = loadConfig(undefined, { readOnly: true });
      const { verifyBackup } = await import('./verify-checks.ts');
      const file = path.resolve(input.words[0] ?? '');
      io.err('Reading the backup…');
      const result = await verifyBackup({ file, config, now: systemClock, onProgress: progressPrinter(io) });
      return { json: result, text: findingLines(result.findings), code: result.ok ? 0 : 1 };
    },
  },

  restore: {
    args: ['FILE'],
    summary: 'restore a backup while no server runs',
    details: `The database is that of the configuration (DATABASE_URL, or $DATA_DIR/gatehouse.db), and must be empty or absent. Put the
secret of the server in place first: a backup that it does not open is not restored. Nothing is changed until the backup is
read and checked. Afterwards the checkpoint file of the audit log on this machine is set aside, as "gatehouse audit accept-restore"
does; run that on the other machines. A backup of SQLite can be restored into PostgreSQL, and the other way around.`,
    options: {
      replace: {
        type: 'boolean',
        help: 'replace a database with content; a SQLite file is renamed, tables of PostgreSQL are dropped',
      },
      ...jsonOption,
    },
    async run(input, io) {
      const config = loadConfig(undefined, { readOnly: true });
      if (config.secrets.length === 0)
        fail(
          `${config.secretFile} is missing: put the secret of the server there, or set GATEHOUSE_SECRET. Nothing was changed.`,
        );
      const file = path.resolve(input.words[0] ?? '');
      io.err('Restoring…');
      const restored = await restoreBackup(parseDatabaseUrl(config.databaseUrl), file, {
        replace: input.flag('replace'),
        now: systemClock(),
        checkDataKeys: (rows) => assertSecretOpens(rows, config),
        onProgress: progressPrinter(io),
      });
      const recorded = await recordRestore(file, restored, io).catch((error: unknown) => {
        throw unrecorded(error, { file, restored, config });
      });
      return resultOf(file, restored, recorded);
    },
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
  io.err('Copying the database…');
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
  io.err('Checking the copy…');
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
  io.err('Checking the copy…');
  await checkBackup(draft);
  renameSync(draft, file);
  syncFile(path.dirname(file));
}

/** Records the backup in the audit log, unless that would migrate the database: a backup comes before an upgrade. */
async function record(data: { file: string; bytes: number }, isMigrated: boolean, io: Io): Promise<void> {
  if (isMigrated)
    await withServices(io, ({ audit }) => audit.record({ type: 'backup.created', outcome: 'success', data }));
  else
    io.err('The database is of an older version and was not migrated, so the audit log does not record this backup.');
}

/** Throws DatabaseError when the secret of this machine is not the one of the backup. */
function assertSecretOpens(rows: StoredDataKey[], { secrets, secretFile = 'GATEHOUSE_SECRET' }: Config): void {
  if (rows.length === 0) return;
  try {
    decryptDataKeys(rows, createVault(secrets));
  } catch (cause) {
    if (!(cause instanceof VaultError)) throw cause;
    throw new DatabaseError(
      `the secret in ${secretFile} does not open this backup: put the secret of its server there. Nothing was changed`,
      { cause },
    );
  }
}

interface Recorded {
  /** The result on the audit log as the backup has it. */
  auditLog: ChainResult;
  /** Where the checkpoint file of this machine is now. */
  checkpointFile: string | undefined;
}

function recordRestore(file: string, { head }: Restored, io: Io): Promise<Recorded> {
  return withServices(io, async (services) => {
    io.err('Verifying the audit log…');
    const auditLog = await services.auditChain.verify({ checkpoints: '' });
    const checkpointFile = await acceptRestore(services);
    const data = { file, at: head?.at ?? null, audit_log: auditLog.ok ? 'intact' : auditLog.fault.kind };
    await services.audit.record({ type: 'backup.restored', outcome: 'success', data });
    return { auditLog, checkpointFile };
  });
}

/** The database is restored, but cannot be opened or written: most likely the backup itself has filled the disk. */
function unrecorded(
  error: unknown,
  { file, restored, config }: { file: string; restored: Restored; config: Config },
): DatabaseError {
  const cause = startError(config, error);
  const reason = messageOf(cause);
  const lines = [
    `${doneText(file, restored)} But this cannot be recorded in the audit log: ${reason}.`,
    ...formerText(restored),
    'Correct that. Then, before the server starts, run: gatehouse audit accept-restore',
  ];
  return new DatabaseError(lines.join('\n'), { cause });
}

function doneText(file: string, { head, rows }: Restored): string {
  const made = head ? `, made ${formatDate(new Date(head.at))}` : '';
  return `Restored ${file}${made}: ${plural(rows.users ?? 0, 'user')}.`;
}

function formerText({ replacedFile }: Restored): string[] {
  if (!replacedFile) return [];
  return [`The previous database is now ${replacedFile}. Delete it when you no longer need it.`];
}

function resultOf(file: string, restored: Restored, { auditLog, checkpointFile }: Recorded): Result {
  const { head, rows, replacedFile } = restored;
  const { text = [], errors = [] } = chainWords(auditLog);
  return {
    json: {
      file,
      at: head?.at ?? null,
      version: head?.version ?? null,
      rows,
      replaced_file: replacedFile ?? null,
      checkpoint_file: checkpointFile ?? null,
      audit_log: auditLog,
    },
    text: [
      doneText(file, restored),
      ...text,
      ...formerText(restored),
      ...(checkpointFile ? [`The previous checkpoint file of the audit log is now ${checkpointFile}.`] : []),
      'Start the server. If it runs on other machines too, first run there: gatehouse audit accept-restore',
    ],
    errors,
  };
}

// Prints how far a long copy is, at most every five seconds.

const EVERY_MILLISECONDS = 5000;

/** A callback that prints a line for a percentage, or for a number of rows where the total is not known. */
function progressPrinter(io: Io): (progress: Progress) => void {
  let last = performance.now();
  return ({ done, total }) => {
    if (performance.now() - last < EVERY_MILLISECONDS) return;
    last = performance.now();
    io.err(total > 0 ? `  ${Math.floor((done / total) * 100)} %` : `  ${plural(done, 'row')}`);
  };
}
