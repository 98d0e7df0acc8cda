// Opens connections to a SQLite file with Prisma's adapter, and keeps a reference to every connection and statement until the
// process ends. Built with the headers of Node 24.19 or newer, better-sqlite3 12 crashes the process when one of them is
// garbage collected (`Assertion failed: (env) != nullptr`, WiseLibs/better-sqlite3#1515; version 13 does not, but does not
// support Node 20). A closed one holds a few hundred bytes.
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import type Sqlite from 'better-sqlite3';

/**
 * How long a statement waits inside SQLite, blocking this process, while another one (the command line, a backup) holds the write
 * lock: as long as a short transaction takes. After that writer-lock.ts tries again.
 */
export const BUSY_MILLISECONDS = 20;

const references: object[] = [];

/** Opens a new connection to the file. */
export async function connectSqlite(file: string): Promise<SqlDriverAdapter> {
  const connection = await new PrismaBetterSqlite3({ url: `file:${file}`, timeout: BUSY_MILLISECONDS }).connect();
  const client = clientOf(connection);
  const prepare = client.prepare.bind(client);
  const prepareAndReference = (text: string) => {
    const statement = prepare(text);
    references.push(statement);
    return statement;
  };
  references.push(client);
  Object.assign(client, { prepare: prepareAndReference });
  return connection;
}

/** The better-sqlite3 connection, a private field of Prisma's adapter. */
export function clientOf(connection: SqlDriverAdapter): Sqlite.Database {
  const { client } = connection as unknown as { client?: Sqlite.Database };
  if (typeof client?.prepare !== 'function')
    throw new Error('@prisma/adapter-better-sqlite3 changed: it has no client');
  return client;
}
