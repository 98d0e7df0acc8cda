import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../src/base/storage/database.ts';
import { createSweep, expiringRows } from '../../src/server/schedule.ts';
import { testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';

let test: TestDatabase;
let db: Db;
const clock = testClock('2026-06-01T12:00:00Z');
const HOUR = 3600;
const later = (seconds: number) => new Date(clock.now().getTime() + seconds * 1000);

beforeAll(async () => {
  test = await testDatabase();
  db = test.database.db;
});
afterAll(() => test.close());

describe('the sweep', () => {
  it('deletes what expired an hour ago, for every unit of the column, and nothing else', async () => {
    await db.seenMessage.createMany({
      data: [
        { id: 'expired', expiresAt: later(-HOUR - 1) },
        { id: 'valid', expiresAt: later(1 - HOUR) },
      ],
    });
    const artifact = (id: string, expiresAt: bigint | null) => ({ id, model: 'Session', payload: '{}', expiresAt });
    const seconds = BigInt(clock.now().getTime() / 1000 - HOUR);
    await db.oidcArtifact.createMany({
      data: [artifact('expired', seconds - 1n), artifact('valid', seconds + 1n), artifact('forever', null)],
    });
    await db.rateLimit.createMany({
      data: [
        { key: 'expired', points: 1, expiresAt: seconds * 1000n - 1n },
        { key: 'valid', points: 1, expiresAt: seconds * 1000n + 1n },
      ],
    });
    await db.auditEvent.createMany({
      data: [later(-86_401), later(-86_399)].map((at) => ({ type: 'test', outcome: 'success', at })),
    });
    const sweep = createSweep({
      ...servicesOf({ db, now: clock.now }),
      targets: [
        ...expiringRows.filter(({ table }) => ['seen_messages', 'rate_limits', 'oidc_artifacts'].includes(table)),
        {
          table: 'audit_events',
          keepSeconds: 86_400,
          remove: (db, before, limit) => db.auditEvent.deleteMany({ where: { at: { lt: before } }, limit }),
        },
      ],
    });
    expect(await sweep()).toEqual({ seen_messages: 1, oidc_artifacts: 1, rate_limits: 1, audit_events: 1 });
    expect((await db.seenMessage.findMany()).map(({ id }) => id)).toEqual(['valid']);
    expect((await db.oidcArtifact.findMany({ orderBy: { id: 'asc' } })).map(({ id }) => id)).toEqual([
      'forever',
      'valid',
    ]);
    expect((await db.rateLimit.findMany()).map(({ key }) => key)).toEqual(['valid']);
    expect((await db.auditEvent.findMany()).map(({ at }) => at)).toEqual([later(-86_399)]);
  });

  it('deletes the rows of a sign-in minutes after their end', async () => {
    const at = (seconds: number) => BigInt(later(-seconds).getTime() / 1000);
    await db.oidcArtifact.createMany({
      data: ['Interaction', 'PushedAuthorizationRequest', 'DeviceCode', 'AuthorizationCode', 'RefreshToken'].flatMap(
        (model) => [
          { id: `${model} ended`, model, payload: '{}', expiresAt: at(301) },
          { id: `${model} ending`, model, payload: '{}', expiresAt: at(299) },
        ],
      ),
    });
    const request = { applicationId: 'a', browserHash: '', data: '{}' };
    await db.asStored.samlRequest.create({ data: { id: 'ended', ...request, expiresAt: later(-301) } });
    await db.asStored.signInAttempt.create({ data: { uid: 'ended', expiresAt: later(-301) } });
    await createSweep({ ...servicesOf({ db, now: clock.now }), targets: expiringRows })();
    const ended = await db.oidcArtifact.findMany({ where: { id: { endsWith: ' ended' } } });
    expect(ended.map(({ id }) => id)).toEqual(['RefreshToken ended']);
    expect(await db.oidcArtifact.count({ where: { id: { endsWith: ' ending' } } })).toBe(5);
    expect(await db.samlRequest.count()).toBe(0);
    expect(await db.signInAttempt.count()).toBe(0);
  });

  it('deletes what queues sent after a week, and what they gave up after a month', async () => {
    const delivery = (id: string, at: { doneAt?: Date; failedAt?: Date }) => ({
      id,
      clientId: 'a',
      accountId: 'a',
      nextTryAt: clock.now(),
      ...at,
    });
    await db.asStored.logoutDelivery.createMany({
      data: [
        delivery('sent', { doneAt: later(-7 * 24 * HOUR - 1) }),
        delivery('failed', { failedAt: later(-30 * 24 * HOUR - 1) }),
        delivery('failed lately', { failedAt: later(1 - 30 * 24 * HOUR) }),
        delivery('waiting', {}),
      ],
    });
    await createSweep({ ...servicesOf({ db, now: clock.now }), targets: expiringRows })();
    const left = await db.asStored.logoutDelivery.findMany({ orderBy: { id: 'asc' } });
    expect(left.map(({ id }) => id)).toEqual(['failed lately', 'waiting']);
  });

  it('deletes a backlog in batches, lets other writers in between, and stops on abort', async () => {
    await db.seenMessage.createMany({
      data: Array.from({ length: 25 }, (_, index) => ({ id: `old-${index}`, expiresAt: later(-2 * HOUR) })),
    });
    const targets = expiringRows.filter(({ table }) => table === 'seen_messages');
    const sweep = createSweep({ ...servicesOf({ db, now: clock.now }), targets, batch: 10 });
    const controller = new AbortController();
    const aborted = sweep(controller.signal);
    controller.abort();
    expect(await aborted).toEqual({ seen_messages: 10 });
    const [swept] = await Promise.all([sweep(), db.seenMessage.create({ data: { id: 'new', expiresAt: later(60) } })]);
    expect(swept).toEqual({ seen_messages: 15 });
    expect(await db.seenMessage.count({ where: { id: 'new' } })).toBe(1);
  });

  it('knows a statement for every table with an expiry', async () => {
    const models = [...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/^model \w+ \{([\s\S]*?)^\}/gm)];
    const expiring = models.flatMap(([, body = '']) =>
      /^\s+expiresAt\s/m.test(body) ? [/@@map\("(\w+)"\)/.exec(body)?.[1]] : [],
    );
    // The end of an upstream's secret is what the upstream states, for a warning; the row stays until it is removed.
    const stated = ['connection_secrets'];
    const swept = new Set(expiringRows.map(({ table }) => table));
    expect(expiring.filter((table) => !swept.has(table ?? ''))).toEqual(stated);
    const result = await createSweep({ ...servicesOf({ db, now: clock.now }), targets: expiringRows })();
    expect(Object.keys(result).sort()).toEqual([...swept].sort());
  });
});
