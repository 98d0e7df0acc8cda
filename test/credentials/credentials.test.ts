// The password of an account: set, check, import.
import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { isCurrentHash } from '../../src/people/credentials/password.ts';
import { together } from '../accounts/fixture.ts';
import { type CredentialsFixture, openCredentials } from './fixture.ts';

let fixture: CredentialsFixture;
beforeAll(async () => {
  fixture = await openCredentials();
});
afterAll(() => fixture.close());

const long = 'a walk along the river';
const short = 'kq7-mzw2';
const stored = (userId: string) => fixture.db.asStored.passwordCredential.findUniqueOrThrow({ where: { userId } });

describe('setting a password', () => {
  test('stores a hash, the time and the audit event, and never the password', async () => {
    const account = await fixture.person();
    const by = { actorId: account.id, request: { requestId: 'r-9', address: '192.0.2.1', userAgent: 'x' } };
    expect(await fixture.credentials.setPassword(account, long, { event: 'password.changed', ...by })).toBe('ok');
    expect(await fixture.credentials.status(account.id)).toEqual({
      mustChange: false,
      long: true,
      changedAt: fixture.now(),
    });
    const [event] = await fixture.audit.list({ subjectId: account.id });
    expect(event).toMatchObject({ type: 'password.changed', actorId: account.id, requestId: 'r-9' });
    expect(JSON.stringify([event, fixture.log, (await stored(account.id)).hash])).not.toContain(long);
  });

  test('rejects what the rules forbid and keeps the old one', async () => {
    const account = await fixture.person({ name: 'Marlene' });
    await fixture.credentials.setPassword(account, long);
    expect(await fixture.credentials.setPassword(account, short)).toEqual(['too_short']);
    expect(await fixture.credentials.setPassword(account, 'Marlene password123!')).toEqual(['contains_name']);
    expect(await fixture.credentials.setPassword(account, 'marlene and i')).toEqual(['too_short', 'contains_name']);
    expect(await fixture.credentials.setPassword(account, 'passwordfootball')).toEqual(['common']);
    expect(await fixture.credentials.checkPassword(account, long)).toMatchObject({ outcome: 'ok' });
  });

  test('allows eight characters beside a second factor', async () => {
    const account = await fixture.person();
    fixture.withSecondFactor.add(account.id);
    expect(await fixture.credentials.setPassword(account, short)).toBe('ok');
    expect(await fixture.credentials.checkPassword(account, short)).toMatchObject({ outcome: 'ok' });
    fixture.withSecondFactor.delete(account.id);
    expect(await fixture.credentials.checkPassword(account, short)).toMatchObject({ outcome: 'too-short' });
  });

  test('does not store a short one when the second factor was removed meanwhile', async () => {
    const account = await fixture.person();
    fixture.withSecondFactor.add(account.id);
    const prepared = await fixture.credentials.preparePassword(account, short);
    fixture.withSecondFactor.delete(account.id);
    if (prepared.outcome !== 'ready') throw new Error('expected it to be ready');
    await expect(transaction(fixture.db, prepared.store)).rejects.toMatchObject({ code: 'password_rejected' });
    expect(await fixture.credentials.status(account.id)).toBeUndefined();
  });
});

describe('a temporary password', () => {
  test('is accepted, but must be changed to another one', async () => {
    const account = await fixture.person();
    await fixture.credentials.setPassword(account, long, { mustChange: true });
    expect(await fixture.credentials.checkPassword(account, long)).toMatchObject({ outcome: 'must-change' });
    expect(await fixture.credentials.setPassword(account, long)).toEqual(['unchanged']);
    expect(await fixture.credentials.setPassword(account, `${long} bank`)).toBe('ok');
    expect(await fixture.credentials.checkPassword(account, `${long} bank`)).toMatchObject({ outcome: 'ok' });
    await fixture.credentials.forceChange(account.id, { actorId: 'admin' });
    expect(await fixture.credentials.checkPassword(account, `${long} bank`)).toMatchObject({ outcome: 'must-change' });
  });
});

describe('checking a password', () => {
  test('records the reason in the audit log, and returns the same outcome', async () => {
    const account = await fixture.person();
    await fixture.credentials.setPassword(account, long);
    const none = await fixture.person();
    const check = fixture.credentials.checkPassword;
    expect(await check(account, 'wrong')).toEqual({ outcome: 'wrong', reason: 'wrong_password' });
    expect(await check(undefined, long)).toEqual({ outcome: 'wrong', reason: 'unknown_account' });
    expect(await check(none, long)).toEqual({ outcome: 'wrong', reason: 'no_password' });
    for (const state of ['disabled', 'waiting', 'ended'] as const)
      expect(await check({ ...account, isActive: false, state }, long)).toEqual({
        outcome: 'wrong',
        reason: `${state}_account`,
        isInactive: true,
      });
  });
});

describe('an imported hash', () => {
  test('signs its owner in and is then replaced; a short password must be changed', async () => {
    const account = await fixture.person();
    await fixture.credentials.importHash(account.id, bcrypt.hashSync(short, 6));
    expect(await fixture.credentials.checkPassword(account, 'wrong')).toMatchObject({ outcome: 'wrong' });
    expect(isCurrentHash((await stored(account.id)).hash)).toBe(false);
    expect(await fixture.credentials.checkPassword(account, short)).toMatchObject({ outcome: 'too-short' });
    expect(isCurrentHash((await stored(account.id)).hash)).toBe(true);
    expect(await fixture.credentials.checkPassword(account, short)).toMatchObject({ outcome: 'too-short' });
    const types = (await fixture.audit.list({ subjectId: account.id })).map(({ type }) => type);
    expect(types).toEqual(['password.rehashed', 'password.imported', 'account.created']);
  });

  test('remembers that the password is long enough', async () => {
    const account = await fixture.person();
    await fixture.credentials.importHash(account.id, bcrypt.hashSync(long, 6));
    expect(await fixture.credentials.checkPassword(account, long)).toMatchObject({ outcome: 'ok' });
    expect(await fixture.credentials.status(account.id)).toMatchObject({ long: true });
  });

  test('is replaced once by many parallel sign-ins', async () => {
    const account = await fixture.person();
    await fixture.credentials.importHash(account.id, bcrypt.hashSync(long, 4));
    const outcomes = await together(6, () => fixture.credentials.checkPassword(account, long));
    for (const { outcome } of outcomes) expect(outcome).toBe('ok');
    const events = await fixture.audit.list({ subjectId: account.id, types: ['password.rehashed'] });
    expect(events).toHaveLength(1);
  });

  test('is rejected when it is of a fast algorithm', async () => {
    const account = await fixture.person();
    const md5 = fixture.credentials.importHash(account.id, '5f4dcc3b5aa765d61d8327deb882cf99');
    await expect(md5).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await fixture.credentials.status(account.id)).toBeUndefined();
  });
});
