import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../src/platform/logger.ts';
import { createRecentRejections, MOST_COUNTED } from '../../src/rejections/recent-count.ts';
import type { Db } from '../../src/storage/database.ts';
import { testDatabase } from '../support/database/database.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const logger = createLogger({ level: 'silent', format: 'json', destination: { write() {} } });

let opened: Awaited<ReturnType<typeof testDatabase>>;
let db: Db;
let time = Date.UTC(2026, 0, 10);
const now = () => new Date(time);
beforeAll(async () => {
  opened = await testDatabase();
  db = opened.database.db;
});
afterAll(() => opened.close());
beforeEach(() => db.rejection.deleteMany());

const reject = (id: string, hoursAgo = 0) =>
  db.rejection.create({
    data: {
      ...{ id, endpoint: 'authorize', reason: 'invalid_request', message: '', requestId: id, data: '{}' },
      at: new Date(time - hoursAgo * HOUR),
      expiresAt: new Date(time + 100 * HOUR),
    },
  });
const settled = () => new Promise((resolve) => setTimeout(resolve, 200));

it('counts the rejected requests of the last 24 hours, and says only that there are many', async () => {
  await reject('new');
  await reject('yesterday', 23);
  await reject('older', 25);
  expect(await createRecentRejections({ db, now, logger })()).toBe(2);
  for (let number = 0; number < MOST_COUNTED + 20; number += 1) await reject(`n${number}`);
  expect(await createRecentRejections({ db, now, logger })()).toBe(MOST_COUNTED + 1);
});

it('counts from memory for a minute, then behind the page, and before it after a quiet time', async () => {
  const count = createRecentRejections({ db, now, logger });
  expect(await count()).toBe(0);
  await reject('one');
  time += MINUTE - 1;
  expect(await count()).toBe(0);
  await settled();
  expect(await count()).toBe(0);
  time += 2;
  expect(await count()).toBe(0);
  await settled();
  expect(await count()).toBe(1);
  await reject('two');
  time += HOUR;
  expect(await count()).toBe(2);
});

it('displays the last number where the database fails', async () => {
  const broken = { rejection: { count: () => Promise.reject(new Error('the database is away')) } } as unknown as Db;
  expect(await createRecentRejections({ db: broken, now, logger })()).toBe(0);
});
