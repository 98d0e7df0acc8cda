// Drafts: a wish whose reader is found later, by exactly one instance, and not lost when that goes wrong.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DraftWriter } from '../../src/mail/delivery.ts';
import { openDatabase, transaction } from '../../src/platform/db.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database.ts';
import { type OddSmtpServer, oddSmtpServer } from './smtp.ts';
import { ann, type Post, post, resetMail } from './support.ts';

let test: TestDatabase;
let clock: TestClock;
let smtp: OddSmtpServer;
let asked: string[];
let failures = 0;

beforeAll(async () => {
  test = await testDatabase();
  smtp = await oddSmtpServer();
});
beforeEach(async () => {
  await test.database.db.mailMessage.deleteMany();
  clock = testClock('2026-11-21T09:00:00Z');
  asked = [];
  smtp.taken.length = 0;
});
afterAll(async () => {
  await smtp.close();
  await test.close();
});

function office(database = test.database): Post {
  const { db } = database;
  const draft: DraftWriter = async ({ typed }, take) => {
    await transaction(db, async (tx) => {
      if (!(await take(tx))) return;
      await made.outbox.send(resetMail, tx);
      if (failures > 0) {
        failures -= 1;
        throw new Error('the database is tired');
      }
      asked.push(typed);
    });
  };
  const made = post({ ...database, clock, smtpUrl: smtp.url, draft });
  return made;
}

describe('a draft', () => {
  it('becomes a mail, which goes out in the same run', async () => {
    const one = office();
    await one.outbox.draft('password-reset', { typed: 'Ann' }, 60);
    await one.deliver();
    expect(asked).toEqual(['Ann']);
    expect(smtp.taken.map(({ to }) => to)).toEqual([ann.email]);
  });

  it('is written by one of two instances', async () => {
    // Two instances share a PostgreSQL. On SQLite the second one would be another process, not this one twice.
    const second = databaseKind() === 'postgresql' ? await openDatabase(test.url) : undefined;
    const [one, two] = [office(), office(second)];
    for (let index = 0; index < 10; index += 1) await one.outbox.draft('password-reset', { typed: `p${index}` }, 60);
    await Promise.all([one.deliver(), two.deliver()]);
    expect(asked).toHaveLength(10);
    expect(smtp.taken).toHaveLength(10);
    await second?.close();
  });

  it('is tried again when it could not be written, and nothing is left of the first try', async () => {
    failures = 1;
    const one = office();
    await one.outbox.draft('password-reset', { typed: 'Ann' }, 60);
    await one.deliver();
    expect(smtp.taken).toEqual([]);
    clock.advance({ seconds: 10 });
    await one.deliver();
    expect(smtp.taken).toHaveLength(1);
  });

  it('of yesterday is of no use', async () => {
    const one = office();
    await one.outbox.draft('password-reset', { typed: 'Ann' }, 60);
    clock.advance({ minutes: 1 });
    await one.deliver();
    expect(asked).toEqual([]);
  });
});
