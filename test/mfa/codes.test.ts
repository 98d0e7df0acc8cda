// Recovery codes, and codes by email and SMS.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createVault } from '../../src/base/platform/vault.ts';
import type { Account } from '../../src/people/accounts/account.ts';
import { createRecoveryCodes } from '../../src/people/mfa/factors/recovery-codes.ts';
import { together } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';
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

const first = ([code]: string[]) => code ?? '';
const HERE = 'ann@example.com';

describe('recovery codes', () => {
  test('are ten, readable, and stored as hashes', async () => {
    const codes = await fixture.recoveryCodes.create(account.id);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    const rows = JSON.stringify(await fixture.db.recoveryCode.findMany());
    const events = JSON.stringify(await fixture.audit.list({ subjectId: account.id }));
    for (const code of codes) expect(rows + events + fixture.log.join('')).not.toContain(code);
  });

  test('work once each, however they are typed', async () => {
    const codes = await fixture.recoveryCodes.create(account.id);
    const [one = '', two = ''] = codes;
    expect(await fixture.recoveryCodes.redeem(account.id, ` ${one.toUpperCase().replaceAll('-', ' ')} `)).toBe('ok');
    expect(await fixture.recoveryCodes.redeem(account.id, one)).toBe('wrong');
    expect(await fixture.recoveryCodes.redeem(account.id, two.replaceAll('0', 'O').replaceAll('1', 'l'))).toBe('ok');
    expect(await fixture.recoveryCodes.remaining(account.id)).toBe(8);
    const [event] = await fixture.audit.list({ subjectId: account.id });
    expect(event).toMatchObject({ type: 'sign-in.recovery-code', data: { left: 8 } });
  });

  test('work once when one is used twenty times in parallel', async () => {
    const code = first(await fixture.recoveryCodes.create(account.id));
    const outcomes = await together(20, () => fixture.recoveryCodes.redeem(account.id, code));
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(await fixture.recoveryCodes.remaining(account.id)).toBe(9);
  });

  test('are the same when the form of an enrollment is sent again, until one is used or others are made', async () => {
    const { recoveryCodes } = fixture;
    const sent = await together(2, () => recoveryCodes.createFor(account.id, 'a form'));
    expect(sent[0]).toHaveLength(10);
    expect(sent[1]).toEqual(sent[0]);
    expect(await recoveryCodes.remaining(account.id)).toBe(10);
    expect(await recoveryCodes.createFor(account.id, 'another form')).toBeUndefined();
    expect(await recoveryCodes.again((await fixture.person()).id, 'a form')).toBeUndefined();
    for (const code of sent[0] ?? []) {
      expect(await recoveryCodes.redeem(account.id, code)).toBe('ok');
      expect(await recoveryCodes.createFor(account.id, 'a form')).toBeUndefined();
    }
    // All are used: a new factor comes with new ones.
    expect(await recoveryCodes.createFor(account.id, 'another form')).toHaveLength(10);
    await recoveryCodes.create(account.id);
    expect(await recoveryCodes.again(account.id, 'another form')).toBeUndefined();
  });

  test('are rejected when they belong to another account or an older set, or are made up', async () => {
    const other = await fixture.person();
    const theirs = first(await fixture.recoveryCodes.create(other.id));
    const older = first(await fixture.recoveryCodes.create(account.id));
    await fixture.recoveryCodes.create(account.id);
    for (const code of [theirs, older, '', '0', 'x'.repeat(1e5), '0000-0000-0000-0000']) {
      expect(await fixture.recoveryCodes.redeem(account.id, code)).toBe('wrong');
    }
    expect(await fixture.recoveryCodes.redeem(other.id, theirs)).toBe('ok');
  });

  test('stay valid while GATEHOUSE_SECRET is rotated', async () => {
    const [old, next, key] = [32, 33, 34].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
    const dataKeys = [{ id: 'k1', key }];
    const before = createRecoveryCodes(servicesOf({ ...fixture, vault: createVault([old], dataKeys) }));
    const after = createRecoveryCodes(servicesOf({ ...fixture, vault: createVault([next], dataKeys) }));
    const code = first(await before.create(account.id));
    expect(await after.redeem(account.id, code)).toBe('ok');
  });
});

describe('a code by email or SMS', () => {
  const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

  test('has six digits, is stored as a hash, and works once within ten minutes', async () => {
    const code = await fixture.oneTimeCodes.issue(account.id, 'email', HERE);
    expect(code).toMatch(/^\d{6}$/);
    expect(JSON.stringify(await fixture.db.oneTimeCode.findMany())).not.toContain(code);
    expect(await fixture.oneTimeCodes.verify(account.id, 'sms', HERE, code)).toBe('expired');
    fixture.clock.advance({ minutes: 9, seconds: 59 });
    expect(await fixture.oneTimeCodes.verify(account.id, 'email', HERE, `${code.slice(0, 3)} ${code.slice(3)}`)).toBe(
      'ok',
    );
    expect(await fixture.oneTimeCodes.verify(account.id, 'email', HERE, code)).toBe('expired');
  });

  test('stops working after ten minutes, and after a newer one', async () => {
    const late = await fixture.oneTimeCodes.issue(account.id, 'email', HERE);
    fixture.clock.advance({ minutes: 10 });
    expect(await fixture.oneTimeCodes.verify(account.id, 'email', HERE, late)).toBe('expired');
    const older = await fixture.oneTimeCodes.issue(account.id, 'email', HERE);
    const newer = await fixture.oneTimeCodes.issue(account.id, 'email', HERE);
    expect(await fixture.oneTimeCodes.verify(account.id, 'email', HERE, newer === older ? wrong(newer) : older)).toBe(
      'wrong',
    );
    expect(await fixture.oneTimeCodes.verify(account.id, 'email', HERE, newer)).toBe('ok');
  });

  test('allows five guesses, also in parallel', async () => {
    const code = await fixture.oneTimeCodes.issue(account.id, 'email', HERE);
    const outcomes = await together(20, () => fixture.oneTimeCodes.verify(account.id, 'email', HERE, wrong(code)));
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === 'too-many-tries')).toHaveLength(15);
    expect(await fixture.oneTimeCodes.verify(account.id, 'email', HERE, code)).toBe('too-many-tries');
  });

  test('verifies the address or number that it was sent to, and no other', async () => {
    const code = await fixture.oneTimeCodes.issue(account.id, 'phone', '+491701');
    expect(await fixture.oneTimeCodes.verify(account.id, 'phone', '+491702', code)).toBe('wrong');
    expect(await fixture.oneTimeCodes.verify(account.id, 'phone', '+491701', code)).toBe('ok');
  });

  test('is accepted once when it is sent twice in parallel', async () => {
    const code = await fixture.oneTimeCodes.issue(account.id, 'email', HERE);
    const outcomes = await together(5, () => fixture.oneTimeCodes.verify(account.id, 'email', HERE, code));
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
  });
});

describe('the factors of an account', () => {
  const nothing = { totp: false, passkeys: 0, verifyingPasskeys: 0, phone: undefined, recoveryCodes: 0 };

  test('are counted, and removed by a reset', async () => {
    expect(await fixture.factors.of(account.id)).toEqual(nothing);
    expect(await fixture.factors.hasSecondFactor(account.id)).toBe(false);
    await fixture.totp.importSecret(account.id, 'JBSWY3DPEHPK3PXP');
    await fixture.recoveryCodes.create(account.id);
    expect(await fixture.factors.of(account.id)).toEqual({ ...nothing, totp: true, recoveryCodes: 10 });
    expect(await fixture.factors.isLast(account.id, { totp: true })).toBe(true);
    expect(await fixture.factors.isLast(account.id, { passkeyId: 'x' })).toBe(false);
    await fixture.factors.reset(account.id, { actorId: 'admin' });
    expect(await fixture.factors.of(account.id)).toEqual(nothing);
    const types = (await fixture.audit.list({ subjectId: account.id, actorId: 'admin' })).map(({ type }) => type);
    expect(types).toEqual(['factors.reset', 'recovery-codes.removed', 'totp.removed']);
  });
});
