// Opens connections to a SQLite file with Prisma's adapter, and keeps a reference to every connection and statement until the
// process ends. Built with the headers of Node 24.19 or newer, better-sqlite3 12 crashes the process when one of them is
// garbage collected (`Assertion failed: (env) != nullptr`, WiseLibs/better-sqlite3#1515; version 13 does not, but does not
// support Node 20). A closed one holds a few hundred bytes.
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import type Sqlite from 'better-sqlite3';

/**
 * How long a statement waits inside SQLite, blocking this process, while another one (the command line, a backup) holds the write
 * lock: as long as a short transaction takes. After that writer.ts tries again.
 */
export const BUSY_MILLISECONDS = 20;

const references: object[] = [];

/** Opens a new connection to the file. */
export function connectSqlite(file: string, { readonly = false } = {}): Promise<SqlDriverAdapter> {
  return new SqliteFactory({ url: `file:${file}`, timeout: BUSY_MILLISECONDS, readonly }).connect();
}

/** Opens connections, also for the migration engine, and references what they make. */
export class SqliteFactory extends PrismaBetterSqlite3 {
  override async connect() {
    return referenced(await super.connect());
  }
  override async connectToShadowDb() {
    return referenced(await super.connectToShadowDb());
  }
}

function referenced<Connection extends SqlDriverAdapter>(connection: Connection): Connection {
  const native = nativeOf(clientOf(connection));
  // `pragma` and `backup` of better-sqlite3 make objects that their caller never gets.
  for (const name of ['prepare', 'backup'] as const) {
    const make = native[name].bind(native);
    native[name] = (...values) => {
      const made = make(...values);
      references.push(made);
      return made;
    };
  }
  references.push(native);
  return connection;
}

/** The object in C++ behind a connection, which makes its statements and backups. */
function nativeOf(client: Sqlite.Database) {
  const [symbol] = Object.getOwnPropertySymbols(client);
  const native = symbol && (client as never)[symbol];
  if (!native) throw new Error('better-sqlite3 changed: its connection has no native object');
  return native as Record<'prepare' | 'backup', (...values: unknown[]) => object>;
}

/** The better-sqlite3 connection, a private field of Prisma's adapter. */
export function clientOf(connection: SqlDriverAdapter): Sqlite.Database {
  const { client } = connection as unknown as { client?: Sqlite.Database };
  if (typeof client?.prepare !== 'function')
    throw new Error('@prisma/adapter-better-sqlite3 changed: it has no client');
  return client;
}
