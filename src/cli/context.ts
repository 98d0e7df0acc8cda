// The services behind a command, on the same configuration as the server. What they log goes to standard error, warnings
// and worse only: the output of a command is its result.
import { existsSync } from 'node:fs';
import { Writable } from 'node:stream';
import { ConfigError } from '../config/fault.ts';
import { type Config, loadConfig } from '../config.ts';
import { createLogger } from '../platform/logger.ts';
import type { Services } from '../services.ts';
import type { Io } from './io.ts';

export interface ServicesUse {
  /** What it does is a way to begin a server: an embedded database is made where there is none. */
  mayBegin?: boolean;
}

/** Builds the services, runs `work`, and takes them down again whatever happens. */
export async function withServices<T>(
  io: Io,
  work: (services: Services) => Promise<T>,
  { mayBegin = false }: ServicesUse = {},
): Promise<T> {
  if (!mayBegin) requireDatabase(loadConfig(undefined, { looksOnly: true }));
  const used = readConfig(io);
  // A real stream: the log of a terminal is piped into it.
  const destination = new Writable({
    write(line, _encoding, done) {
      io.err(String(line).trimEnd());
      done();
    },
  });
  const level = ['silent', 'fatal', 'error'].includes(used.logLevel) ? used.logLevel : 'warn';
  // Loaded here: help and wrong calls do without it.
  const { createServices } = await import('../services.ts');
  const services = await createServices({
    config: used,
    logger: createLogger({ level, format: used.logFormat, destination }),
  });
  try {
    await services.roles.ensureBuiltInRoles();
    return await work(services);
  } finally {
    await services.close();
  }
}

// Most likely this is the wrong folder, and an empty list would not say so.
function requireDatabase({ databaseKind, databaseUrl }: Config): void {
  const file = databaseUrl.slice('file:'.length);
  if (databaseKind !== 'sqlite' || existsSync(file)) return;
  throw new ConfigError([
    `There is no database at ${file}: run this where the server runs, or set DATA_DIR (or DATABASE_URL) as it has it.`,
  ]);
}

/** The configuration of this process, its warnings told. */
export function readConfig(io: Io): Config {
  const config = loadConfig();
  for (const warning of config.warnings) io.err(`warning: ${warning}`);
  return config;
}
