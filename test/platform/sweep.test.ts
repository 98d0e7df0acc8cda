import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../src/platform/db.ts';
import { createSweep } from '../../src/platform/sweep.ts';
import { testClock } from '../support/clock.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database.ts';

let test: TestDatabase;
let db: Db;
const clock = testClock('2026-06-01T12:00:00Z');
const later = (seconds: number) => new Date(clock.now().getTime() + seconds * 1000);

beforeAll(async () => {
  test = await testDatabase();
  db = test.database.db;
});
afterAll(() => test.close());

describe('the sweep', () => {
  it('deletes what has expired, whatever the column holds, and nothing else', async () => {
    await db.seenMessage.createMany({
      data: [
        { id: 'expired', expiresAt: later(-1) },
        { id: 'valid', expiresAt: later(1) },
      ],
    });
    const artifact = (id: string, expiresAt: bigint | null) => ({ id, model: 'Session', payload: '{}', expiresAt });
    const seconds = BigInt(clock.now().getTime() / 1000);
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
      db,
      kind: databaseKind(),
      now: clock.now,
      targets: [
        { table: 'seen_messages', column: 'expires_at' },
        { table: 'oidc_artifacts', column: 'expires_at', unit: 'seconds' },
        { table: 'rate_limits', column: 'expires_at', unit: 'milliseconds' },
        { table: 'audit_events', column: 'at', keepSeconds: 86_400 },
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

  it('takes a backlog in batches, lets others write in between, and stops when told to', async () => {
    await db.seenMessage.createMany({
      data: Array.from({ length: 25 }, (_, index) => ({ id: `old-${index}`, expiresAt: later(-60) })),
    });
    const targets = [{ table: 'seen_messages', column: 'expires_at' }];
    const sweep = createSweep({ db, kind: databaseKind(), now: clock.now, targets, batch: 10 });
    const controller = new AbortController();
    const aborted = sweep(controller.signal);
    controller.abort();
    expect(await aborted).toEqual({ seen_messages: 10 });
    const [swept] = await Promise.all([sweep(), db.seenMessage.create({ data: { id: 'new', expiresAt: later(60) } })]);
    expect(swept).toEqual({ seen_messages: 15 });
    expect(await db.seenMessage.count({ where: { id: 'new' } })).toBe(1);
  });

  it('takes names of tables and columns only', () => {
    const targets = [{ table: 'users; DROP TABLE users', column: 'id' }];
    expect(() => createSweep({ db, kind: databaseKind(), now: clock.now, targets })).toThrow(/not a name/);
  });
});
