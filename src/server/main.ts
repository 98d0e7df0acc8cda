// The server with the configuration of this process. src/main.ts sets flags of V8 before it loads this.
import { loadConfig } from '../base/config.ts';
import { createLogger } from '../base/platform/logger.ts';
import { serve } from './serve.ts';

/** Resolves with the exit code. Throws ConfigError. */
export function main(): Promise<number> {
  const config = loadConfig();
  const { logLevel: level, logFormat: format, tracing, workers } = config;
  return serve(config, createLogger({ level, format, isShared: workers > 1, withTraces: tracing !== undefined }));
}
