// `gatehouse restore FILE`: puts a backup in the place of the database, while no server runs on it.
import path from 'node:path';
import { type Config, loadConfig } from '../../base/config.ts';
import { systemClock } from '../../base/platform/clock.ts';
import { plural } from '../../base/platform/plural.ts';
import { createVault, VaultError } from '../../base/platform/vault.ts';
import { BackupError } from '../../base/storage/backup/head.ts';
import { type Restored, restoreBackup, type StoredDataKey } from '../../base/storage/backup/restore.ts';
import { DatabaseError, parseDatabaseUrl } from '../../base/storage/database-url.ts';
import type { ChainResult } from '../../core/audit/chain/check.ts';
import { decryptDataKeys } from '../../core/keys/data-keys.ts';
import { startError } from '../../server/writable.ts';
import { acceptRestore, printChainResult } from '../audit.ts';
import { type Command, jsonOption } from '../command.ts';
import { withServices } from '../context.ts';
import { formatDate, type Io } from '../io.ts';
import { progressPrinter } from './progress.ts';

export const restoreCommand: Command = {
  name: 'restore',
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
    if (config.secrets.length === 0) {
      io.err(
        `${config.secretFile} is missing: put the secret of the server there, or set GATEHOUSE_SECRET. Nothing was changed.`,
      );
      return 1;
    }
    const file = path.resolve(input.words[0] ?? '');
    io.note('Restoring…');
    const restored = await restoreBackup(parseDatabaseUrl(config.databaseUrl), file, {
      replace: input.flag('replace'),
      now: systemClock(),
      checkDataKeys: (rows) => assertSecretOpens(rows, config),
      onProgress: progressPrinter(io),
    });
    const recorded = await recordRestore(file, restored, io).catch((error: unknown) => {
      throw unrecorded(error, { file, restored, config });
    });
    if (input.flag('json')) io.json(jsonOf(file, restored, recorded));
    else print(file, restored, recorded, io);
    return recorded.auditLog.ok ? 0 : 1;
  },
};

/** Throws BackupError when the secret of this machine is not the one of the backup. */
function assertSecretOpens(rows: StoredDataKey[], { secrets, secretFile = 'GATEHOUSE_SECRET' }: Config): void {
  if (rows.length === 0) return;
  try {
    decryptDataKeys(rows, createVault(secrets));
  } catch (cause) {
    if (!(cause instanceof VaultError)) throw cause;
    throw new BackupError(
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
    io.note('Verifying the audit log…');
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
  const reason = cause instanceof Error ? cause.message : String(cause);
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

function jsonOf(file: string, { head, rows, replacedFile }: Restored, { auditLog, checkpointFile }: Recorded) {
  return {
    file,
    at: head?.at ?? null,
    version: head?.version ?? null,
    rows,
    replaced_file: replacedFile ?? null,
    checkpoint_file: checkpointFile ?? null,
    audit_log: auditLog,
  };
}

function print(file: string, restored: Restored, { auditLog, checkpointFile }: Recorded, io: Io): void {
  io.out(doneText(file, restored));
  printChainResult(auditLog, io);
  for (const line of formerText(restored)) io.out(line);
  if (checkpointFile) io.out(`The previous checkpoint file of the audit log is now ${checkpointFile}.`);
  io.out('Start the server. If it runs on other machines too, first run there: gatehouse audit accept-restore');
}
