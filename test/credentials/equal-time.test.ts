// A failed password check gives no account away by the time it takes. Measured times flake on a busy machine, so what
// takes the time is counted instead: each kind of failure computes the same hashes, with the same parameters, and runs the same
// statements. Imported hashes cost more; then every failure does the work of the most expensive of each scheme (people/credentials/hash-work.ts).

import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import argon2 from 'argon2';
import bcrypt from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import type { Account } from '../../src/people/accounts/account.ts';
import { createBreached } from '../../src/people/credentials/breached.ts';
import { createCredentials } from '../../src/people/credentials/credentials.ts';
import { parseArgon2, verifyDerived } from '../../src/people/credentials/imported-hash.ts';
import { CURRENT_PREFIX, createPasswords } from '../../src/people/credentials/password.ts';
import { abandonSignIns } from '../../src/sign-in/attempts.ts';
import { together } from '../accounts/fixture.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';
import { type CredentialsFixture, openCredentials } from './fixture.ts';

const password = 'a walk along the river';
const wrong = 'not the password, I fear';

const derive = vi.fn(verifyDerived);
let fixture: CredentialsFixture;
beforeEach(async () => {
  fixture = await openCredentials({ derive });
});
afterEach(() => fixture.close());

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

/** Hashes of other systems: two of most schemes, one dearer than the other. */
const b64 = (data: Buffer) => data.toString('base64').replace(/=+$/, '');
const salt = Buffer.from('0123456789abcdef');
const pbkdf2 = (rounds: number) => (plain: string) =>
  `$pbkdf2-sha256$i=${rounds}$${b64(salt)}$${b64(pbkdf2Sync(plain, salt, rounds, 32, 'sha256'))}`;
const scrypt = (log: number) => (plain: string) =>
  `$scrypt$ln=${log},r=8,p=1$${b64(salt)}$${b64(scryptSync(plain, salt, 32, { N: 2 ** log, r: 8, p: 1 }))}`;
const argon2Of = (timeCost: number) => (plain: string) =>
  argon2.hash(plain, { type: argon2.argon2id, memoryCost: 4096, timeCost, parallelism: 1 });
const makers: [string, (plain: string) => Promise<string> | string][] = [
  ['bcrypt at cost 4', (plain) => bcrypt.hashSync(plain, 4)],
  ['bcrypt at cost 7', (plain) => bcrypt.hashSync(plain, 7)],
  ['PBKDF2 of 10,000 rounds', pbkdf2(10_000)],
  ['PBKDF2 of 30,000 rounds', pbkdf2(30_000)],
  ['scrypt at 2^12', scrypt(12)],
  ['scrypt at 2^13', scrypt(13)],
  ['Argon2 of one pass', argon2Of(1)],
  ['Argon2 of three passes', argon2Of(3)],
];

/** Counts the hashes that are computed until `take`: for each scheme the sum of what its time is proportional to. */
function countWork(): { take(): Record<string, number> } {
  const argon2Calls = vi.spyOn(argon2, 'verify').mock;
  const derivations = derive.mock;
  const tasks = vi.spyOn(Worker.prototype, 'postMessage').mock;
  const take = () => {
    const sums: Record<string, number> = {};
    const add = (scheme: string, units: number) => {
      sums[scheme] = (sums[scheme] ?? 0) + units;
    };
    for (const [stored] of argon2Calls.calls.splice(0)) {
      const { memoryKib = 0, iterations = 0 } = parseArgon2(stored) ?? {};
      add(`argon2 ${memoryKib}`, iterations);
    }
    for (const [hash] of derivations.calls.splice(0)) {
      if (hash.scheme === 'scrypt') add('scrypt', hash.cost);
      else add('pbkdf2', hash.iterations);
    }
    for (const [{ task }] of tasks.calls.splice(0) as [{ task: { hash?: string; passwords: string[] } }][]) {
      // The strength meter has a worker too.
      if (task.hash) add('bcrypt', 2 ** Number(task.hash.slice(4, 6)) * task.passwords.length);
    }
    return sums;
  };
  take();
  return { take };
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

  it('does the same work for the right password of a disabled account', async () => {
    const hash = vi.spyOn(argon2, 'verify');
    const disabled = (await failures()).at(-1);
    const result = await fixture.credentials.checkPassword(disabled?.account, password);
    expect(result).toEqual({ outcome: 'wrong', reason: 'disabled_account', isInactive: true });
    expect(hash.mock.calls.map(([stored]) => stored.slice(0, CURRENT_PREFIX.length))).toEqual([CURRENT_PREFIX]);
  });

  it('does the work of every kind of imported hash, whatever the account has', async () => {
    const work = countWork();
    const kinds = await failures();
    for (const [name, make] of makers) {
      const account = await fixture.person();
      await fixture.credentials.importHash(account.id, await make(password));
      kinds.push({ name, account, typed: wrong, reason: 'wrong_password' });
    }
    // The dearest of each scheme, and the hash that every check computes.
    const expected = { 'argon2 19456': 2, 'argon2 4096': 3, bcrypt: 128, pbkdf2: 30_000, scrypt: 8192 };
    work.take();
    for (const { name, account, typed, reason } of kinds) {
      const answer = await fixture.credentials.checkPassword(account, typed);
      expect(answer, name).toMatchObject({ outcome: 'wrong', reason });
      expect(work.take(), name).toEqual(expected);
    }
  });

  it('does so on another instance from its first check on, and at any time after the import', async () => {
    const second = await openDatabase(fixture.url);
    second.protect(fixture.db.macs);
    const passwords = createPasswords({ derive });
    const other = createCredentials({
      ...servicesOf({ ...fixture, ...second, settings: fixedSettings() }),
      passwords,
      breached: createBreached({ ...servicesOf({ logger: fixture.logger }), strength: fixture.strength }),
      hasSecondFactor: async () => false,
      abandonSignIns,
      endAppPasswords: async () => {},
      serviceNames: () => [],
    });
    const work = countWork();
    await other.checkPassword(undefined, wrong);
    const first = work.take();
    const imported = await fixture.person();
    await fixture.credentials.importHash(imported.id, bcrypt.hashSync(password, 8));
    await other.checkPassword(undefined, wrong);
    const unknown = work.take();
    await other.checkPassword(imported, wrong);
    expect(work.take()).toEqual(unknown);
    expect(unknown).toEqual({ ...first, bcrypt: 256 });
    await passwords.close();
    await second.close();
  });
});
