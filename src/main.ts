// The server process: reads the configuration, then serves until SIGTERM or SIGINT.
import { ConfigError } from './config/config-error.ts';
import { loadConfig } from './config.ts';
import { createLogger } from './platform/logger.ts';
import { serve } from './server/serve.ts';

try {
  const config = loadConfig();
  const { logLevel: level, logFormat: format, tracing } = config;
  process.exitCode = await serve(config, createLogger({ level, format, withTraces: tracing !== undefined }));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
