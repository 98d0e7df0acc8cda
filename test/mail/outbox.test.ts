// Queued mail: written in the transaction of its change, encrypted in the database, with a single recipient.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { ann, type MailService, mailService, resetMail } from './support.ts';

const clock = testClock('2026-11-21T09:00:00Z');
let test: TestDatabase;
let mail: MailService;

beforeAll(async () => {
  test = await testDatabase();
});
beforeEach(async () => {
  await test.database.db.mailMessage.deleteMany();
  mail = mailService({ ...test.database, clock });
});
afterAll(() => test.close());

const rows = () => test.database.db.mailMessage.findMany();

describe('the outbox', () => {
  it('encrypts links and codes', async () => {
    await mail.outbox.send(resetMail);
    await mail.outbox.send({ kind: 'one-time-code', to: ann, code: '204815', minutes: 10 });
    const [reset, code] = await rows();
    expect(reset).toMatchObject({ recipient: ann.email, subject: 'Reset your password', tries: 0, sentAt: null });
    expect(JSON.stringify([reset, code])).not.toMatch(/T0ken|204815|reset-password/);
  });

  it('encrypts what was typed into a form', async () => {
    await mail.outbox.defer('password-reset', { typed: 'ann@example.com' }, 60);
    expect(JSON.stringify(await rows())).not.toContain('ann');
  });

  it('writes in the transaction of the caller', async () => {
    const { db } = test.database;
    const failing = transaction(db, async (tx) => {
      await mail.outbox.send(resetMail, tx);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await rows()).toEqual([]);
    await transaction(db, (tx) => mail.outbox.send(resetMail, tx));
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
  ])('rejects %j, which is not a single address', async (email) => {
    await expect(mail.outbox.send({ ...resetMail, to: { email } })).rejects.toThrow('not a single email address');
    expect(await rows()).toEqual([]);
  });
});
