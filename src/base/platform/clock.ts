// The system clock. Everything that needs the time takes a Clock, so that a test can set it. The clock of a machine may be set
// forward or back while the server runs: pauses and periods are measured with a Stopwatch, and a stored time in the future
// counts as a mistake of the clock where it would stop something.

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
