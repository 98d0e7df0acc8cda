import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomId } from '../../src/base/platform/random.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { type PolicyName, policies } from '../../src/people/rate-limits/policies.ts';
import { createRateLimits, type RateLimits } from '../../src/people/rate-limits/rate-limits.ts';
import { openPeople, type People, together } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let rateLimits: RateLimits;
let key: string;
beforeAll(async () => {
  people = await openPeople();
  rateLimits = createRateLimits(servicesOf(people));
});
afterAll(() => people.close());
beforeEach(() => {
  key = randomId();
});

const names = Object.keys(policies) as PolicyName[];
const firstAllowed = (name: PolicyName) => {
  const policy = policies[name];
  return policy.kind === 'window' ? policy.points : policy.freeAttempts;
};
const passed = (results: { allowed: boolean }[]) => results.filter(({ allowed }) => allowed).length;

describe('every policy', () => {
  test.each(names.filter((name) => firstAllowed(name) <= 50))(
    'lets exactly its number of attempts at the same moment pass: %s',
    async (name) => {
      const results = await together(firstAllowed(name) + 15, () => rateLimits.consume(name, key));
      expect(passed(results)).toBe(firstAllowed(name));
      for (const { allowed, retryAfterSeconds } of results) expect(retryAfterSeconds > 0).toBe(!allowed);
      expect(await rateLimits.count(name, key)).toBe(firstAllowed(name));
    },
  );
});

describe('a counter from before the clock was set back', () => {
  test.each(['reset:account', 'sign-in:account'] as const)('locks nobody out by %s', async (name) => {
    people.clock.set({ hours: 2 });
    for (let tries = 0; tries <= firstAllowed(name); tries += 1) await rateLimits.consume(name, key);
    expect(await rateLimits.peek(name, key)).toMatchObject({ allowed: false });
    people.clock.set({ hours: -2 });
    expect(await rateLimits.peek(name, key)).toMatchObject({ allowed: true });
    const results = await together(firstAllowed(name) + 5, () => rateLimits.consume(name, key));
    expect(passed(results)).toBe(firstAllowed(name));
  });
});

describe('a window', () => {
  const name = 'reset:account';

  test('reports how long it lasts, and allows attempts again at its end', async () => {
    for (let index = 0; index < 3; index += 1) expect((await rateLimits.consume(name, key)).allowed).toBe(true);
    expect(await rateLimits.consume(name, key)).toEqual({ allowed: false, retryAfterSeconds: 3600 });
    people.clock.advance({ minutes: 59, seconds: 59 });
    expect(await rateLimits.consume(name, key)).toEqual({ allowed: false, retryAfterSeconds: 1 });
    people.clock.advance({ seconds: 1 });
    expect(await rateLimits.peek(name, key)).toEqual({ allowed: true, retryAfterSeconds: 0 });
    expect(passed(await together(20, () => rateLimits.consume(name, key)))).toBe(3);
  });

  test('counts keys and policies separately', async () => {
    await together(5, () => rateLimits.consume(name, key));
    expect((await rateLimits.consume(name, `${key}x`)).allowed).toBe(true);
    expect((await rateLimits.consume('reset:address', key)).allowed).toBe(true);
  });

  test('allows exactly one more attempt after a refund, also after rejections', async () => {
    await together(10, () => rateLimits.consume(name, key));
    await rateLimits.refund(name, key);
    expect(passed(await together(5, () => rateLimits.consume(name, key)))).toBe(1);
    await rateLimits.refund(name, `${key}-never-seen`);
    await together(9, () => rateLimits.refund(name, key));
    expect(await rateLimits.count(name, key)).toBe(0);
  });
});

describe('a limit by network address', () => {
  const name = 'reset:address';
  const { points } = policies[name];
  const spend = async (address: string) =>
    passed(await together(points + 5, () => rateLimits.consume(name, { address })));

  test('is one for an IPv6 network of 64 bits, and twenty times as much for one of 48 bits', async () => {
    expect(await spend('2001:db8:1:1::1')).toBe(points);
    expect((await rateLimits.peek(name, { address: '2001:db8:1:1::2' })).allowed).toBe(false);
    for (let network = 2; network <= 20; network += 1) expect(await spend(`2001:db8:1:${network}::1`)).toBe(points);
    const other = { address: '2001:db8:1:99::1' };
    expect([await rateLimits.peek(name, other), await rateLimits.consume(name, other)]).toEqual(
      Array(2).fill({ allowed: false, retryAfterSeconds: expect.any(Number) }),
    );
    expect((await rateLimits.consume(name, { address: '2001:db8:2:1::1' })).allowed).toBe(true);
  });

  test('counts an IPv4 address alone, and apart for each subject', async () => {
    expect(await spend('192.0.2.1')).toBe(points);
    expect((await rateLimits.consume(name, { address: '192.0.2.2' })).allowed).toBe(true);
    expect((await rateLimits.consume(name, { address: '192.0.2.1', about: 'web' })).allowed).toBe(true);
  });

  test('is lower by one for the address and for the site after a refund', async () => {
    for (let network = 1; network <= 20; network += 1) await spend(`2001:db8:3:${network}::1`);
    await rateLimits.refund(name, { address: '2001:db8:3:1::1' });
    const again = await together(3, () => rateLimits.consume(name, { address: '2001:db8:3:1::1' }));
    expect(passed(again)).toBe(1);
  });
});

describe('a growing pause', () => {
  const name = 'sign-in:account';

  test('doubles from 30 seconds to 15 minutes, with one attempt after each', async () => {
    expect(passed(await together(20, () => rateLimits.consume(name, key)))).toBe(5);
    const pauses: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      const { allowed, retryAfterSeconds } = await rateLimits.consume(name, key);
      expect(allowed).toBe(false);
      pauses.push(retryAfterSeconds);
      people.clock.advance({ seconds: retryAfterSeconds });
      expect(passed(await together(20, () => rateLimits.consume(name, key)))).toBe(1);
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
  });

  test('is not prolonged by attempts made during it', async () => {
    await together(20, () => rateLimits.consume(name, key));
    people.clock.advance({ seconds: 20 });
    await together(50, () => rateLimits.consume(name, key));
    expect(await rateLimits.peek(name, key)).toEqual({ allowed: false, retryAfterSeconds: 10 });
    expect(await rateLimits.count(name, key)).toBe(5);
  });

  test('ends after an hour without attempts, and at once by a reset', async () => {
    await together(20, () => rateLimits.consume(name, key));
    people.clock.advance({ seconds: 30 + 3600 });
    expect(passed(await together(20, () => rateLimits.consume(name, key)))).toBe(5);
    await rateLimits.reset(name, key);
    expect(passed(await together(20, () => rateLimits.consume(name, key)))).toBe(5);
  });
});

test('two instances share every count', async () => {
  const second = await openDatabase(people.url);
  const other = createRateLimits(servicesOf({ ...second, now: people.now }));
  const results = await together(30, (index) => (index % 2 ? other : rateLimits).consume('code:account', key));
  expect(passed(results)).toBe(5);
  expect((await other.peek('code:account', key)).allowed).toBe(false);
  await second.close();
});

test('the limiter allows and does not count attempts while rate limits are off', async () => {
  const off = createRateLimits({ ...servicesOf(people), isEnabled: () => false });
  expect(passed(await together(50, () => off.consume('reset:account', key)))).toBe(50);
  expect(await rateLimits.count('reset:account', key)).toBe(0);
});

test('the limiter stores typed logins only as hashes', async () => {
  await rateLimits.consume('sign-in:account', 'alice@example.com');
  const rows = await people.db.rateLimit.findMany();
  expect(JSON.stringify(rows.map((row) => row.key))).not.toContain('alice');
});
