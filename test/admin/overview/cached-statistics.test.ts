import { describe, expect, it } from 'vitest';
import { cacheStatistics, type Statistics } from '../../../src/admin/overview/statistics.ts';
import { limits } from '../../../src/base/limits.ts';

/** The statistics of a database with `users` users; `pass` lets time pass. */
function counting(users: number) {
  let time = Date.UTC(2026, 0, 1);
  let counts = 0;
  const now = () => new Date(time);
  const statistics = cacheStatistics(async (): Promise<Statistics> => {
    counts += 1;
    return {
      at: now(),
      users: { total: users, disabled: 0, withSecondFactor: 0 },
      applications: { oidc: 0, saml: 0, proxy: 0, disabled: 0 },
      sessions: 0,
      mail: { waiting: 0, failed: 0 },
      days: [],
      byApplication: [],
    };
  }, now);
  return { statistics, now, counts: () => counts, pass: (ms: number) => (time += ms) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the overview', () => {
  it('counts a small database each time', async () => {
    const { statistics, counts } = counting(limits.statistics.countedRows - 1);
    await statistics(30);
    await statistics(30);
    expect(counts()).toBe(2);
  });

  it('shares one count of a large database, and says when it was counted', async () => {
    const { statistics, now, counts, pass } = counting(1_000_000);
    const first = now();
    await Promise.all([statistics(30), statistics(30)]);
    pass(limits.statistics.maxAgeMs - 1);
    expect(await statistics(30)).toMatchObject({ at: first });
    expect(counts()).toBe(1);
    await statistics(7);
    expect(counts()).toBe(2);
  });

  it('refreshes the count of a large database after it has returned the cached one', async () => {
    const { statistics, now, counts, pass } = counting(1_000_000);
    const first = now();
    await statistics(30);
    pass(limits.statistics.maxAgeMs + 1);
    expect(await statistics(30)).toMatchObject({ at: first });
    expect(counts()).toBe(1);
    await turn();
    expect(await statistics(30)).toMatchObject({ at: now() });
    expect(counts()).toBe(2);
  });
});
