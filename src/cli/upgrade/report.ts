// The report of `gatehouse upgrade check`.
import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../base/config/config-error.ts';
import { type Config, loadConfig } from '../../base/config.ts';
import { systemClock } from '../../base/platform/clock.ts';
import { packageVersion } from '../../base/platform/package.ts';
import { readBackupHead } from '../../base/storage/backup/read-backup.ts';
import { parseDatabaseUrl } from '../../base/storage/database-url.ts';
import {
  type DatabaseState,
  inspectDatabase,
  type TouchedTable,
  touchedTables,
} from '../../base/storage/upgrade/inspect.ts';
import { readValidFile } from '../../config-file/read-file.ts';
import { requireDatabase } from '../context.ts';

/** What a start writes, without any migration. */
const START_BYTES = 1024 * 1024;

export interface UpgradeReport {
  ok: boolean;
  /** Of this program. */
  version: string;
  database: { kind: Config['databaseKind']; where: string; bytes: number };
  /** `rows` before the upgrade; null of a table that is not there yet. */
  migrations: { name: string; tables: (TouchedTable & { rows: number | null })[] }[];
  /** In bytes. `free` is null where it is not known. */
  disk: { free: number | null; needed: number; ok: boolean };
  backup: { file: string; at: string; age_seconds: number } | null;
  /** What is wrong with the environment and the configuration file, a line each. */
  configuration: string[];
  /** The other programs on the database; null where it is not known. */
  servers: DatabaseState['servers'];
  /** What does not prevent the start, but the upgrade should wait for. */
  warnings: string[];
  /** Why it is not ok, and what to look at. */
  errors: string[];
}

/** The report when the environment is wrong, so that nothing else could be looked at. */
export type FaultyEnvironment = Pick<UpgradeReport, 'version' | 'configuration' | 'warnings' | 'errors'> & {
  ok: false;
  database: null;
};

export interface ReportOptions {
  /** A backup of which the age is reported. */
  backup?: string;
}

/** Throws ConfigError and DatabaseError where there is no database to report about. */
export async function reportOf(options: ReportOptions): Promise<UpgradeReport | FaultyEnvironment> {
  let config: Config;
  try {
    config = loadConfig(undefined, { readOnly: true });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = [...error.faults];
    return {
      ok: false,
      version: packageVersion(),
      database: null,
      configuration: faults,
      warnings: [],
      errors: faults,
    };
  }
  requireDatabase(config);
  return reportOn(config, options);
}

async function reportOn(config: Config, { backup }: ReportOptions): Promise<UpgradeReport> {
  const location = parseDatabaseUrl(config.databaseUrl);
  const state = await inspectDatabase(location);
  const { missing, tableRows } = state;
  const migrations = missing.map(({ name, sql }) => ({
    name,
    tables: touchedTables(sql, location.kind).map((touched) => ({
      ...touched,
      rows: tableRows[touched.table] ?? null,
    })),
  }));
  const folder = location.kind === 'sqlite' ? path.dirname(location.file) : undefined;
  const disk = diskOf(folder, state, migrations);
  const configuration = await configurationFaults(config);
  const errors = [...(disk.ok ? [] : ['the disk has too little space']), ...configuration];
  const lastBackup = ageOf(backup === undefined ? state.backup : await backupFile(backup));
  return {
    ok: errors.length === 0,
    version: packageVersion(),
    database: {
      kind: location.kind,
      where: location.kind === 'sqlite' ? location.file : location.host,
      bytes: state.bytes,
    },
    migrations,
    disk,
    configuration,
    errors,
    backup: lastBackup,
    warnings: lastBackup ? [] : [`no backup is recorded: ${CREATE_BACKUP}`],
    servers: state.servers,
  };
}

export const CREATE_BACKUP = 'create one with gatehouse backup FILE';

// A migration writes the rewritten tables again, and on SQLite to the WAL as well.
function diskOf(
  folder: string | undefined,
  { bytes, tableBytes }: DatabaseState,
  migrations: UpgradeReport['migrations'],
): UpgradeReport['disk'] {
  if (folder === undefined) {
    const rewritten = new Set(
      migrations.flatMap(({ tables }) =>
        tables.filter(({ change }) => change === 'rewritten').map(({ table }) => table),
      ),
    );
    const needed = [...rewritten].reduce((sum, table) => sum + (tableBytes[table] ?? 0), 0);
    return { free: null, needed, ok: true };
  }
  const { bavail, bsize } = statfsSync(folder);
  const needed = Math.max(START_BYTES, migrations.length === 0 ? 0 : 2 * bytes);
  return { free: bavail * bsize, needed, ok: bavail * bsize >= needed };
}

/** One line for each unknown key or wrong value. loadConfig() has checked the environment. */
async function configurationFaults({ configFile }: Config): Promise<string[]> {
  if (configFile === undefined) return [];
  try {
    await readValidFile(configFile);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...error.faults];
  }
}

async function backupFile(file: string): Promise<{ file: string; at: Date }> {
  const head = await readBackupHead(file);
  return { file: path.resolve(file), at: head ? new Date(head.at) : statSync(file).mtime };
}

function ageOf(backup: { file: string; at: Date } | undefined): UpgradeReport['backup'] {
  if (!backup) return null;
  const seconds = Math.floor((systemClock().getTime() - backup.at.getTime()) / 1000);
  return { file: backup.file, at: backup.at.toISOString(), age_seconds: seconds };
}
