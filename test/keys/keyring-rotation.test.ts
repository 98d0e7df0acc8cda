import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import type { Keyring } from '../../src/core/keys/keyring.ts';
import type { TestClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { anInstance, smallRsaKeys, startOfTests, statesOf } from './support.ts';

smallRsaKeys();

let test: TestDatabase;
let keyring: Keyring;
let clock: TestClock;
beforeEach(async () => {
  test = await testDatabase({ keysFrom: startOfTests });
  ({ keyring, clock } = anInstance(test.database));
  await keyring.load();
});
afterEach(() => test.close());

const published = { seconds: limits.keys.publishAheadSeconds };
const kids = (of: Keyring, alg: string) => of.jwks().keys.flatMap((jwk) => (jwk.alg === alg ? [jwk.kid] : []));

describe('rotation of the OIDC keys', () => {
  it('signs with the key that was published before, and still publishes the old one', async () => {
    const [oldKey, nextKey] = kids(keyring, 'RS256');
    expect(await keyring.rotate({ use: 'oidc' })).toMatchObject({ outcome: 'too-early' });
    clock.advance(published);
    expect(await keyring.rotate({ use: 'oidc' })).toMatchObject({ outcome: 'rotated', activated: { length: 4 } });
    const [signing, successor, retired] = kids(keyring, 'RS256');
    expect([signing, retired]).toEqual([nextKey, oldKey]);
    expect([oldKey, nextKey]).not.toContain(successor);
    expect(await keyring.rotate({ use: 'oidc' })).toMatchObject({ outcome: 'too-early' });
  });

  it('can be forced, for a key that leaked', async () => {
    const [, nextKey] = kids(keyring, 'ES256');
    expect(await keyring.rotate({ use: 'oidc', force: true })).toMatchObject({ outcome: 'rotated' });
    expect(kids(keyring, 'ES256')[0]).toBe(nextKey);
  });

  it('happens after 90 days, and removes the old key when nothing that it signed is valid any more', async () => {
    const [oldKey] = kids(keyring, 'RS256');
    clock.advance({ days: limits.keys.rotateAfterDays, seconds: -1 });
    await keyring.runSchedule();
    expect(kids(keyring, 'RS256')[0]).toBe(oldKey);
    clock.advance({ seconds: 1 });
    await keyring.runSchedule();
    expect(kids(keyring, 'RS256')).toHaveLength(3);
    expect(kids(keyring, 'RS256')[2]).toBe(oldKey);
    clock.advance({ seconds: limits.keys.retireAfterSeconds - 1 });
    await keyring.runSchedule();
    expect(kids(keyring, 'RS256')).toContain(oldKey);
    clock.advance({ seconds: 1 });
    await keyring.runSchedule();
    expect(kids(keyring, 'RS256')).toHaveLength(2);
    expect(await test.database.db.signingKey.findUnique({ where: { id: oldKey ?? '' } })).toBeNull();
  });

  it('is recorded in the audit log, requested or scheduled', async () => {
    const [oldKey, nextKey] = kids(keyring, 'RS256');
    const auditRows = async () => {
      const rows = await test.database.db.auditEvent.findMany({ orderBy: { id: 'asc' } });
      return rows.map(({ type, actorId, data }) => ({ type, actorId, ...JSON.parse(data) }));
    };
    await keyring.rotate({ use: 'oidc', force: true }, { actorId: 'ann' });
    const byAnn = await auditRows();
    expect(byAnn).toContainEqual({
      type: 'key.activated',
      actorId: 'ann',
      kid: nextKey,
      instead: oldKey,
      forced: true,
    });
    expect(byAnn).toContainEqual({ type: 'key.retired', actorId: 'ann', kid: oldKey, forced: true });
    expect(byAnn.filter(({ type }) => type === 'key.created')).toHaveLength(4);
    clock.advance({ seconds: limits.keys.retireAfterSeconds });
    await keyring.runSchedule();
    expect(await auditRows()).toContainEqual({ type: 'key.removed', actorId: null, kid: oldKey, scheduled: true });
    const count = (await auditRows()).length;
    await keyring.runSchedule();
    expect(await auditRows()).toHaveLength(count);
  });

  it('publishes the old key for as long as a long session may last', async () => {
    const longSessions = anInstance({ ...test.database, clock, sessionSeconds: () => 30 * 24 * 3600 }).keyring;
    await longSessions.load();
    const [oldKey] = kids(longSessions, 'RS256');
    await longSessions.rotate({ use: 'oidc', force: true });
    clock.advance({ days: 30 });
    await longSessions.runSchedule();
    expect(kids(longSessions, 'RS256')).toContain(oldKey);
    clock.advance({ hours: 1 });
    await longSessions.runSchedule();
    expect(kids(longSessions, 'RS256')).not.toContain(oldKey);
  });
});

describe('several instances', () => {
  it('follow the rotation of another one, and notify their listeners once', async () => {
    const other = anInstance({ ...test.database, clock }).keyring;
    await other.load();
    let notifications = 0;
    const stop = other.onChange(() => {
      notifications += 1;
    });
    expect(await other.refresh()).toBe(false);
    await keyring.rotate({ use: 'oidc', force: true });
    expect(other.jwks()).not.toEqual(keyring.jwks());
    expect(await other.refresh()).toBe(true);
    expect(await other.refresh()).toBe(false);
    expect(other.jwks()).toEqual(keyring.jwks());
    expect(notifications).toBe(1);
    stop();
    await other.rotate({ use: 'oidc', force: true });
    expect(notifications).toBe(1);
  });

  it('notify a listener again after it failed', async () => {
    let calls = 0;
    keyring.onChange(() => {
      calls += 1;
      if (calls === 1) throw new Error('could not rebuild');
    });
    await expect(keyring.rotate({ use: 'oidc', force: true })).rejects.toThrow('could not rebuild');
    expect(await keyring.refresh()).toBe(true);
    expect(calls).toBe(2);
  });

  it('rotate once when they rotate at the same time', async () => {
    const database = await openDatabase(test.url);
    const other = anInstance({ ...database, clock }).keyring;
    await other.load();
    for (let round = 0; round < 3; round += 1) {
      clock.advance(published);
      const outcomes = await Promise.all([keyring, other].map((one) => one.rotate({ use: 'oidc' })));
      const names = outcomes.map(({ outcome }) => outcome).sort();
      expect(names[0]).toBe('rotated');
      expect(['superseded', 'too-early']).toContain(names[1]);
      await Promise.all([keyring.refresh(), other.refresh()]);
      expect(other.jwks()).toEqual(keyring.jwks());
      const states = await statesOf(keyring);
      expect(states.filter((state) => !state.includes('retired'))).toHaveLength(11);
    }
    await database.close();
  });
});
