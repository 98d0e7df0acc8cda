// A failed password check gives no account away by the time it takes. Measured times flake on a busy machine, so what
// takes the time is counted instead: each kind of failure computes one hash with the same parameters and runs the same
// statements. Where accounts hold dearer imported hashes, all failures end at the same full period (equal-time.ts).
import argon2 from 'argon2';
import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { createEqualTime } from '../../src/credentials/equal-time.ts';
import { CURRENT_PREFIX } from '../../src/credentials/password.ts';
import { together } from '../accounts/fixture.ts';
import { type CredentialsFixture, openCredentials } from './fixture.ts';

const password = 'a walk along the river';
const wrong = 'not the password, I fear';

let fixture: CredentialsFixture;
beforeAll(async () => {
  fixture = await openCredentials();
});
afterAll(() => fixture.close());

type Reason = 'wrong_password' | 'unknown_account' | 'no_password' | 'disabled_account';
interface Failure {
  name: string;
  account: Account | undefined;
  typed: string;
  reason: Reason;
}

/** Every way in which a check fails, each with an account of its own. */
async function failures(): Promise<Failure[]> {
  const [active, without, disabled] = await together(3, () => fixture.person());
  if (!active || !without || !disabled) throw new Error('three accounts are needed');
  await fixture.credentials.setPassword(active, password);
  await fixture.credentials.setPassword(disabled, password);
  await fixture.accounts.setActive(disabled.id, false);
  const find = (account: Account) => fixture.accounts.findByLogin(account.username);
  return [
    { name: 'a wrong password', account: await find(active), typed: wrong, reason: 'wrong_password' },
    { name: 'an unknown name', account: undefined, typed: wrong, reason: 'unknown_account' },
    { name: 'an account without password', account: await find(without), typed: wrong, reason: 'no_password' },
    { name: 'a disabled account', account: await find(disabled), typed: wrong, reason: 'wrong_password' },
    {
      name: 'a disabled account with the right password',
      account: await find(disabled),
      typed: password,
      reason: 'disabled_account',
    },
  ];
}

describe('a failed check', () => {
  it.each([
    ['as it is typed', wrong, wrong],
    ['in another Unicode form', 'ﬁve ﬂowers, I fear', 'five flowers, I fear'],
    ['longer than any password may be', 'x'.repeat(5000), ''],
  ])(
    'computes one hash with the current parameters and runs the same statements, for a password %s',
    async (_name, typed, hashed) => {
      const hash = vi.spyOn(argon2, 'verify');
      const query = vi.spyOn(fixture.sql, 'query');
      const kinds = (await failures()).filter(({ reason }) => reason !== 'disabled_account');
      const work = [];
      for (const { name, account } of kinds) {
        hash.mockClear();
        query.mockClear();
        const { outcome } = await fixture.credentials.checkPassword(account, typed);
        work.push({
          name,
          outcome,
          hashes: hash.mock.calls.map(([stored, plain]) => ({
            parameters: stored.slice(0, CURRENT_PREFIX.length),
            length: stored.length,
            plain: plain.toString(),
          })),
          statements: query.mock.calls.map(([statement]) => statement),
        });
      }
      const [{ hashes: expectedHashes, statements } = { hashes: [], statements: [] }] = work;
      expect(expectedHashes).toMatchObject([{ parameters: CURRENT_PREFIX, plain: hashed }]);
      expect(statements).toHaveLength(1);
      expect(work).toEqual(kinds.map(({ name }) => ({ name, outcome: 'wrong', hashes: expectedHashes, statements })));
    },
  );

  it('also does so for the right password of a disabled account', async () => {
    const hash = vi.spyOn(argon2, 'verify');
    const disabled = (await failures()).at(-1);
    const result = await fixture.credentials.checkPassword(disabled?.account, password);
    expect(result).toEqual({ outcome: 'wrong', reason: 'disabled_account' });
    expect(hash.mock.calls.map(([stored]) => stored.slice(0, CURRENT_PREFIX.length))).toEqual([CURRENT_PREFIX]);
  });

  it('waits for the end of a period as soon as one account has an imported hash', async () => {
    const imported = await fixture.person();
    await fixture.credentials.importHash(imported.id, bcrypt.hashSync(password, 11));
    const kinds: Failure[] = [
      ...(await failures()),
      { name: 'an imported hash', account: imported, typed: wrong, reason: 'wrong_password' },
    ];
    const took = await Promise.all(
      kinds.map(async ({ name, account, typed, reason }) => {
        const started = performance.now();
        const result = await fixture.credentials.checkPassword(account, typed);
        return { name, result, reason, milliseconds: performance.now() - started };
      }),
    );
    for (const { name, result, reason, milliseconds } of took) {
      expect(result, name).toEqual({ outcome: 'wrong', reason });
      // A check without the wait takes about 30 ms. The exact end of the period is tested below, without timers.
      expect(milliseconds, name).toBeGreaterThan(450);
    }
  });
});

describe('the wait', () => {
  /** A clock that goes forward by the work that is claimed, and by the sleep that is asked for. */
  function started(hasForeignHashes: boolean) {
    let now = 1_234.5;
    const time = createEqualTime({
      hasForeignHashes: async () => hasForeignHashes,
      elapsedMs: () => now,
      sleep: async (milliseconds) => {
        now += milliseconds;
      },
    });
    const failAfter = async (workMs: number, isForeign = false) => {
      const began = now;
      const check = time.begin();
      now += workMs;
      if (isForeign) check.markNonStandardHash();
      await check.fail();
      return now - began;
    };
    return { time, failAfter };
  }

  it.each([
    [0.5, 500],
    [30, 500],
    [120, 500],
    [499, 500],
    [501, 1000],
    [1700, 2000],
  ])('of a check of %d ms ends after %d ms', async (workMs, endMs) => {
    // Whole milliseconds: a timer does not know fractions.
    expect(Math.floor(await started(true).failAfter(workMs))).toBe(endMs);
  });

  it('is none while all hashes cost the same, and begins with an import', async () => {
    const { time, failAfter } = started(false);
    expect(await failAfter(30)).toBe(30);
    time.imported();
    expect(await failAfter(30)).toBe(500);
  });

  it('takes longer periods once an imported hash has needed most of one, up to four seconds', async () => {
    const { failAfter } = started(true);
    expect(await failAfter(450, true)).toBe(1000);
    expect(await failAfter(30)).toBe(1000);
    expect(await failAfter(3900, true)).toBe(4000);
    expect(await failAfter(30)).toBe(4000);
  });
});
