// CPU time per operation in alternating rounds, so that a slow machine affects both sides equally.
import { repeat } from './load.ts';
import type { Target } from './target.ts';

export interface Scenario {
  name: string;
  /** Operations in one round. */
  operations: number;
  workers: number;
  /** Prepares one worker and returns its operation. */
  worker(target: Target): Promise<() => Promise<unknown>>;
}

export interface Measured {
  /** CPU milliseconds per operation in each round. */
  rounds: number[];
  median: number;
}

/** What is compared: a worker's preparation, and the server that it loads. */
export interface Contender {
  target: Target;
  worker(): Promise<() => Promise<unknown>>;
}

/** Measures the contenders in turn, in the given order; one warm-up round of each is discarded. */
export async function measure(
  contenders: readonly Contender[],
  { operations, workers, rounds }: { operations: number; workers: number; rounds: number },
): Promise<Measured[]> {
  const prepared = [];
  for (const { target, worker } of contenders) {
    const work = await Promise.all(Array.from({ length: workers }, () => worker()));
    prepared.push({ target, work, values: [] as number[] });
  }
  for (let round = 0; round <= rounds; round += 1) {
    for (const { target, work, values } of round % 2 === 0 ? prepared : [...prepared].reverse()) {
      const before = target.cpuMs();
      await repeat(work, operations);
      if (round > 0) values.push((target.cpuMs() - before) / operations);
    }
  }
  return prepared.map(({ values }) => ({ rounds: values, median: median(values) }));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
