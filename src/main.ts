// The server process: reads the configuration, starts, says where it is, and drains on SIGTERM and SIGINT.
import { ConfigError } from './config/fault.ts';
import { loadConfig } from './config.ts';
import { createLogger } from './platform/logger.ts';
import { serve } from './server/serve.ts';

try {
  const config = loadConfig();
  process.exitCode = await serve(config, createLogger({ level: config.logLevel, format: config.logFormat }));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
