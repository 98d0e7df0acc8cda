// Deferred requests for mail: the recipient is looked up later, by one instance, and a failure loses nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, transaction } from '../../src/base/storage/database.ts';
import type { DeferredWriter } from '../../src/core/mail/delivery.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database/database.ts';
import { type FaultySmtpServer, faultySmtpServer } from './smtp.ts';
import { ann, type MailService, mailService, resetMail } from './support.ts';

let test: TestDatabase;
let clock: TestClock;
let smtp: FaultySmtpServer;
let written: string[];
let failures = 0;

beforeAll(async () => {
  test = await testDatabase();
  smtp = await faultySmtpServer();
});
beforeEach(async () => {
  await test.database.db.mailMessage.deleteMany();
  clock = testClock('2026-11-21T09:00:00Z');
  written = [];
  smtp.delivered.length = 0;
});
afterAll(async () => {
  await smtp.close();
  await test.close();
});

function instance(database = test.database): MailService {
  const { db } = database;
  const writer: DeferredWriter = async ({ typed }, take) => {
    await transaction(db, async (tx) => {
      if (!(await take(tx))) return;
      await made.outbox.send(resetMail, tx);
      if (failures > 0) {
        failures -= 1;
        throw new Error('the database is busy');
      }
      written.push(typed);
    });
  };
  const made = mailService({ ...database, clock, smtpUrl: smtp.url, writer });
  return made;
}

describe('the mail job', () => {
  it('turns a deferred request into a mail and sends it in the same run', async () => {
    const one = instance();
    await one.outbox.defer('password-reset', { typed: 'Ann' }, 60);
    await one.deliver();
    expect(written).toEqual(['Ann']);
    expect(smtp.delivered.map(({ to }) => to)).toEqual([ann.email]);
    expect(one.counts).toEqual({ sent: 1 });
  });

  it('writes the mail of a deferred request on one of two instances', async () => {
    // Two instances share a PostgreSQL. On SQLite the second one would be another process, not this one twice.
    const second = databaseKind() === 'postgresql' ? await openDatabase(test.url) : undefined;
    const [one, two] = [instance(), instance(second)];
    for (let index = 0; index < 10; index += 1) await one.outbox.defer('password-reset', { typed: `p${index}` }, 60);
    await Promise.all([one.deliver(), two.deliver()]);
    expect(written).toHaveLength(10);
    expect(smtp.delivered).toHaveLength(10);
    await second?.close();
  });

  it('retries a deferred request whose mail could not be written, and keeps nothing of the first try', async () => {
    failures = 1;
    const one = instance();
    await one.outbox.defer('password-reset', { typed: 'Ann' }, 60);
    await one.deliver();
    expect(smtp.delivered).toEqual([]);
    clock.advance({ seconds: 10 });
    await one.deliver();
    expect(smtp.delivered).toHaveLength(1);
  });

  it('drops a deferred request that has expired', async () => {
    const one = instance();
    await one.outbox.defer('password-reset', { typed: 'Ann' }, 60);
    clock.advance({ minutes: 1 });
    await one.deliver();
    expect(written).toEqual([]);
  });

  it('stores a deferred request in the format of existing rows', async () => {
    const one = instance();
    await one.outbox.defer('unlock', { typed: 'Ann', browser: 'cookie' }, 60);
    const stored = await one.storedContent();
    expect(stored).toEqual({
      type: 'deferred',
      kind: 'unlock',
      request: { typed: 'Ann', browser: 'cookie' },
      expiresAt: '2026-11-21T09:01:00.000Z',
    });
  });
});
