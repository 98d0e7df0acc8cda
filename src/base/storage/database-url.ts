// Parses DATABASE_URL: `file:…` is SQLite, `postgresql://…` is PostgreSQL, anything else is rejected.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../platform/errors.ts';

export type DatabaseKind = 'sqlite' | 'postgresql';

export type DatabaseLocation =
  | { kind: 'sqlite'; file: string }
  | {
      kind: 'postgresql';
      connectionString: string;
      schema: string;
      host: string;
      /** False behind a pooler that hands each transaction another connection (`?pgbouncer=true`). */
      keepsStatements: boolean;
    };

/** The database cannot be used; the message says what is wrong and what to do. */
export class DatabaseError extends OperatorError {
  override name = 'DatabaseError';
}

/** Reads a database URL; the error never repeats it, because it may hold a password. */
export function parseDatabaseUrl(url: string): DatabaseLocation {
  if (url.startsWith('file:')) return { kind: 'sqlite', file: sqliteFile(url) };
  if (/^postgres(ql)?:\/\//.test(url)) return postgresql(url);
  throw new DatabaseError('DATABASE_URL must be file:PATH (SQLite) or postgresql://USER:PASSWORD@HOST:PORT/DATABASE');
}

/** The file of a SQLite URL; undefined for PostgreSQL. */
export function sqliteFileOf(url: string): string | undefined {
  const location = parseDatabaseUrl(url);
  return location.kind === 'sqlite' ? location.file : undefined;
}

/** Where the database is, for a message: a file, or the host and the user of PostgreSQL. */
export function placeOf(url: string): string {
  const location = parseDatabaseUrl(url);
  if (location.kind === 'sqlite') return location.file;
  const { username } = new URL(location.connectionString);
  return `PostgreSQL at ${location.host}, as user ${decodeURIComponent(username)}`;
}

function sqliteFile(url: string): string {
  const withoutOptions = url.split('?')[0] ?? '';
  const file = withoutOptions.startsWith('file://')
    ? fileURLToPath(withoutOptions)
    : withoutOptions.slice('file:'.length);
  if (file === '' || file === ':memory:')
    throw new DatabaseError('DATABASE_URL must name a file, e.g. file:./data/gatehouse.db');
  return path.resolve(file);
}

function postgresql(url: string): DatabaseLocation {
  if (!URL.canParse(url))
    throw new DatabaseError('DATABASE_URL is not a valid postgresql:// URL: encode special characters in the password');
  const parsed = new URL(url);
  const schema = parsed.searchParams.get('schema') ?? 'public';
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema))
    throw new DatabaseError(`DATABASE_URL: "${schema}" is not a schema name`);
  const keepsStatements = parsed.searchParams.get('pgbouncer') !== 'true';
  for (const ownOption of ['schema', 'pgbouncer']) parsed.searchParams.delete(ownOption);
  return { kind: 'postgresql', connectionString: parsed.href, schema, host: parsed.host, keepsStatements };
}
