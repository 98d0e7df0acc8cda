// Notices that this process stood still: it was stopped by SIGSTOP, or its machine or container was frozen. The requests that arrived meanwhile are
// old. Their senders have given up, and may have sent them again to another instance. A refresh that is carried out
// after its repeat looks like a replay, which ends the grant (RFC 9700 4.14.2).
import type { Middleware } from '../base/http/context.ts';
import { unavailable } from '../base/http/errors.ts';
import type { Stopwatch } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';

export interface PauseWatchOptions {
  stopwatch: Stopwatch;
  logger: Logger;
}

export interface PauseWatch {
  /** Whether a request that arrives now may be of the time of a pause. */
  isStale(): boolean;
  stop(): void;
}

const TICK_MS = 500;
/** Callers get their answers within this time, so that a request that is older has no caller. */
const PAUSE_MS = 10_000;
/** Old requests are read within this time after a pause. */
const READ_MS = 1000;

export function watchPauses({ stopwatch, logger }: PauseWatchOptions): PauseWatch {
  let last = stopwatch();
  let staleUntil = 0;
  const tick = () => {
    const now = stopwatch();
    const pause = now - last;
    last = now;
    if (pause < PAUSE_MS) return now;
    staleUntil = now + READ_MS;
    logger.warn({ seconds: Math.round(pause / 1000) }, 'this process stood still; old requests are rejected');
    return now;
  };
  const timer = setInterval(tick, TICK_MS).unref();
  return {
    // Requests are read before the timer runs.
    isStale: () => tick() < staleUntil,
    stop: () => clearInterval(timer),
  };
}

/** Rejects old requests with 503. Liveness is still reported: the process runs. */
export function rejectStaleRequests({ isStale }: PauseWatch): Middleware {
  return (ctx, next) => {
    if (!isStale() || ctx.path === '/healthz') return next();
    throw unavailable('unavailable', {
      detail: 'the request may have arrived while this process stood still',
      headers: { 'Retry-After': '1' },
    });
  };
}
