import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nameKey } from '../../src/accounts/names.ts';
import { randomId } from '../../src/platform/random.ts';
import { createRateLimits, type RateLimits } from '../../src/rate-limits/rate-limits.ts';
import { addressKey, createSignInGuard, type SignInGuard } from '../../src/rate-limits/sign-in-guard.ts';
import { openPeople, type People, together } from '../accounts/people.ts';

let people: People;
let rateLimits: RateLimits;
let guard: SignInGuard;
let login: string;
beforeAll(async () => {
  people = await openPeople();
  rateLimits = createRateLimits(people);
  guard = createSignInGuard({ rateLimits });
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
const outcomes = async (count: number, attempt: (index: number) => Parameters<SignInGuard['begin']>[0]) =>
  (await together(count, (index) => guard.begin(attempt(index)))).filter(({ outcome }) => outcome === 'go').length;

describe('guessing the password of one account', () => {
  test('stops after five attempts from however many machines, in whatever spelling', async () => {
    const spellings = [login, login.toUpperCase(), ` ${login} `];
    const tried = await outcomes(30, (index) => ({ login: spellings[index % 3] ?? login, address: anywhere() }));
    expect(tried).toBe(5);
    expect(await guard.begin({ login, address: anywhere() })).toEqual({ outcome: 'wait', retryAfterSeconds: 30 });
    expect(await guard.lockedSeconds(login)).toBe(30);
  });

  test('does not lock the owner out of a known browser, nor give the attacker new tries when they sign in', async () => {
    await outcomes(30, () => ({ login, address: anywhere() }));
    const owner = { login, address: anywhere(), knownBrowser: `browser-${login}` };
    expect(await guard.begin(owner)).toEqual({ outcome: 'go' });
    await guard.succeeded(owner);
    expect(await guard.begin({ login, address: anywhere() })).toMatchObject({ outcome: 'wait' });
  });

  test('is limited in a known browser, too, by a count of its own', async () => {
    const stolen = () => ({ login, address: anywhere(), knownBrowser: `browser-${login}` });
    expect(await outcomes(30, stolen)).toBe(10);
    expect(await guard.begin({ login, address: anywhere() })).toEqual({ outcome: 'go' });
  });

  test('never makes anybody wait longer than a quarter of an hour', async () => {
    for (let index = 0; index < 40; index += 1) {
      const verdict = await guard.begin({ login, address: anywhere() });
      if (verdict.outcome !== 'wait') continue;
      expect(verdict.retryAfterSeconds).toBeLessThanOrEqual(900);
      people.clock.advance({ seconds: verdict.retryAfterSeconds });
    }
  });

  test('ends with the right password, and with an unlock by admin or mail', async () => {
    await outcomes(4, () => ({ login, address: anywhere() }));
    await guard.begin({ login, address: anywhere() });
    await guard.succeeded({ login, address: anywhere() });
    expect(await outcomes(30, () => ({ login, address: anywhere() }))).toBe(5);
    await outcomes(30, () => ({ login: `${login}@example.com`, address: anywhere() }));
    await guard.unlock({ username: login.toUpperCase(), email: `${login}@example.com` });
    expect(await guard.begin({ login, address: anywhere() })).toEqual({ outcome: 'go' });
    expect(await guard.begin({ login: `${login}@example.com`, address: anywhere() })).toEqual({ outcome: 'go' });
  });
});

describe('stuffing from one machine', () => {
  test('stops after thirty failures over all accounts, and then locks no account any more', async () => {
    const address = anywhere();
    expect(await outcomes(60, (index) => ({ login: `${login}-${index}`, address }))).toBe(30);
    await outcomes(20, () => ({ login, address }));
    expect(await guard.lockedSeconds(login)).toBe(0);
  });

  test('does not count those who got in: an office shares its address', async () => {
    const address = anywhere();
    for (let index = 0; index < 40; index += 1) {
      const attempt = { login: `${login}-${index}`, address };
      expect(await guard.begin(attempt)).toEqual({ outcome: 'go' });
      await guard.succeeded(attempt);
    }
  });

  test('sees through the addresses of one IPv6 customer', () => {
    expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe(addressKey('2001:DB8:1:2::1'));
    expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8:1:3::1'));
    expect(addressKey('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(addressKey('unix socket')).toBe('unix socket');
  });
});

describe('the CAPTCHA, where there is one', () => {
  const [solved, unsolved] = [async () => true, async () => false];

  test('is asked for after three failures, and not at a known browser', async () => {
    const attempt = () => ({ login, address: anywhere(), solvesCaptcha: unsolved });
    for (let index = 0; index < 3; index += 1) expect(await guard.begin(attempt())).toEqual({ outcome: 'go' });
    expect(await guard.begin(attempt())).toEqual({ outcome: 'captcha' });
    expect(await guard.wantsCaptcha(attempt())).toBe(true);
    expect(await guard.begin({ ...attempt(), knownBrowser: `b-${login}` })).toEqual({ outcome: 'go' });
    expect(await guard.begin({ ...attempt(), solvesCaptcha: solved })).toEqual({ outcome: 'go' });
    expect(await rateLimits.count('sign-in:account', nameKey(login))).toBe(4);
  });

  test('is asked for after twenty failures of one machine, whatever the names', async () => {
    const address = anywhere();
    const attempt = (index: number) => ({ login: `${login}-${index}`, address, solvesCaptcha: unsolved });
    for (let index = 0; index < 20; index += 1) expect(await guard.begin(attempt(index))).toEqual({ outcome: 'go' });
    expect(await guard.begin(attempt(20))).toEqual({ outcome: 'captcha' });
    expect(await guard.wantsCaptcha({ login: '', address })).toBe(true);
  });

  test('is not asked of those who have to wait in any case', async () => {
    let asked = 0;
    const solvesCaptcha = async () => {
      asked += 1;
      return true;
    };
    for (let index = 0; index < 5; index += 1) await guard.begin({ login, address: anywhere() });
    expect(await guard.begin({ login, address: anywhere(), solvesCaptcha })).toMatchObject({ outcome: 'wait' });
    expect(asked).toBe(0);
  });

  test('is all that spraying over the whole server brings about: nobody is refused', async () => {
    const full: RateLimits = {
      ...rateLimits,
      peek: async (policy, key) =>
        policy === 'sign-in:overall' ? { allowed: false, retryAfterSeconds: 60 } : rateLimits.peek(policy, key),
    };
    const sprayed = createSignInGuard({ rateLimits: full });
    const attempt = { login, address: anywhere() };
    expect(await sprayed.begin({ ...attempt, solvesCaptcha: unsolved })).toEqual({ outcome: 'captcha' });
    expect(await sprayed.begin({ ...attempt, solvesCaptcha: solved })).toEqual({ outcome: 'go' });
    expect(await sprayed.begin(attempt)).toEqual({ outcome: 'go' });
  });
});
