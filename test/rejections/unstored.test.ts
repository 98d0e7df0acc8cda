// Beyond the limit of an address, a rejected request is not stored: one a minute is in the log. A flood costs neither memory nor the database.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { Sql } from '../../src/base/storage/statements.ts';
import { createRejections, type NewRejection } from '../../src/core/rejections/rejections.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const { perHour } = limits.rejections;
async function rejected(): Promise<string> {
  const { text } = await httpClient(idp.issuer).get('/authorize?client_id=nobody&response_type=code');
  return /[2-9A-Z]{4}-[2-9A-Z]{4}/.exec(text)?.[0] ?? 'none';
}

it('the log has the error reference and the reason of the first request that is not stored', async () => {
  const codes = [];
  for (let number = 0; number < perHour + 2; number += 1) codes.push(await rejected());
  const { rejections } = idp.services;
  expect(await rejections.find(codes[perHour - 1] ?? '')).toMatchObject({ reason: 'invalid_client' });
  expect(await rejections.find(codes[perHour] ?? '')).toBeUndefined();
  const lines = idp.log.map((line) => JSON.parse(line)).filter(({ rejection }) => rejection !== undefined);
  expect(lines.map(({ rejection }) => rejection)).toEqual([codes[perHour]]);
  expect(lines[0]).toMatchObject({ endpoint: 'authorize', reason: 'invalid_client', client: 'nobody', level: 'warn' });
});

/** How often a counter is asked for or changed while `work` runs. */
async function countersAsked(work: () => Promise<unknown>): Promise<number> {
  const { sql } = idp.services;
  const [query, execute] = [sql.query, sql.execute];
  let asked = 0;
  const counting = (run: unknown) =>
    function (this: Sql, ...args: unknown[]) {
      if (JSON.stringify(args[0]).includes('rate_limits')) asked += 1;
      return (run as (...all: unknown[]) => unknown).apply(this, args);
    };
  Object.assign(sql, { query: counting(query), execute: counting(execute) });
  try {
    await work();
  } finally {
    Object.assign(sql, { query, execute });
  }
  return asked;
}

const askFrom = (address: string, path: string) =>
  httpClient(idp.issuer).get('/forward-auth/caddy', {
    headers: {
      'X-Forwarded-Method': 'GET',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'unknown.example',
      'X-Forwarded-Uri': path,
      'X-Forwarded-For': address,
    },
  });
const linesSince = (start: number) => idp.log.slice(start).filter((line) => line.includes('"rejection":'));

it('a flood through a website costs one address a bounded number of questions and one line', async () => {
  const start = idp.log.length;
  const question = async (number: number) => {
    // Fewer in each second than one address may have.
    if (number % 50 === 0) await sleep(1000);
    return askFrom('192.0.2.77', `/${number}`);
  };
  for (let number = 0; number <= perHour; number += 1) await question(number);
  await idp.services.rejections.countRecent();
  const asked = await countersAsked(async () => {
    for (let number = 1000; number < 1100; number += 1) expect((await question(number)).status).toBe(403);
    await idp.services.rejections.countRecent();
  });
  expect(asked).toBe(0);
  expect(linesSince(start)).toHaveLength(1);
});

const rejection: NewRejection = { endpoint: 'website', reason: 'x', message: 'x', received: {}, rules: [] };
const requestFrom = (address: string) => ({ requestId: 'r', address, userAgent: '' });

it('4000 at once take few turns of one address, and the memory of 1000 from many', async () => {
  const { rejections, db } = idp.services;
  const start = idp.log.length;
  const heapMB = () => process.memoryUsage().heapUsed / 1e6;
  const before = heapMB();
  const asked = await countersAsked(async () => {
    for (let at = 0; at < 4000; at += 1) rejections.record(requestFrom('192.0.2.88'), rejection);
    // Each waiting one once held a promise for each one before it: more than 800 MB.
    expect(heapMB() - before).toBeLessThan(200);
    await rejections.countRecent();
  });
  expect(asked).toBeLessThan(2 * perHour + 10);
  expect(linesSince(start)).toHaveLength(1);
  const stored = await db.rejection.count();
  for (let at = 0; at < 4000; at += 1) rejections.record(requestFrom(`10.0.${at >> 8}.${at & 255}`), rejection);
  await rejections.countRecent();
  expect((await db.rejection.count()) - stored).toBe(1000);
  expect(linesSince(start).length).toBeLessThanOrEqual(101);
});

it('a line a minute, and a row, say how many more of a sender were not stored', async () => {
  const start = idp.log.length;
  const limit = { waitSeconds: () => 3600, consume: async () => ({ allowed: false }) };
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const rejections = createRejections({ ...idp.services, limit, networkOf: (address) => address });
    const reject = (times: number, address: string) => {
      for (let at = 0; at < times; at += 1) rejections.record(requestFrom(address), rejection);
    };
    reject(8, '192.0.2.66');
    reject(1, '192.0.2.67');
    vi.advanceTimersByTime(60_000);
    reject(3, '192.0.2.66');
    vi.advanceTimersByTime(60_000);
    const counts = idp.log.slice(start).map((line) => JSON.parse(line) as { sender?: string; unstored?: number });
    expect(counts.filter(({ unstored }) => unstored).map(({ sender, unstored }) => [sender, unstored])).toEqual([
      ['192.0.2.66', 7],
      ['192.0.2.66', expect.any(Number)],
    ]);
    const { rejections: rows } = await rejections.list({ limit: 2 });
    expect(rows.map(({ reason, received }) => [reason, received.address, received.count])).toEqual(
      expect.arrayContaining([
        ['not_stored', '192.0.2.66', '11'],
        ['not_stored', '192.0.2.67', '1'],
      ]),
    );
  } finally {
    vi.useRealTimers();
  }
});

it('a denied address is counted once an hour', async () => {
  const { settings } = idp.services;
  await settings.set('denied_networks', ['192.0.2.99/32']);
  await settings.reload();
  const get = () => askFrom('192.0.2.99', '/same');
  for (let number = 0; number < 2; number += 1) expect((await get()).status).toBe(403);
  const asked = await countersAsked(async () => {
    for (let number = 0; number < 20; number += 1) await get();
  });
  await settings.unset('denied_networks');
  await settings.reload();
  expect(asked).toBe(0);
});
