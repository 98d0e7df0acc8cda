// The phone number for codes by SMS: it is stored when a code that was sent to it comes back.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../src/people/accounts/account.ts';
import { maskNumber, phoneNumber } from '../../src/people/mfa/factors/phone-number.ts';
import { type FactorsFixture, openFactors } from './fixture.ts';

let fixture: FactorsFixture;
let account: Account;
beforeAll(async () => {
  fixture = await openFactors();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  account = await fixture.person();
});

const NUMBER = '+491701234567';
const numberOf = async () => (await fixture.factors.of(account.id)).phone;

describe('a phone number', () => {
  test('is stored when its code comes back, and audited without the full number', async () => {
    const { sealed, code } = await fixture.phones.begin(account.id, NUMBER);
    expect(await numberOf()).toBeUndefined();
    expect(fixture.phones.resume(account.id, sealed)).toBe(NUMBER);
    expect(await fixture.phones.confirm(account.id, sealed, code, { actorId: account.id })).toBe('ok');
    expect(await numberOf()).toBe(NUMBER);
    const [event] = await fixture.audit.list({ subjectId: account.id, types: ['phone.confirmed'] });
    expect(event).toMatchObject({ actorId: account.id, outcome: 'success' });
    expect(JSON.stringify(event)).not.toContain(NUMBER);
  });

  test('is not verified by a code that was sent to another number', async () => {
    const foreign = await fixture.phones.begin(account.id, '+15550100');
    const own = await fixture.phones.begin(account.id, NUMBER);
    expect(await fixture.phones.confirm(account.id, foreign.sealed, own.code)).toBe('wrong');
    expect(await numberOf()).toBeUndefined();
  });

  test('is not accepted from the form of another account, or from an expired one', async () => {
    const other = await fixture.person();
    const { sealed, code } = await fixture.phones.begin(other.id, NUMBER);
    expect(await fixture.phones.confirm(account.id, sealed, code)).toBe('expired');
    const old = await fixture.phones.begin(account.id, NUMBER);
    fixture.clock.advance({ minutes: 10 });
    expect(await fixture.phones.confirm(account.id, old.sealed, old.code)).toBe('expired');
  });

  test('is deleted by a removal, and by a reset of all factors', async () => {
    const prove = async () => {
      const { sealed, code } = await fixture.phones.begin(account.id, NUMBER);
      await fixture.phones.confirm(account.id, sealed, code);
    };
    await prove();
    expect(await fixture.phones.remove(account.id)).toBe(true);
    expect(await fixture.phones.remove(account.id)).toBe(false);
    await prove();
    await fixture.factors.reset(account.id);
    expect(await numberOf()).toBeUndefined();
  });

  test.each([
    ['+49 170 123-4567', NUMBER],
    ['0049 (170) 1234567', NUMBER],
    ['+49/170/1234567', NUMBER],
    ['0170 1234567', undefined],
    ['+0170', undefined],
    ['+49170123456789012', undefined],
    ['call me', undefined],
    ['', undefined],
  ])('is read from %j as %s', (typed, expected) => {
    expect(phoneNumber(typed)).toBe(expected);
  });

  test('is displayed in part only', () => {
    expect(maskNumber(NUMBER)).toBe('+49•••••67');
  });
});
