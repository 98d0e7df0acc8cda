// Brings a database to the schema of this version, at each start. Everything happens in one transaction that
// holds a lock: of several instances that start at once one works and the others wait, then find nothing left
// to do; what fails half-way, or is killed, leaves the database as it was.
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type DatabaseKind, parseDatabaseUrl } from './database-url.ts';
import { unreachable } from './db.ts';
import { type MigrationFile, readMigrations } from './migration-files.ts';
import { type LockedSession, type MigrationSession, openMigrationSession } from './migration-session.ts';

const LOCK_WAIT_SECONDS = 60;
const LOCK_RETRY_MILLISECONDS = 50;

export type MigrationFault = 'edited' | 'newer' | 'unfinished' | 'foreign' | 'failed' | 'locked';

/** Why a database cannot be brought to this version; nothing was changed. */
export class MigrationError extends DatabaseError {
  override name = 'MigrationError';
  readonly fault: MigrationFault;

  constructor(fault: MigrationFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Applies the migrations that the database lacks and returns their names. Another `folder` is for tests. */
export async function migrate(url: string, folder?: string): Promise<string[]> {
  const location = parseDatabaseUrl(url);
  const { kind } = location;
  const migrations = readMigrations(kind, folder);
  const session = await openMigrationSession(location);
  try {
    const missing = await findMissing(session, kind, migrations).catch((cause) => {
      throw cause instanceof DatabaseError ? cause : unreachable(location, cause);
    });
    return missing.length === 0 ? [] : await migrateLocked(session, kind, migrations);
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
    // Looked up again, now that nobody else can change it.
    const missing = await findMissing(locked, kind, migrations);
    if (missing.length > 0) await apply(locked, kind, migrations);
    await locked.commit();
    return missing;
  } catch (error) {
    await locked.rollback().catch(() => {}); // the first error is the one to tell
    throw error;
  }
}

async function lock(session: MigrationSession): Promise<LockedSession> {
  const deadline = performance.now() + LOCK_WAIT_SECONDS * 1000;
  for (;;) {
    const locked = await session.tryLock();
    if (locked) return locked;
    if (performance.now() > deadline) {
      throw new MigrationError('locked', `another process has kept the database locked for ${LOCK_WAIT_SECONDS} s`);
    }
    await sleep(LOCK_RETRY_MILLISECONDS);
  }
}

async function apply(locked: LockedSession, kind: DatabaseKind, migrations: readonly MigrationFile[]): Promise<void> {
  const { startMigrationEngine } = await import('./migration-engine.ts');
  let failure: unknown;
  const adapter = {
    ...locked.adapter,
    executeScript: (script: string) =>
      locked.adapter.executeScript(script).catch((error: unknown) => {
        failure ??= error; // the engine goes on to note the failure, and reports the error of that instead
        throw error;
      }),
  };
  const connect = async () => adapter;
  const { provider, adapterName } = adapter;
  try {
    const engine = await startMigrationEngine(kind, { provider, adapterName, connect, connectToShadowDb: connect });
    await engine.apply(migrations);
  } catch (error) {
    const cause = failure ?? error;
    throw new MigrationError('failed', `a migration failed and was undone: ${reasonOf(cause)}`, { cause });
  }
}

async function findMissing(
  { query }: Pick<MigrationSession, 'query'>,
  kind: DatabaseKind,
  migrations: readonly MigrationFile[],
): Promise<string[]> {
  const tables = (await query(kind === 'sqlite' ? SQLITE_TABLES : POSTGRESQL_TABLES)).map(({ name }) => name);
  if (!tables.includes('_prisma_migrations')) {
    if (tables.length === 0) return migrations.map(({ name }) => name);
    throw new MigrationError(
      'foreign',
      `the database holds tables that are not ours (${tables.slice(0, 3).join(', ')}…): give Gatehouse an empty one`,
    );
  }
  const recorded = new Map<unknown, Record<string, unknown>>();
  for (const row of await query(RECORDED)) recorded.set(row.name, row);
  for (const [name, { checksum, finished }] of recorded) {
    const file = migrations.find((migration) => migration.name === name);
    if (!file) throw new MigrationError('newer', `a newer version used this database (${name}): update Gatehouse`);
    if (finished === null) throw new MigrationError('unfinished', `migration ${name} was begun and not finished`);
    if (checksum !== file.checksum) {
      throw new MigrationError('edited', `migration ${name} was edited after it was applied: restore its file`);
    }
  }
  return migrations.map(({ name }) => name).filter((name) => !recorded.has(name));
}

const SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const POSTGRESQL_TABLES = 'SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()';
const RECORDED = `SELECT migration_name AS name, checksum, finished_at AS finished FROM _prisma_migrations
  WHERE rolled_back_at IS NULL`;

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && typeof error.cause === 'object' ? error.cause : undefined;
  if (cause && 'originalMessage' in cause) return String(cause.originalMessage);
  return error instanceof Error ? error.message : JSON.stringify(error);
}
