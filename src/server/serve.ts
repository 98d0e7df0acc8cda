// Runs a server until SIGTERM or SIGINT, as one process or as several (WORKERS); for `npm start` and `gatehouse serve`.
import cluster from 'node:cluster';
import { type Config, loadConfig } from '../base/config.ts';
import { createLogger, type Logger } from '../base/platform/logger.ts';
import { announce, firstAdminBox, reportStartError, terminalOf } from './announce.ts';
import { stopServer, stopSignal } from './stop.ts';

/** Resolves with the exit code, after SIGTERM or SIGINT and a clean shutdown. Throws ConfigError. */
export async function serve(): Promise<number> {
  const config = loadConfig();
  const { logLevel: level, logFormat: format, tracing, workers } = config;
  const logger = createLogger({ level, format, isShared: workers > 1, withTraces: tracing !== undefined });
  // A full disk below what prints to them must not stop the server.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (cluster.isWorker) return (await import('./workers/worker.ts')).runWorker(config, logger);
  for (const warning of config.warnings) logger.warn(warning);
  // The primary process does not load the server.
  if (config.workers > 1) return (await import('./workers/primary.ts')).runPrimary(config, logger);
  return serveAlone(config, logger);
}

async function serveAlone(config: Config, logger: Logger): Promise<number> {
  // Before the start, because a signal may arrive as soon as /readyz answers, while the start is still running.
  const signal = stopSignal();
  const { startServer } = await import('./start.ts');
  const server = await startServer({ config, logger }).catch((error: unknown) => {
    reportStartError(config, logger, error);
    // Open handles of the failed start, such as the listener, would prevent the exit of the process.
    return process.exit(1);
  });
  announce(server, logger);
  const box = await firstAdminBox(server, signal);
  if (box) terminalOf(config).write(box);
  logger.info({ signal: await signal }, 'signal received');
  const outcome = await stopServer(server, { announceSeconds: config.drainSeconds, logger });
  // Work that goes on, such as a write that waits for the database, would delay the exit of the process.
  return process.exit(outcome === 'cut off' ? 1 : 0);
}
