// Connections to a SQLite file, made by Prisma's adapter, and all of them here: what better-sqlite3 hands out is kept for
// as long as the process lives. Built with the headers of Node 24.19 or newer, a connection or statement that is collected
// as garbage between two turns of JavaScript ends the process (`Assertion failed: (env) != nullptr`,
// WiseLibs/better-sqlite3#1515; its version 13 is free of that, and of Node 20). A closed one holds a few hundred bytes.
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import type Sqlite from 'better-sqlite3';

/** How long a statement waits while another process (the command line, a backup) holds the write lock. */
export const BUSY_MILLISECONDS = 5000;

const kept: object[] = [];

/** Opens the file once more. */
export async function connectSqlite(file: string): Promise<SqlDriverAdapter> {
  const connection = await new PrismaBetterSqlite3({ url: `file:${file}`, timeout: BUSY_MILLISECONDS }).connect();
  const client = clientOf(connection);
  const prepare = client.prepare.bind(client);
  const keepStatement = (text: string) => {
    const statement = prepare(text);
    kept.push(statement);
    return statement;
  };
  kept.push(client);
  Object.assign(client, { prepare: keepStatement });
  return connection;
}

/** better-sqlite3's own connection, which Prisma's adapter keeps to itself. */
export function clientOf(connection: SqlDriverAdapter): Sqlite.Database {
  const { client } = connection as unknown as { client?: Sqlite.Database };
  if (typeof client?.prepare !== 'function')
    throw new Error('@prisma/adapter-better-sqlite3 changed: it has no client');
  return client;
}
