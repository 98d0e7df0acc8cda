// Brings the database to the schema of this version at each start, in one transaction under a lock. When several instances
// start at once, one migrates and the others wait. A failed or killed migration leaves the database unchanged.
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../limits.ts';
import { unreachable } from '../database.ts';
import { DatabaseError, type DatabaseKind, type DatabaseLocation, parseDatabaseUrl } from '../database-url.ts';
import type { DatabaseLimits } from '../open-options.ts';
import { type MigrationFile, readMigrations } from './files.ts';
import { newerMessage, versionNote } from './newer.ts';
import { type LockedSession, type MigrationSession, openMigrationSession } from './session.ts';

const LOCK_WAIT_SECONDS = 60;
const LOCK_RETRY_MILLISECONDS = 50;

export type MigrationFault = 'edited' | 'newer' | 'unfinished' | 'foreign' | 'failed' | 'locked';

/** The database cannot be brought to this version; nothing was changed. */
export class MigrationError extends DatabaseError {
  override name = 'MigrationError';
  readonly fault: MigrationFault;

  constructor(fault: MigrationFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Applies the migrations that the database lacks and returns their names. Another `folder` and `quickLimits` are for tests. */
export async function migrate(
  url: string,
  folder?: string,
  quickLimits: DatabaseLimits = limits.database,
): Promise<string[]> {
  const location = parseDatabaseUrl(url);
  const { kind } = location;
  const migrations = readMigrations(kind, folder);
  // Of most starts this is all: within the limits of a request, because a database that goes silent now must not hold up the start.
  if ((await missingIn(location, migrations, quickLimits)).length === 0) return [];
  const session = await openMigrationSession(location);
  try {
    return await migrateLocked(session, kind, migrations);
  } finally {
    await session.close();
  }
}

/** The names of the migrations that migrate() would apply; changes nothing. Throws MigrationError as it does. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const location = parseDatabaseUrl(url);
  return missingIn(location, readMigrations(location.kind));
}

async function missingIn(
  location: DatabaseLocation,
  migrations: readonly MigrationFile[],
  sessionLimits?: DatabaseLimits,
): Promise<string[]> {
  const session = await openMigrationSession(location, sessionLimits);
  try {
    return await findMissing(session, location.kind, migrations);
  } catch (cause) {
    throw cause instanceof DatabaseError ? cause : unreachable(location, cause);
  } finally {
    await session.close();
  }
}

async function migrateLocked(
  session: MigrationSession,
  kind: DatabaseKind,
  migrations: readonly MigrationFile[],
): Promise<string[]> {
  const locked = await lock(session);
  try {
    // Looked up again under the lock, because another instance may have migrated meanwhile.
    const missing = await findMissing(locked, kind, migrations);
    if (missing.length > 0) await applyMigrations(locked, kind, migrations);
    await locked.commit();
    return missing;
  } catch (error) {
    await locked.rollback().catch(() => {}); // the first error is the one to report
    throw error;
  }
}

async function lock(session: MigrationSession): Promise<LockedSession> {
  const deadline = performance.now() + LOCK_WAIT_SECONDS * 1000;
  for (;;) {
    const locked = await session.tryLock();
    if (locked) return locked;
    if (performance.now() > deadline) {
      throw new MigrationError(
        'locked',
        `another process has held the lock on the database for ${LOCK_WAIT_SECONDS} s`,
      );
    }
    await sleep(LOCK_RETRY_MILLISECONDS);
  }
}

/** Applies what is not recorded yet of `migrations` and records it with this version, in the transaction of `locked`. */
export async function applyMigrations(
  locked: LockedSession,
  kind: DatabaseKind,
  migrations: readonly MigrationFile[],
): Promise<void> {
  const { startMigrationEngine } = await import('./engine.ts');
  let failure: unknown;
  const adapter = {
    ...locked.adapter,
    executeScript: (script: string) =>
      locked.adapter.executeScript(script).catch((error: unknown) => {
        failure ??= error; // the engine then fails to record the failure, and would report that error instead
        throw error;
      }),
  };
  const connect = async () => adapter;
  const { provider, adapterName } = adapter;
  try {
    const engine = await startMigrationEngine(kind, { provider, adapterName, connect, connectToShadowDb: connect });
    const applied = await engine.apply(migrations);
    for (const name of applied)
      await locked.query(`UPDATE _prisma_migrations SET logs = '${versionNote()}' WHERE migration_name = '${name}'`);
  } catch (error) {
    const cause = failure ?? error;
    throw new MigrationError('failed', `a migration failed and was undone: ${reasonOf(cause)}`, { cause });
  }
}

/** The names of the migrations that the database lacks; throws MigrationError when they cannot be applied. */
export async function findMissing(
  { query }: MigrationSession | LockedSession,
  kind: DatabaseKind,
  migrations: readonly MigrationFile[],
): Promise<string[]> {
  const tables = (await query(kind === 'sqlite' ? SQLITE_TABLES : POSTGRESQL_TABLES)).map(({ name }) => name);
  if (!tables.includes('_prisma_migrations')) {
    if (tables.length === 0) return migrations.map(({ name }) => name);
    throw new MigrationError(
      'foreign',
      `the database contains tables of another program (${tables.slice(0, 3).join(', ')}…): use an empty database`,
    );
  }
  const recorded = new Map<unknown, Record<string, unknown>>();
  for (const row of await query(RECORDED)) recorded.set(row.name, row);
  const newer = newerMessage([...recorded.values()], migrations);
  if (newer) throw new MigrationError('newer', newer);
  for (const [name, { checksum, finished }] of recorded) {
    const file = migrations.find((migration) => migration.name === name);
    if (!file) continue; // reported above
    if (finished === null) throw new MigrationError('unfinished', `migration ${name} was started and not finished`);
    if (checksum !== file.checksum) {
      throw new MigrationError('edited', `migration ${name} was edited after it was applied: restore its file`);
    }
  }
  return migrations.map(({ name }) => name).filter((name) => !recorded.has(name));
}

const SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const POSTGRESQL_TABLES = 'SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()';
const RECORDED = `SELECT migration_name AS name, checksum, finished_at AS finished, logs FROM _prisma_migrations
  WHERE rolled_back_at IS NULL ORDER BY migration_name`;

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && typeof error.cause === 'object' ? error.cause : undefined;
  if (cause && 'originalMessage' in cause) return String(cause.originalMessage);
  return error instanceof Error ? error.message : JSON.stringify(error);
}
