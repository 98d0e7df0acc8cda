// The checks of `gatehouse verify`, on a SQLite file in the temporary folder: a copy of the backup, or what an export holds.
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../base/config.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { plural } from '../../base/platform/plural.ts';
import { createVault, VaultError } from '../../base/platform/vault.ts';
import type { BackupHead, Progress } from '../../base/storage/backup/head.ts';
import { readManifest } from '../../base/storage/backup/manifest.ts';
import { kindOfBackup } from '../../base/storage/backup/read-backup.ts';
import { loadIntoFile } from '../../base/storage/backup/restore.ts';
import { assertIntact, copyFile, inspectSqlite } from '../../base/storage/backup/sqlite-copy.ts';
import { countRows } from '../../base/storage/backup/tables.ts';
import { type Database, openDatabase } from '../../base/storage/database.ts';
import { DatabaseError } from '../../base/storage/database-url.ts';
import { migrate, pendingMigrations } from '../../base/storage/migrations/migrate.ts';
import { createProtectedRows } from '../../base/storage/protected-rows.ts';
import { checkChain } from '../../core/audit/chain/check.ts';
import { decryptDataKeys } from '../../core/keys/data-keys.ts';
import { rowFindings } from '../doctor/check-rows.ts';
import { type Finding, failure, ok, warning } from '../doctor/findings.ts';
import { formatDate } from '../io.ts';

export interface VerifyOptions {
  file: string;
  config: Config;
  now: Clock;
  onProgress(progress: Progress): void;
}

export interface BackupResult {
  file: string;
  ok: boolean;
  kind: BackupHead['kind'];
  /** When the backup began, ISO 8601; null for a copy of a SQLite file without FILE.json. */
  at: string | null;
  version: string | null;
  rows: Record<string, number>;
  findings: Finding[];
}

/** Throws DatabaseError for a file that is no backup of Gatehouse, and when the temporary folder has too little space to check it. */
export async function verifyBackup(options: VerifyOptions): Promise<BackupResult> {
  const { file } = options;
  const result: BackupResult = {
    file,
    ok: true,
    kind: kindOfBackup(file),
    at: null,
    version: null,
    rows: {},
    findings: [],
  };
  // Before the checks: a full disk here says nothing about the backup.
  assertSpace(file, tmpdir());
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-verify-'));
  try {
    await check(options, path.join(folder, 'copy.db'), result);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    result.findings.push(failure('content', error.message, "Don't rely on this backup. Create another one."));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  result.ok = result.findings.every(({ status }) => status !== 'failure');
  return result;
}

async function check(options: VerifyOptions, copy: string, result: BackupResult): Promise<void> {
  const { findings } = result;
  const { head, expected } = await (result.kind === 'sqlite' ? copyOf(options, copy, findings) : load(options, copy));
  Object.assign(result, { at: head?.at ?? null, version: head?.version ?? null });
  findings.unshift(head ? describe(head, options.now()) : warning('backup', 'a copy of a SQLite file', UNDESCRIBED));
  result.rows = await inspectSqlite(copy, (query) => {
    assertIntact(query);
    return countRows(query, 'sqlite');
  });
  findings.push(ok('content', 'complete and intact'), countFinding(result.rows, expected));
  const pending = await pendingMigrations(`file:${copy}`);
  findings.push(
    pending.length === 0
      ? ok('schema', 'that of this version')
      : ok('schema', `of an older version; the next start applies ${plural(pending.length, 'migration')}`),
  );
  await migrate(`file:${copy}`);
  const database = await openDatabase(`file:${copy}`);
  try {
    findings.push(...(await contentFindings(options, database)));
  } finally {
    await database.close();
  }
}

const UNDESCRIBED = 'Without FILE.json beside it, neither its age nor its digest is known.';

/** A copy with its digest compared. */
async function copyOf({ file, onProgress }: VerifyOptions, copy: string, findings: Finding[]) {
  const head = readManifest(file);
  const total = statSync(file).size;
  const { sha256 } = await copyFile(file, copy, (done) => onProgress({ done, total }));
  if (head && head.sha256 !== sha256)
    throw new DatabaseError(`${file} was changed or damaged: its digest differs from that in ${file}.json`);
  if (head) findings.push(ok('digest', `SHA-256 ${sha256}`));
  return { head, expected: head?.rows };
}

async function load({ file, onProgress }: VerifyOptions, copy: string) {
  const { head, rows } = await loadIntoFile(file, copy, onProgress);
  return { head, expected: rows };
}

function describe({ at, version, kind }: BackupHead, now: Date): Finding {
  const hours = Math.floor((now.getTime() - new Date(at).getTime()) / 3_600_000);
  const age = hours < 48 ? plural(hours, 'hour') : plural(Math.floor(hours / 24), 'day');
  const what = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  return ok('backup', `${what}, made ${formatDate(new Date(at))} UTC by Gatehouse ${version}, ${age} old`);
}

function countFinding(rows: Record<string, number>, expected: Record<string, number> | undefined): Finding {
  const differing = Object.entries(expected ?? {}).filter(([table, count]) => rows[table] !== count);
  if (differing.length > 0) {
    const names = differing.map(
      ([table, count]) => `${table} has ${plural(rows[table] ?? 0, 'row')} instead of ${count}`,
    );
    return failure('counts', names.join(', '), "Don't rely on this backup. Create another one.");
  }
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return ok(
    'counts',
    `${plural(rows.users ?? 0, 'user')}, ${plural(total, 'row')} in ${plural(Object.keys(rows).length, 'table')}`,
  );
}

/** What needs the secret: data keys, MACs and the audit log. */
async function contentFindings({ config }: VerifyOptions, database: Database): Promise<Finding[]> {
  const { secrets, secretFile } = config;
  if (secrets.length === 0) {
    const advice = 'Set GATEHOUSE_SECRET or DATA_DIR to verify MACs and the audit log too.';
    return [warning('secret', `${secretFile} is not here, so MACs and the audit log are not verified`, advice)];
  }
  const stored = await database.db.dataKey.findMany({ orderBy: { generation: 'desc' } });
  try {
    const keys = decryptDataKeys(stored, createVault(secrets));
    const vault = createVault(secrets, keys.mac);
    database.protect(createProtectedRows({ vault, alarm: { raise: async () => {} } }));
    const forged = await rowFindings({ database });
    const publicKey = createPublicKey(keys.checkpoint.privateKey);
    const chain = await checkChain({ db: database.db, vault, publicKey, outside: { valid: [], invalid: [] } });
    return [
      ok('secret', 'opens the keys of this backup'),
      ...(forged.length > 0 ? forged : [ok('rows', 'each protected row has its MAC')]),
      ...(chain.ok
        ? [
            ok(
              'audit log',
              `intact, with ${plural(chain.entries, 'entry', 'entries')}; ${plural(chain.unsealed, 'entry', 'entries')} not in the chain yet`,
            ),
          ]
        : chain.faults.map(({ message }) => failure('audit log', message, 'Compare with an older backup.'))),
    ];
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return [failure('secret', `it does not open the keys of this backup: ${error.message}`, OTHER_SECRET)];
  }
}

const OTHER_SECRET =
  "Set GATEHOUSE_SECRET to the value of the server that created the backup. Without it, you can't use the backup.";

// An export grows to some times its size: it is compressed.
function assertSpace(file: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = statSync(file).size * (kindOfBackup(file) === 'sqlite' ? 2 : 10);
  if (bavail * bsize < needed)
    throw new DatabaseError(
      `${folder} has too little space for a copy: set TMPDIR to a folder with ${plural(needed, 'byte')} free`,
    );
}
