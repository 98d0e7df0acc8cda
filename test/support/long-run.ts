/** `npm run test:long`: every combination, and as long as it takes. `npm test` has a part of them, or a shorter fault of the same kind. */
export const isLongRun = process.env.LONG_RUN === '1';

/** So many of the cases, from the first to the last at equal distances; all of them in a long run. */
export function some<const Case>(count: number, cases: readonly Case[]): Case[] {
  if (isLongRun || cases.length <= count) return [...cases];
  const distance = (cases.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, index) => cases[Math.round(index * distance)] as Case);
}
