// What a backup says about itself: the first line of an export of PostgreSQL, or FILE.json beside a copy of a SQLite file.
import { packageVersion } from '../../platform/package.ts';
import { DatabaseError, type DatabaseKind } from '../database-url.ts';
import type { MigrationFile } from '../migrations/files.ts';
import { newerMessage } from '../migrations/newer.ts';

export interface BackupHead {
  gatehouse: 'backup';
  /** Of the file's format; a program reads the formats up to its own. */
  format: number;
  /** The version of the program that made it. */
  version: string;
  kind: DatabaseKind;
  /** When the backup began, ISO 8601. It holds what was committed before. */
  at: string;
  /** The names of the migrations of its schema, in order. */
  migrations: string[];
}

/** How far a copy is: bytes of SQLite, rows of PostgreSQL. `total` of PostgreSQL is an estimate; 0 where there is none. */
export interface Progress {
  done: number;
  total: number;
}

export const FORMAT = 1;

export function newHead(kind: DatabaseKind, at: Date, migrations: string[]): BackupHead {
  return { gatehouse: 'backup', format: FORMAT, version: packageVersion(), kind, at: at.toISOString(), migrations };
}

/** The head in a JSON text; throws DatabaseError for another text and for a newer format. */
export function parseHead<T extends object>(text: string, file: string): BackupHead & T {
  let head: Partial<BackupHead>;
  try {
    head = JSON.parse(text) as Partial<BackupHead>;
  } catch {
    throw new DatabaseError(`${file} is not a backup of Gatehouse`);
  }
  if (head?.gatehouse !== 'backup' || typeof head.format !== 'number' || !Array.isArray(head.migrations))
    throw new DatabaseError(`${file} is not a backup of Gatehouse`);
  if (head.format > FORMAT)
    throw new DatabaseError(`${file} is of a newer version: use Gatehouse ${String(head.version)} or newer`);
  return head as BackupHead & T;
}

/** The recorded migrations of a backup, with the version that applied each; throws DatabaseError when this program does not know one of them. */
export function migrationsOf(
  recorded: readonly { name: string; logs: unknown }[],
  known: readonly MigrationFile[],
): MigrationFile[] {
  const newer = newerMessage(recorded, known);
  if (newer) throw new DatabaseError(newer.replace('this database', 'the database of this backup'));
  const names = recorded.map(({ name }) => name);
  return known.filter(({ name }) => names.includes(name));
}
