// Reads the committed migrations, prisma/migrations/<database>/<time>_<name>/migration.sql, for the migration engine.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../platform/package.ts';
import type { DatabaseKind } from '../database-url.ts';

export interface MigrationFile {
  name: string;
  sql: string;
  /** SHA-256 of the script in hexadecimal, as Prisma records it when the migration is applied. */
  checksum: string;
}

/** The folder prisma/migrations of this package, the same from src and from dist. */
export const migrationsFolder = path.join(packageRoot, 'prisma', 'migrations');

/** The migrations for one database, oldest first. */
export function readMigrations(kind: DatabaseKind, folder = migrationsFolder): MigrationFile[] {
  const base = path.join(folder, kind);
  if (!existsSync(base)) return [];
  return readdirSync(base, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(path.join(base, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}
