// The queue of logout deliveries on a real database: lanes, claims of two instances, a killed process, giving up.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { UnexpectedAnswer } from '../../src/base/network/outgoing-fetch.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import { type Database, openDatabase } from '../../src/base/storage/database.ts';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { createLogoutDeliveries, type DeliveryResult } from '../../src/protocols/logout/deliveries.ts';
import { deliveryRow } from '../../src/protocols/logout/logout-run.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { servicesOf } from '../support/services-of.ts';

const protectedRows = createProtectedRows({
  vault: createVault([Buffer.alloc(32, 1)]),
  alarm: { raise: async () => {} },
});
let test: TestDatabase;
let clock: TestClock;
let called: string[];
let events: { type: string; clientId?: string | undefined }[];
let counts: string[];
let logged: unknown[];

beforeAll(async () => {
  test = await testDatabase();
  test.database.protect(protectedRows);
});
beforeEach(async () => {
  await test.database.db.logoutDelivery.deleteMany();
  clock = testClock('2026-11-22T09:00:00Z');
  called = [];
  events = [];
  counts = [];
  logged = [];
});
afterAll(() => test.close());

type Send = (clientId: string) => Promise<DeliveryResult>;

function deliveries(send: Send = async () => 'sent', database: Database = test.database) {
  return createLogoutDeliveries({
    ...servicesOf({
      db: database.db,
      sql: database.sql,
      now: clock.now,
      audit: { record: async (event: { type: string }) => void events.push(event) } as never,
      logger: { warn: (about: unknown) => void logged.push(about) } as never,
    }),
    runs: { settle: async () => true } as never,
    async send(clientId) {
      called.push(clientId);
      return send(clientId);
    },
    sendSoap: async () => 'sent',
    countDelivery: (outcome) => counts.push(outcome),
  });
}

async function queued(clientId: string, count = 1, tries = 0): Promise<void> {
  const to = { participantId: null, clientId, channel: 'back', accountId: 'u1', sid: undefined };
  await test.database.db.logoutDelivery.createMany({
    data: Array.from({ length: count }, () => ({ ...deliveryRow(to, clock.now()), tries })),
  });
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 10) {
    if (waited > 10_000) throw new Error('the condition was not met within 10 s');
    await sleep(10);
  }
}

const UNCHANGED = { channel: 'back', participantId: null };
const callsOf = (clientId: string) => called.filter((one) => one === clientId).length;

describe('the delivery of logout messages', () => {
  it('sends none that another program wrote, changed or moved, and goes on with the others', async () => {
    const { logoutDelivery } = test.database.db.asStored;
    const changes = [
      { clientId: 'evil' },
      { accountId: 'u2' },
      { sid: 's2' },
      { channel: 'soap' },
      { participantId: 'p' },
    ];
    for (const data of changes) {
      await queued('moved');
      await logoutDelivery.updateMany({ where: { clientId: 'moved', accountId: 'u1', sid: null, ...UNCHANGED }, data });
    }
    const own = { id: 'own', clientId: 'evil', accountId: 'u1', nextTryAt: clock.now(), createdAt: clock.now() };
    await logoutDelivery.create({ data: own });
    await queued('honest');
    await deliveries().run();
    expect(called).toEqual(['honest']);
    const failed = await logoutDelivery.findMany({ where: { lastError: 'changed_outside' } });
    expect(failed).toHaveLength(changes.length + 1);
    expect(failed.filter(({ failedAt }) => failedAt === null)).toEqual([]);
  });

  itOnSqlite('delivers to an application at once while another one with many deliveries does not respond', async () => {
    await queued('dead', 200);
    await queued('live', 3);
    const stopping = new AbortController();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const running = deliveries(async (clientId) => {
      if (clientId === 'dead') await released;
      return 'sent';
    }).run(stopping.signal);
    await until(() => counts.length === 3);
    expect(callsOf('live')).toBe(3);
    await queued('late');
    await until(() => callsOf('late') === 1);
    expect(callsOf('dead')).toBe(4);
    stopping.abort();
    release();
    await running;
  });

  it('calls each application once when two instances deliver at the same time', async () => {
    const second = await openDatabase(test.url);
    second.protect(protectedRows);
    for (const clientId of ['a', 'b', 'c']) await queued(clientId, 20);
    await Promise.all([deliveries().run(), deliveries(undefined, second).run(), deliveries().run()]);
    expect(called).toHaveLength(60);
    expect(await test.database.db.logoutDelivery.count({ where: { doneAt: null } })).toBe(0);
    await second.close();
  });

  it('delivers what a killed instance had claimed once its lease has expired', async () => {
    await queued('killed');
    const program = ['--import', 'tsx', 'test/logout/support/deliver-process.ts', test.url, clock.now().toISOString()];
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data'); // it is in the middle of the call
    expect(await deliveries().run()).toBe(0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    clock.advance({ seconds: limits.delivery.leaseSeconds - 1 });
    expect(await deliveries().run()).toBe(0);
    clock.advance({ seconds: 1 });
    expect(await deliveries().run()).toBe(1);
    expect(called).toEqual(['killed']);
  });

  it('notes the answer of an application that rejects: in the log each time, in the audit log once', async () => {
    await queued('strict');
    let answer = new UnexpectedAnswer(503, 'the proxy says so');
    const failing = deliveries(() => Promise.reject(answer));
    await failing.run();
    expect([events, logged]).toEqual([[], []]);
    for (const body of ['no\n  sid', 'no sid']) {
      answer = new UnexpectedAnswer(400, body);
      clock.advance({ minutes: 10 });
      await failing.run();
    }
    const about = { clientId: 'strict', channel: 'back', status: 400, answer: 'no sid' };
    expect(logged).toEqual([about, about]);
    expect(events).toMatchObject([
      { type: 'logout.rejected', clientId: 'strict', reason: 'rejected', data: { status: 400, answer: 'no sid' } },
    ]);
  });

  it('gives a delivery up after its last try, and keeps its row with the reason', async () => {
    await queued('dead', 1, limits.delivery.maxTries - 2);
    const failing = deliveries(() => Promise.reject(new Error('503')));
    await failing.run();
    expect(counts).toEqual(['retried']);
    clock.advance({ hours: 1 });
    await failing.run();
    expect(counts).toEqual(['retried', 'given-up']);
    expect(events).toMatchObject([{ type: 'logout.failed', clientId: 'dead', reason: '503' }]);
    expect(await test.database.db.asStored.logoutDelivery.findFirst()).toMatchObject({
      tries: limits.delivery.maxTries,
      failedAt: clock.now(),
      lastError: '503',
    });
    clock.advance({ days: 1 });
    expect(await failing.run()).toBe(0);
  });
});
