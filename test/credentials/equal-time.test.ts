// Seed 5.7 and issue: unknown user and wrong password differ in nothing, time included. Measured, over many tries, by
// the chance that a try of one kind takes longer than a try of another: 0.5 when nobody can tell them apart.
import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { type CredentialsFixture, openCredentials } from './fixture.ts';

const ROUNDS = 60;
const password = 'a walk along the river';

let fixture: CredentialsFixture;
beforeAll(async () => {
  fixture = await openCredentials();
});
afterAll(() => fixture.close());

type Kind = [name: string, login: () => Promise<Account | undefined>, typed: string];

/** Milliseconds of each try, the kinds taking turns so that the noise of the machine falls on all alike. */
async function measure(kinds: Kind[], rounds: number): Promise<Map<string, number[]>> {
  const times = new Map(kinds.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, login, typed] of kinds) {
      const started = performance.now();
      const { outcome } = await fixture.credentials.checkPassword(await login(), typed);
      times.get(name)?.push(performance.now() - started);
      expect(outcome).toBe('wrong');
    }
  }
  return times;
}

/** The share of pairs in which `one` took longer than `other`. */
function longer(one: number[], other: number[]): number {
  const wins = one.flatMap((a) => other.map((b): number => (a > b ? 1 : a === b ? 0.5 : 0)));
  return wins.reduce((sum, win) => sum + win, 0) / wins.length;
}

function expectAlike(times: Map<string, number[]>, most: number): void {
  const [[first, reference = []] = ['', []], ...others] = [...times];
  for (const [name, measured] of others) {
    const share = longer(measured, reference);
    expect(Math.abs(share - 0.5), `${name} beside ${first}: ${share.toFixed(2)}`).toBeLessThan(most);
  }
}

function kindsOf(login: string, withoutPassword: string, disabled: string): Kind[] {
  const find = (name: string) => () => fixture.accounts.findByLogin(name);
  return [
    ['a wrong password', find(login), 'not the password, I fear'],
    ['an unknown name', find('nobody-of-this-name'), 'not the password, I fear'],
    ['an account without password', find(withoutPassword), 'not the password, I fear'],
    ['a disabled account', find(disabled), 'not the password, I fear'],
    ['a disabled account with the right password', find(disabled), password],
  ];
}

describe('a failed check takes the same time', () => {
  // What a busy machine does to a few tries is no leak: a leak shows every time.
  test('for every kind of account, by what is computed', { timeout: 300_000, retry: 3 }, async () => {
    const account = await fixture.person();
    await fixture.credentials.setPassword(account, password);
    const none = await fixture.person();
    const disabled = await fixture.person();
    await fixture.credentials.setPassword(disabled, password);
    await fixture.accounts.setActive(disabled.id, false);

    const kinds = kindsOf(account.username, none.username, disabled.username);
    await measure(kinds, 3);
    // Of 60 tries each, the share of two equal kinds strays by 0.05; four times that is chance no more.
    expectAlike(await measure(kinds, ROUNDS), 0.2);
  });

  test('also beside accounts whose imported hash costs ten times as much, by waiting', {
    timeout: 300_000,
    retry: 5,
  }, async () => {
    const account = await fixture.person();
    await fixture.credentials.setPassword(account, password);
    const imported = await fixture.person();
    await fixture.credentials.importHash(imported.id, bcrypt.hashSync(password, 11));
    const disabled = await fixture.person();
    await fixture.credentials.importHash(disabled.id, bcrypt.hashSync(password, 11));
    await fixture.accounts.setActive(disabled.id, false);

    const kinds: Kind[] = [
      ...kindsOf(account.username, 'nobody-at-all', disabled.username),
      ['a wrong password for an imported hash', () => fixture.accounts.findByLogin(imported.username), 'wrong'],
    ];
    await measure(kinds, 1);
    const times = await measure(kinds, 4);
    for (const [name, measured] of times) {
      // All wait for the end of the same half second; what is left is the timer and the noise of the machine.
      expect(Math.min(...measured), name).toBeGreaterThanOrEqual(499);
      const least = Math.min(...measured.map((milliseconds) => milliseconds % 500));
      expect(least, `${name}: ${measured.map(Math.round).join(' ')}`).toBeLessThan(250);
    }
  });
});
