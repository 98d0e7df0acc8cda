// The services behind a command, on the same configuration as the server. What they log goes to standard error, warnings
// and worse only: the output of a command is its result.
import { Writable } from 'node:stream';
import type { Config } from '../config.ts';
import { loadConfig } from '../config.ts';
import { createLogger } from '../platform/logger.ts';
import type { Services } from '../services.ts';
import type { Io } from './io.ts';

/** Builds the services, runs `work`, and takes them down again whatever happens. */
export async function withServices<T>(io: Io, work: (services: Services) => Promise<T>, config?: Config): Promise<T> {
  const used = config ?? readConfig(io);
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

/** The configuration of this process, its warnings told. */
export function readConfig(io: Io): Config {
  const config = loadConfig();
  for (const warning of config.warnings) io.err(`warning: ${warning}`);
  return config;
}
