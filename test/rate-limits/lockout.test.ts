import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nameKey } from '../../src/accounts/names.ts';
import { randomId } from '../../src/platform/random.ts';
import { addressKey, createLockout, type Lockout } from '../../src/rate-limits/lockout.ts';
import { createRateLimits, type RateLimits } from '../../src/rate-limits/rate-limits.ts';
import { openPeople, type People, together } from '../accounts/fixture.ts';

let people: People;
let rateLimits: RateLimits;
let guard: Lockout;
let login: string;
beforeAll(async () => {
  people = await openPeople();
  rateLimits = createRateLimits(people);
  guard = createLockout({ rateLimits });
});
afterAll(() => people.close());
beforeEach(() => {
  login = `user-${randomId()}`;
});

let machines = 0;
/** An address of its own, so that only the rule under test counts. */
const anywhere = () => {
  machines += 1;
  return `198.${18 + (machines >> 16)}.${(machines >> 8) & 255}.${machines & 255}`;
};
const outcomes = async (count: number, attempt: (index: number) => Parameters<Lockout['begin']>[0]) =>
  (await together(count, (index) => guard.begin(attempt(index)))).filter(({ outcome }) => outcome === 'allowed').length;

describe('brute force on one account', () => {
  test('locks the account after five attempts from any number of machines and in any spelling', async () => {
    const spellings = [login, login.toUpperCase(), ` ${login} `];
    const tried = await outcomes(30, (index) => ({ login: spellings[index % 3] ?? login, address: anywhere() }));
    expect(tried).toBe(5);
    expect(await guard.begin({ login, address: anywhere() })).toEqual({ outcome: 'wait', retryAfterSeconds: 30 });
    expect(await guard.lockedSeconds({ username: login, email: null })).toBe(30);
  });

  test('does not lock a known browser, and its sign-in gives an attacker no new attempts', async () => {
    await outcomes(30, () => ({ login, address: anywhere() }));
    const owner = { login, address: anywhere(), knownBrowser: `browser-${login}` };
    expect(await guard.begin(owner)).toEqual({ outcome: 'allowed' });
    await guard.succeeded(owner);
    expect(await guard.begin({ login, address: anywhere() })).toMatchObject({ outcome: 'wait' });
  });

  test('limits a known browser by its own counter', async () => {
    const stolen = () => ({ login, address: anywhere(), knownBrowser: `browser-${login}` });
    expect(await outcomes(30, stolen)).toBe(10);
    expect(await guard.begin({ login, address: anywhere() })).toEqual({ outcome: 'allowed' });
  });

  test('never locks an account for longer than 15 minutes', async () => {
    for (let index = 0; index < 40; index += 1) {
      const verdict = await guard.begin({ login, address: anywhere() });
      if (verdict.outcome !== 'wait') continue;
      expect(verdict.retryAfterSeconds).toBeLessThanOrEqual(900);
      people.clock.advance({ seconds: verdict.retryAfterSeconds });
    }
  });

  test('ends the lockout with the right password, and with an unlock by administrator or mail', async () => {
    await outcomes(4, () => ({ login, address: anywhere() }));
    await guard.begin({ login, address: anywhere() });
    await guard.succeeded({ login, address: anywhere() });
    expect(await outcomes(30, () => ({ login, address: anywhere() }))).toBe(5);
    await outcomes(30, () => ({ login: `${login}@example.com`, address: anywhere() }));
    await guard.unlock({ username: login.toUpperCase(), email: `${login}@example.com` });
    expect(await guard.begin({ login, address: anywhere() })).toEqual({ outcome: 'allowed' });
    expect(await guard.begin({ login: `${login}@example.com`, address: anywhere() })).toEqual({ outcome: 'allowed' });
  });
});

describe('credential stuffing from one machine', () => {
  test('rejects a machine after thirty failures over all accounts, which then locks no account any more', async () => {
    const address = anywhere();
    expect(await outcomes(60, (index) => ({ login: `${login}-${index}`, address }))).toBe(30);
    await outcomes(20, () => ({ login, address }));
    expect(await guard.lockedSeconds({ username: login, email: null })).toBe(0);
  });

  test('does not count successful sign-ins of an office that shares its address', async () => {
    const address = anywhere();
    for (let index = 0; index < 40; index += 1) {
      const attempt = { login: `${login}-${index}`, address };
      expect(await guard.begin(attempt)).toEqual({ outcome: 'allowed' });
      await guard.succeeded(attempt);
    }
  });

  test('counts all addresses of one IPv6 network together', () => {
    expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe(addressKey('2001:DB8:1:2::1'));
    expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8:1:3::1'));
    expect(addressKey('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(addressKey('unix socket')).toBe('unix socket');
  });
});

describe('the CAPTCHA', () => {
  const [solved, unsolved] = [async () => true, async () => false];

  test('is required after three failures, and not in a known browser', async () => {
    const attempt = () => ({ login, address: anywhere(), solvesCaptcha: unsolved });
    for (let index = 0; index < 3; index += 1) expect(await guard.begin(attempt())).toEqual({ outcome: 'allowed' });
    expect(await guard.begin(attempt())).toEqual({ outcome: 'captcha' });
    expect(await guard.needsCaptcha(attempt())).toBe(true);
    expect(await guard.begin({ ...attempt(), knownBrowser: `b-${login}` })).toEqual({ outcome: 'allowed' });
    expect(await guard.begin({ ...attempt(), solvesCaptcha: solved })).toEqual({ outcome: 'allowed' });
    expect(await rateLimits.count('sign-in:account', nameKey(login))).toBe(4);
  });

  test('is required after twenty failures of one machine over any names', async () => {
    const address = anywhere();
    const attempt = (index: number) => ({ login: `${login}-${index}`, address, solvesCaptcha: unsolved });
    for (let index = 0; index < 20; index += 1)
      expect(await guard.begin(attempt(index))).toEqual({ outcome: 'allowed' });
    expect(await guard.begin(attempt(20))).toEqual({ outcome: 'captcha' });
    expect(await guard.needsCaptcha({ login: '', address })).toBe(true);
  });

  test('is not required of a browser that has to wait in any case', async () => {
    let asked = 0;
    const solvesCaptcha = async () => {
      asked += 1;
      return true;
    };
    for (let index = 0; index < 5; index += 1) await guard.begin({ login, address: anywhere() });
    expect(await guard.begin({ login, address: anywhere(), solvesCaptcha })).toMatchObject({ outcome: 'wait' });
    expect(asked).toBe(0);
  });

  test('is the only effect of password spraying over the whole server', async () => {
    const full: RateLimits = {
      ...rateLimits,
      peek: async (policy, key) =>
        policy === 'sign-in:overall' ? { allowed: false, retryAfterSeconds: 60 } : rateLimits.peek(policy, key),
    };
    const sprayed = createLockout({ rateLimits: full });
    const attempt = { login, address: anywhere() };
    expect(await sprayed.begin({ ...attempt, solvesCaptcha: unsolved })).toEqual({ outcome: 'captcha' });
    expect(await sprayed.begin({ ...attempt, solvesCaptcha: solved })).toEqual({ outcome: 'allowed' });
    expect(await sprayed.begin(attempt)).toEqual({ outcome: 'allowed' });
  });
});
