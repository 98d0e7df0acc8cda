// Notices that the clock of the machine was set: it and the stopwatch of the process then disagree about how much time has passed.
import { limits } from '../limits.ts';
import type { Clock, Stopwatch } from './clock.ts';
import type { Logger } from './logger.ts';

export interface ClockWatchOptions {
  now: Clock;
  stopwatch: Stopwatch;
  logger: Logger;
  /** What was planned for a time that the clock reached before is far in the future now. */
  onSetBack(): Promise<void>;
}

/** Compares them every few seconds and logs a jump, until `stop`. Small corrections by a time service are no jump. */
export function watchClock({ now, stopwatch, logger, onSetBack }: ClockWatchOptions): { stop(): void } {
  const { watchSeconds, jumpSeconds } = limits.clock;
  const ahead = () => now().getTime() - stopwatch();
  let before = ahead();
  const timer = setInterval(() => {
    const current = ahead();
    const seconds = Math.round((current - before) / 1000);
    before = current;
    if (Math.abs(seconds) < jumpSeconds) return;
    const direction = seconds < 0 ? 'back' : 'forward';
    logger.warn({ seconds }, `the clock of this machine was set ${direction} by ${Math.abs(seconds)} s`);
    if (seconds < 0) onSetBack().catch((err: unknown) => logger.error({ err }, 'jobs could not be rescheduled'));
  }, watchSeconds * 1000);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
