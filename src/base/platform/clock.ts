// The system clock. Everything that needs the time takes a Clock, so that a test can set it. The clock of a machine may be set
// forward or back while the server runs: pauses and periods are measured with a Stopwatch, and a stored time in the future
// counts as a mistake of the clock where it would stop something.

import { limits } from '../limits.ts';
import type { Logger } from './logger.ts';

export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** Milliseconds since some moment; grows evenly, whatever is done to the clock. */
export type Stopwatch = () => number;

export const systemStopwatch: Stopwatch = () => performance.now();

/** Whether `at` (epoch milliseconds) is less than so many seconds ago. Never for a time in the future: the clock was set back since. */
export function isWithin(seconds: number, at: number, now: Date): boolean {
  const age = now.getTime() - at;
  return age >= 0 && age < seconds * 1000;
}

// Notices that the clock of the machine was set: it and the stopwatch of the process then disagree about how much time has passed.

interface ClockWatchOptions {
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
