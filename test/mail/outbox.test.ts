// Mail at rest: part of the transaction it tells about, unreadable for whoever reads the database, one reader each.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../src/platform/db.ts';
import { testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { ann, type Post, post, resetMail } from './support.ts';

const clock = testClock('2026-11-21T09:00:00Z');
let test: TestDatabase;
let office: Post;

beforeAll(async () => {
  test = await testDatabase();
});
beforeEach(async () => {
  await test.database.db.mailMessage.deleteMany();
  office = post({ ...test.database, clock });
});
afterAll(() => test.close());

const rows = () => test.database.db.mailMessage.findMany();

describe('the outbox', () => {
  it('keeps links and codes sealed', async () => {
    await office.outbox.send(resetMail);
    await office.outbox.send({ kind: 'one-time-code', to: ann, code: '204815', minutes: 10 });
    const [reset, code] = await rows();
    expect(reset).toMatchObject({ recipient: ann.email, subject: 'Reset your password', tries: 0, sentAt: null });
    expect(JSON.stringify([reset, code])).not.toMatch(/T0ken|204815|reset-password/);
  });

  it('seals what somebody typed as well', async () => {
    await office.outbox.draft('password-reset', { typed: 'ann@example.com' }, 60);
    expect(JSON.stringify(await rows())).not.toContain('ann');
  });

  it('writes in the transaction of the caller', async () => {
    const { db } = test.database;
    const failing = transaction(db, async (tx) => {
      await office.outbox.send(resetMail, tx);
      throw new Error('the change did not work out');
    });
    await expect(failing).rejects.toThrow('did not work out');
    expect(await rows()).toEqual([]);
    await transaction(db, (tx) => office.outbox.send(resetMail, tx));
    expect(await rows()).toHaveLength(1);
  });

  it.each([
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com\nSubject: x',
    'Ann <a@example.com>',
    '"a b"@example.com',
    'a;b@example.com',
    'a@b@example.com',
    'nobody',
    '',
  ])('refuses %j: it is not one address', async (email) => {
    await expect(office.outbox.send({ ...resetMail, to: { email } })).rejects.toThrow('not a single e-mail address');
    expect(await rows()).toEqual([]);
  });
});
