// Many password attempts at the same moment, on two instances that share a database. Only failures count, and parallel
// guesses get no more tries than sequential ones.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomId } from '../../src/base/platform/random.ts';
import { type Database, openDatabase } from '../../src/base/storage/database.ts';
import { createAttemptCounters } from '../../src/people/rate-limits/attempt-counters.ts';
import { createLockout, type Lockout, type PasswordAttempt } from '../../src/people/rate-limits/lockout.ts';
import { createRateLimits } from '../../src/people/rate-limits/rate-limits.ts';
import { createSignInQueue } from '../../src/people/rate-limits/sign-in-queue.ts';
import { openPeople, type People, together } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

const MANY = 200;
let people: People;
let second: Database;
let instances: Lockout[];
let login: string;
let address: string;
let machines = 0;

/** An instance, whose attempts wait as long as it takes: what they wait for is the end of others, not time. */
function instance({ db, sql }: Pick<Database, 'db' | 'sql'>): Lockout {
  const after = (milliseconds: number, work: () => void) => {
    const timeout = milliseconds >= 5000 ? undefined : setTimeout(work, 20);
    return () => clearTimeout(timeout);
  };
  const parts = { db, sql, now: people.now };
  return createLockout({
    rateLimits: createRateLimits(servicesOf(parts)),
    counters: createAttemptCounters(servicesOf(parts)),
    queue: createSignInQueue({ after }),
  });
}

beforeAll(async () => {
  people = await openPeople();
  second = await openDatabase(people.url);
  instances = [instance(people), instance(second)];
});
afterAll(async () => {
  await second.close();
  await people.close();
});
beforeEach(() => {
  machines += 1;
  login = `user-${randomId()}`;
  address = `198.18.0.${machines}`;
});

/** Many attempts at once, each on another instance than the one before. The CAPTCHA is never solved. */
async function attempts(isRight: boolean, attempt: (index: number) => PasswordAttempt) {
  const results = await together(MANY, (index) => {
    const instanceOfTurn = instances[index % instances.length] as Lockout;
    return instanceOfTurn.attempt({ solvesCaptcha: async () => false, ...attempt(index) }, async () => {
      await new Promise(setImmediate);
      return { isRight };
    });
  });
  const count = (outcome: string) => results.filter((decision) => decision.outcome === outcome).length;
  return { checked: count('checked'), captcha: count('captcha') };
}

describe('two hundred sign-ins at once', () => {
  test('need no CAPTCHA and are all checked when they come from one address and are right', async () => {
    const result = await attempts(true, (index) => ({ login: `${login}-${index}`, address }));
    expect(result).toEqual({ checked: MANY, captcha: 0 });
    expect(await instances[0]?.needsCaptcha({ login: '', address })).toBe(false);
  });

  test('need no CAPTCHA and are all checked when they are of one account and right', async () => {
    expect(await attempts(true, () => ({ login, address }))).toEqual({ checked: MANY, captcha: 0 });
  });

  test('are checked twenty times before a CAPTCHA is needed when they come from one address and are wrong', async () => {
    const result = await attempts(false, (index) => ({ login: `${login}-${index}`, address }));
    expect(result).toEqual({ checked: 20, captcha: MANY - 20 });
  });

  test('are checked three times before a CAPTCHA is needed when they are of one account and wrong', async () => {
    const result = await attempts(false, (index) => ({ login, address: `198.19.${machines}.${index}` }));
    expect(result).toEqual({ checked: 3, captcha: MANY - 3 });
  });

  test('are checked five times before the lockout when they are of one account and wrong, each with a CAPTCHA', async () => {
    const solvesCaptcha = async () => true;
    const result = await attempts(false, (index) => ({ login, address: `198.19.${machines}.${index}`, solvesCaptcha }));
    expect(result).toEqual({ checked: 5, captcha: 0 });
  });

  test('are checked ten times when they come from a known browser and are wrong', async () => {
    const result = await attempts(false, () => ({ login, address, knownBrowser: `browser-${login}` }));
    expect(result.checked).toBe(10);
  });
});

describe('an attempt that its server never decides', () => {
  /** As after kill -9: the password is checked, and no result is recorded. */
  function abandon(attempt: PasswordAttempt): Promise<void> {
    return new Promise((begun) => {
      void instances[0]?.attempt({ solvesCaptcha: async () => false, ...attempt }, () => {
        begun();
        return new Promise<never>(() => undefined);
      });
    });
  }

  test('counts as a failure half a minute later, on every instance', async () => {
    const attempt = { login, address, solvesCaptcha: async () => false };
    for (let index = 0; index < 3; index += 1) await abandon(attempt);
    const other = instances[1] as Lockout;
    expect(await other.needsCaptcha(attempt)).toBe(false);
    people.clock.advance({ seconds: 31 });
    expect(await other.needsCaptcha(attempt)).toBe(true);
    expect(await other.attempt(attempt, async () => ({ isRight: true }))).toEqual({ outcome: 'captcha' });
  });

  test('is not counted when its check failed because of a server fault', async () => {
    const [one] = instances as [Lockout];
    const attempt = { login, address };
    const error = new Error('the worker thread ended');
    for (let index = 0; index < 8; index += 1)
      await expect(one.attempt(attempt, () => Promise.reject(error))).rejects.toThrow(error);
    expect(await one.attempt(attempt, async () => ({ isRight: true }))).toMatchObject({ outcome: 'checked' });
  });
});
