// Whether two lists of times come from the same source.

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** In random order, so that a temporary load of the machine affects all alike. */
export function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** Mann-Whitney U, two-sided, by the normal approximation: how likely such a difference of ranks is by chance. */
export function rankTest(a: readonly number[], b: readonly number[]): { p: number } {
  const ranked = [...a.map((value) => ({ value, isA: true })), ...b.map((value) => ({ value, isA: false }))]
    .sort((x, y) => x.value - y.value)
    .map((entry, index) => ({ ...entry, rank: index + 1 }));
  const rankSum = ranked.filter(({ isA }) => isA).reduce((sum, { rank }) => sum + rank, 0);
  const u = rankSum - (a.length * (a.length + 1)) / 2;
  const mean = (a.length * b.length) / 2;
  const deviation = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12);
  return { p: 2 * (1 - normal(Math.abs(u - mean) / deviation)) };
}

// Abramowitz and Stegun 26.2.17.
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}
