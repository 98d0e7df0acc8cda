// The signals of a supervisor or a terminal, and a stop in the order that supervisors and proxies expect, within a time limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { RunningServer } from './start.ts';

export interface StopOptions {
  /** How long /readyz answers 503 while everything is still served, so that a proxy sends its requests elsewhere. */
  announceSeconds: number;
  /** How long the rest may take: requests in progress, jobs, and closing the database. */
  limitSeconds?: number;
  logger: Logger;
}

const LIMIT_SECONDS = limits.http.drainSeconds + limits.http.closeSeconds;

/** Resolves with `cut off` when something was still open at the limit, such as a database that does not respond. Never rejects. */
export async function stopServer(
  server: Pick<RunningServer, 'announceStop' | 'stop'>,
  { announceSeconds, limitSeconds = LIMIT_SECONDS, logger }: StopOptions,
): Promise<'stopped' | 'cut off'> {
  server.announceStop();
  if (announceSeconds > 0) {
    logger.info({ seconds: announceSeconds }, 'stopping: /readyz answers 503, and everything is served for now');
    await sleep(announceSeconds * 1000);
  }
  logger.info('stopping: no new requests; finishing those in progress');
  const limit = new AbortController();
  const stopped = server.stop().then(
    () => 'stopped' as const,
    (err: unknown) => {
      logger.error({ err }, 'stopping failed');
      return 'cut off' as const;
    },
  );
  const tooLate = sleep(limitSeconds * 1000, 'cut off' as const, { signal: limit.signal });
  const outcome = await Promise.race([stopped, tooLate.catch(() => stopped)]);
  limit.abort();
  if (outcome === 'stopped') logger.info('stopped');
  else logger.error('stopped before everything was finished: a request, a job or the database did not end in time');
  return outcome;
}

const SAME_SIGNAL_MILLISECONDS = 500;

/** The first SIGTERM or SIGINT. A second one ends the process at once. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const onSignal = (signal: string) => {
      // npm passes on the Ctrl-C that the terminal sends to its whole process group, so the signal arrives twice.
      if (since !== undefined && performance.now() - since > SAME_SIGNAL_MILLISECONDS) process.exit(130);
      since ??= performance.now();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}
