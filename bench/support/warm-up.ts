// Repeats an operation until its CPU time no longer falls: a JVM compiles a method only after thousands of calls.
import { repeat } from './load.ts';
import { type Contender, median } from './measure.ts';

const BURSTS_OF_A_ROUND = 5;
/** It is steady when this many rounds were not cheaper than the cheapest one before by this factor. */
const STEADY_ROUNDS = 3;
const NOISE = 0.97;

/** Returns the number of operations it took; ends after the given seconds in any event. */
export async function warmUp(
  { target, worker }: Contender,
  { operations, workers, maxSeconds }: { operations: number; workers: number; maxSeconds: number },
): Promise<{ operations: number; isSteady: boolean }> {
  const work = await Promise.all(Array.from({ length: workers }, () => worker()));
  const end = performance.now() + maxSeconds * 1000;
  let best = Number.POSITIVE_INFINITY;
  let steady = 0;
  let done = 0;
  while (steady < STEADY_ROUNDS && performance.now() < end) {
    const times: number[] = [];
    for (let burst = 0; burst < BURSTS_OF_A_ROUND; burst += 1) {
      const before = target.cpuMs();
      await repeat(work, operations);
      times.push(target.cpuMs() - before);
    }
    done += BURSTS_OF_A_ROUND * operations;
    const round = median(times);
    steady = round < best * NOISE ? 0 : steady + 1;
    best = Math.min(best, round);
  }
  return { operations: done, isSteady: steady >= STEADY_ROUNDS };
}
