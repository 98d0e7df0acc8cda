import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomId } from '../../src/base/platform/random.ts';
import { nameKey } from '../../src/people/accounts/names.ts';
import { createAttemptCounters } from '../../src/people/rate-limits/attempt-counters.ts';
import { createLockout, type Lockout, type PasswordAttempt } from '../../src/people/rate-limits/lockout.ts';
import { addressBlock, policies, siteBlock } from '../../src/people/rate-limits/policies.ts';
import { createRateLimits, type RateLimits } from '../../src/people/rate-limits/rate-limits.ts';
import { createSignInQueue } from '../../src/people/rate-limits/sign-in-queue.ts';
import { openPeople, type People, together } from '../accounts/fixture.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let rateLimits: RateLimits;
let guard: Lockout;
let login: string;
const lockoutWith = (limits: RateLimits) =>
  createLockout({
    rateLimits: limits,
    counters: createAttemptCounters(servicesOf(people)),
    queue: createSignInQueue(),
  });
beforeAll(async () => {
  people = await openPeople();
  rateLimits = createRateLimits(servicesOf(people));
  guard = lockoutWith(rateLimits);
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
/** An attempt with a wrong password, and one with the right password. */
const wrong = (attempt: PasswordAttempt) => failSignIn(guard, attempt);
const right = (attempt: PasswordAttempt) => guard.attempt(attempt, async () => ({ isRight: true }));
const checked = { outcome: 'checked' };
/** How many of so many attempts at the same moment, with wrong passwords, have their password checked. */
const outcomes = async (count: number, attempt: (index: number) => PasswordAttempt) =>
  (await together(count, (index) => wrong(attempt(index)))).filter(({ outcome }) => outcome === 'checked').length;
const lockedSeconds = (username: string) => guard.lockedSeconds({ id: 'none', username, email: null });

describe('brute force on one account', () => {
  test('locks the account after five attempts from any number of machines and in any spelling', async () => {
    const spellings = [login, login.toUpperCase(), ` ${login} `];
    const tried = await outcomes(30, (index) => ({ login: spellings[index % 3] ?? login, address: anywhere() }));
    expect(tried).toBe(5);
    expect(await wrong({ login, address: anywhere() })).toEqual({ outcome: 'wait', retryAfterSeconds: 30 });
    expect(await lockedSeconds(login)).toBe(30);
  });

  test('does not lock a known browser, and its sign-in gives an attacker no new attempts', async () => {
    await outcomes(30, () => ({ login, address: anywhere() }));
    const owner = { login, address: anywhere(), knownBrowser: `browser-${login}` };
    expect(await right(owner)).toMatchObject(checked);
    expect(await wrong({ login, address: anywhere() })).toMatchObject({ outcome: 'wait' });
  });

  test('limits a known browser by its own counter', async () => {
    const stolen = () => ({ login, address: anywhere(), knownBrowser: `browser-${login}` });
    expect(await outcomes(30, stolen)).toBe(10);
    expect(await wrong({ login, address: anywhere() })).toMatchObject(checked);
  });

  test('never locks an account for longer than 15 minutes', async () => {
    for (let index = 0; index < 40; index += 1) {
      const decision = await wrong({ login, address: anywhere() });
      if (decision.outcome !== 'wait') continue;
      expect(decision.retryAfterSeconds).toBeLessThanOrEqual(900);
      people.clock.advance({ seconds: decision.retryAfterSeconds });
    }
  });

  test('ends the lockout with the right password, and with an unlock by administrator or mail', async () => {
    await outcomes(4, () => ({ login, address: anywhere() }));
    await right({ login, address: anywhere() });
    expect(await outcomes(30, () => ({ login, address: anywhere() }))).toBe(5);
    await outcomes(30, () => ({ login: `${login}@example.com`, address: anywhere() }));
    await guard.unlock({ id: 'none', username: login.toUpperCase(), email: `${login}@example.com` });
    expect(await wrong({ login, address: anywhere() })).toMatchObject(checked);
    expect(await wrong({ login: `${login}@example.com`, address: anywhere() })).toMatchObject(checked);
  });
});

describe('the username and the email address of one account', () => {
  /** An attempt under one of the names; whether the password itself was checked, and what the response was. */
  const tryAs = async (name: string, accountId: string | undefined, isRight = false) => {
    let isPasswordChecked = false;
    const decision = await guard.attempt({ login: name, accountId, address: anywhere() }, async (isLocked) => {
      isPasswordChecked = !isLocked;
      return { isRight: isRight && !isLocked };
    });
    return { isPasswordChecked, outcome: decision.outcome, isRight: 'result' in decision && decision.result.isRight };
  };

  test('share one count of wrong guesses', async () => {
    const id = `account-${login}`;
    const tries = [];
    for (let index = 0; index < 9; index += 1) tries.push(await tryAs(index % 2 ? login : `${login}@example.com`, id));
    expect(tries.filter(({ isPasswordChecked }) => isPasswordChecked)).toHaveLength(5);
    expect(await guard.lockedSeconds({ id, username: 'another', email: null })).toBe(30);
    expect(await tryAs(login, id, true)).toMatchObject({ isRight: false });
    people.clock.advance({ seconds: 30 });
    expect(await tryAs(login, id, true)).toMatchObject({ isRight: true });
    expect(await guard.lockedSeconds({ id, username: 'another', email: null })).toBe(0);
  });

  test('get the same responses as two names that no account has', async () => {
    const responses = async (id: string | undefined, name: string) => {
      const names = [...Array(6).fill(name), ...Array(6).fill(`${name}@example.com`)];
      const outcomesOfNames = [];
      for (const one of names) outcomesOfNames.push((await tryAs(one, id)).outcome);
      return outcomesOfNames;
    };
    const expected = [...Array(5).fill('checked'), 'wait', ...Array(5).fill('checked'), 'wait'];
    expect(await responses(`account-${login}`, login)).toEqual(expected);
    expect(await responses(undefined, `${login}-unknown`)).toEqual(expected);
  });

  test('are unlocked together', async () => {
    const account = { id: `account-${login}`, username: login, email: `${login}@example.com` };
    for (let index = 0; index < 5; index += 1) await tryAs(login, account.id);
    await guard.unlock(account);
    expect(await tryAs(account.email, account.id, true)).toMatchObject({ isRight: true });
  });
});

describe('credential stuffing from one machine', () => {
  test('rejects a machine after thirty failures over all accounts, which then locks no account any more', async () => {
    const address = anywhere();
    expect(await outcomes(60, (index) => ({ login: `${login}-${index}`, address }))).toBe(30);
    await outcomes(20, () => ({ login, address }));
    expect(await lockedSeconds(login)).toBe(0);
  });

  test('rejects an IPv6 network of 48 bits after twenty times as many', async () => {
    const { points } = policies['sign-in:site'];
    await together(points - 1, () => rateLimits.consume('sign-in:site', siteBlock('2001:db8:5::')));
    const from = (network: number) => ({ login: randomId(), address: `2001:db8:5:${network}::1` });
    expect(await right(from(1))).toMatchObject(checked);
    expect(await wrong(from(2))).toMatchObject(checked);
    expect(await wrong(from(3))).toMatchObject({ outcome: 'wait' });
    expect(await wrong({ ...from(3), address: '2001:db8:6:3::1' })).toMatchObject(checked);
  });

  test('does not count successful sign-ins of an office that shares its address', async () => {
    const address = anywhere();
    for (let index = 0; index < 40; index += 1) {
      expect(await right({ login: `${login}-${index}`, address })).toMatchObject(checked);
    }
  });

  test('counts all addresses of one IPv6 network together', () => {
    expect(addressBlock('2001:db8:1:2:3:4:5:6')).toBe(addressBlock('2001:DB8:1:2::1'));
    expect(addressBlock('2001:db8:1:2::1')).not.toBe(addressBlock('2001:db8:1:3::1'));
    expect(addressBlock('::ffff:192.0.2.1')).toBe('192.0.2.1');
    expect(addressBlock('unix socket')).toBe('unix socket');
  });
});

describe('the CAPTCHA', () => {
  const [solved, unsolved] = [async () => true, async () => false];

  test('is required after three failures, and not in a known browser', async () => {
    const attempt = () => ({ login, address: anywhere(), solvesCaptcha: unsolved });
    for (let index = 0; index < 3; index += 1) expect(await wrong(attempt())).toMatchObject(checked);
    expect(await wrong(attempt())).toEqual({ outcome: 'captcha' });
    expect(await guard.needsCaptcha(attempt())).toBe(true);
    expect(await wrong({ ...attempt(), knownBrowser: `b-${login}` })).toMatchObject(checked);
    expect(await wrong({ ...attempt(), solvesCaptcha: solved })).toMatchObject(checked);
    expect(await rateLimits.count('sign-in:account', nameKey(login))).toBe(4);
  });

  test('is required after twenty failures of one machine over any names', async () => {
    const address = anywhere();
    const attempt = (index: number) => ({ login: `${login}-${index}`, address, solvesCaptcha: unsolved });
    for (let index = 0; index < 20; index += 1) expect(await wrong(attempt(index))).toMatchObject(checked);
    expect(await wrong(attempt(20))).toEqual({ outcome: 'captcha' });
    expect(await guard.needsCaptcha({ login: '', address })).toBe(true);
  });

  test('is not required of a browser that has to wait in any case', async () => {
    let required = 0;
    const solvesCaptcha = async () => {
      required += 1;
      return true;
    };
    for (let index = 0; index < 5; index += 1) await wrong({ login, address: anywhere() });
    expect(await wrong({ login, address: anywhere(), solvesCaptcha })).toMatchObject({ outcome: 'wait' });
    expect(required).toBe(0);
  });

  test('is the only effect of password spraying over the whole server', async () => {
    const full: RateLimits = {
      ...rateLimits,
      peek: async (policy, key) =>
        policy === 'sign-in:overall' ? { allowed: false, retryAfterSeconds: 60 } : rateLimits.peek(policy, key),
    };
    const sprayed = lockoutWith(full);
    const attempt = { login, address: anywhere() };
    expect(await failSignIn(sprayed, { ...attempt, solvesCaptcha: unsolved })).toEqual({ outcome: 'captcha' });
    expect(await failSignIn(sprayed, { ...attempt, solvesCaptcha: solved })).toMatchObject(checked);
    expect(await failSignIn(sprayed, attempt)).toMatchObject(checked);
  });
});
