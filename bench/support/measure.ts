// CPU time per operation by paired bursts: short bursts in turn, a ratio for each pair, and the median of the ratios. A machine that
// slows down for a while slows both sides of a pair, so the ratio holds where medians of long rounds do not.
import { repeat } from './load.ts';
import type { Target } from './target.ts';

export interface Scenario {
  name: string;
  /** Operations in one burst: some 50 to 200 ms of the server's time. */
  operations: number;
  workers: number;
  /** Prepares one worker and returns its operation. */
  worker(target: Target): Promise<() => Promise<unknown>>;
}

/** What is measured: a worker's preparation, and the server that it loads. */
export interface Contender {
  target: Pick<Target, 'cpuMs'>;
  worker(): Promise<() => Promise<unknown>>;
}

/** CPU milliseconds per operation of each contender in one burst, in the order of the contenders. */
export type Burst = number[];

/** Bursts that are not measured: code is compiled and pools grow in them. */
const WARM_UP_BURSTS = 5;

/** Measures the contenders in turn, the given number of bursts each. */
export async function measure(
  contenders: readonly Contender[],
  { operations, workers, bursts }: { operations: number; workers: number; bursts: number },
): Promise<Burst[]> {
  const prepared = await Promise.all(
    contenders.map(async ({ target, worker }, index) => {
      const work = await Promise.all(Array.from({ length: workers }, () => worker()));
      return { target, work, index };
    }),
  );
  const measured: Burst[] = [];
  for (let burst = -WARM_UP_BURSTS; burst < bursts; burst += 1) {
    const values: Burst = [];
    for (const { target, work, index } of burst % 2 === 0 ? prepared : [...prepared].reverse()) {
      const before = target.cpuMs();
      await repeat(work, operations);
      values[index] = (target.cpuMs() - before) / operations;
    }
    if (burst >= 0) measured.push(values);
  }
  return measured;
}

/** The median of a figure that is derived from each burst. */
export const medianOf = (bursts: readonly Burst[], figure: (burst: Burst) => number): number =>
  median(bursts.map(figure));

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
