// Creates the services for a command, with the server's configuration. They log warnings and errors to standard error;
// standard output is for the command's result.
import { existsSync } from 'node:fs';
import { Writable } from 'node:stream';
import { ConfigError } from '../base/config/config-error.ts';
import { type Config, loadConfig } from '../base/config.ts';
import { createLogger } from '../base/platform/logger.ts';
import type { Services } from '../server/services.ts';
import { requireWritableDatabase, startError } from '../server/writable.ts';
import type { Io } from './io.ts';

/**
 * Creates the services, runs `work`, and always closes them. Throws DatabaseError, in one line, when the database cannot be used.
 *
 * @param mayBegin creates an embedded database if there is none
 */
export async function withServices<T>(
  io: Io,
  work: (services: Services) => Promise<T>,
  { mayBegin = false }: { mayBegin?: boolean } = {},
): Promise<T> {
  if (!mayBegin) requireDatabase(loadConfig(undefined, { readOnly: true }));
  const used = readConfig(io);
  // Also a command that only reads: SQLite makes files beside the database.
  requireWritableDatabase(used);
  // A real stream: the pretty logger pipes into it.
  const destination = new Writable({
    write(line, _encoding, done) {
      io.err(String(line).trimEnd());
      done();
    },
  });
  const level = ['silent', 'fatal', 'error'].includes(used.logLevel) ? used.logLevel : 'warn';
  // Loaded here: help and usage errors do not need it.
  const { createServices } = await import('../server/services.ts');
  const logger = createLogger({ level, format: used.logFormat, destination });
  try {
    const services = await createServices({ config: used, logger });
    try {
      await services.roles.ensureBuiltInRoles();
      return await work(services);
    } finally {
      await services.close();
    }
  } catch (error) {
    throw startError(used, error);
  }
}

/** Most likely this is the wrong folder, and an empty list would hide that. Throws ConfigError where there is no SQLite file. */
export function requireDatabase({ databaseKind, databaseUrl }: Config): void {
  const file = databaseUrl.slice('file:'.length);
  if (databaseKind !== 'sqlite' || existsSync(file)) return;
  throw new ConfigError([
    `There is no database at ${file}: run this on the server's machine, or set DATA_DIR or DATABASE_URL to the server's value.`,
  ]);
}

/** Loads the configuration of this process and prints its warnings. */
function readConfig(io: Io): Config {
  const config = loadConfig();
  for (const warning of config.warnings) io.err(`warning: ${warning}`);
  return config;
}
