// A database that a newer version has migrated. Each migration is recorded with the version that applied it, so that an older
// program can say which version the database needs.
import { packageVersion } from '../../platform/package.ts';
import { plural } from '../../platform/plural.ts';
import type { Db } from '../database.ts';
import { readMigrations } from './files.ts';

const NOTE = /^gatehouse (\d+\.\d+\.\d+[\w.-]*)$/;
const MAX_NAMED = 3;

/** What the column `logs` of Prisma's table records of a migration that this version applied. */
export function versionNote(version = packageVersion()): string {
  return `gatehouse ${version}`;
}

/**
 * One line about the recorded migrations that are not in `known`: their names, the version that applied them, and what to do.
 * Undefined when there is none.
 */
export function newerMessage(
  recorded: readonly Record<string, unknown>[],
  known: readonly { name: string }[],
): string | undefined {
  const names = new Set<unknown>(known.map(({ name }) => name));
  const unknown = recorded.filter(({ name }) => !names.has(name));
  const last = unknown.at(-1);
  if (!last) return undefined;
  const listed = unknown.slice(0, MAX_NAMED).map(({ name }) => String(name));
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const count = unknown.length === 1 ? 'a migration' : `${plural(unknown.length, 'migration')}`;
  const version = NOTE.exec(String(last.logs ?? ''))?.[1];
  const other = version === packageVersion() ? `the later build of ${version}` : `Gatehouse ${version} or newer`;
  const needed = version === undefined ? 'the newer version that was used last' : other;
  return (
    `a newer version used this database: Gatehouse ${packageVersion()} does not know ${count} (${listed.join(', ')}${more}). ` +
    `Start ${needed}, or restore the backup from before the upgrade`
  );
}

/** The same of an open database, for readiness: a server of a newer version may migrate it while this one runs. */
export function createSchemaCheck(db: Db): () => Promise<string | undefined> {
  const known = readMigrations('sqlite'); // those of PostgreSQL have the same names
  return async () =>
    newerMessage(
      await db.$queryRawUnsafe<Record<string, unknown>[]>(
        'SELECT migration_name AS name, logs FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name',
      ),
      known,
    );
}
