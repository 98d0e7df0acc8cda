// CPU time per operation in alternating rounds, so that what slows the machine down slows both sides down.
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

/** Measures the scenario on every target; one round of each is thrown away to warm up. */
export async function measure(
  { operations, workers, worker }: Scenario,
  targets: readonly Target[],
  rounds: number,
): Promise<Map<Target, Measured>> {
  const prepared = new Map<Target, (() => Promise<unknown>)[]>();
  for (const target of targets)
    prepared.set(target, await Promise.all(Array.from({ length: workers }, () => worker(target))));
  const found = new Map<Target, number[]>(targets.map((target) => [target, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const target of round % 2 === 0 ? targets : [...targets].reverse()) {
      const before = target.cpuMs();
      await repeat(prepared.get(target) ?? [], operations);
      if (round > 0) found.get(target)?.push((target.cpuMs() - before) / operations);
    }
  }
  return new Map([...found].map(([target, values]) => [target, { rounds: values, median: median(values) }]));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
