// The database client seals and verifies rows. Another program changes them through `asStored`, which is Prisma itself.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createVault } from '../../src/base/platform/vault.ts';
import { openDatabase, transaction } from '../../src/base/storage/database.ts';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { hotStatements } from '../../src/base/storage/statements.ts';
import { textFieldNames } from '../../src/people/accounts/profile-fields.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';

let test: TestDatabase;
const alarms: string[] = [];
beforeAll(async () => {
  test = await testDatabase();
  const vault = createVault([Buffer.alloc(32, 1)]);
  test.database.protect(
    createProtectedRows({ vault, alarm: { raise: async (_, message) => void alarms.push(message) } }),
  );
  await db().user.create({ data: user });
});
afterAll(() => test?.close());

const db = () => test.database.db;
const none = Object.fromEntries(
  [
    'email',
    'emailKey',
    'phoneNumber',
    'address',
    'ssoId',
    'termsVersion',
    'termsAcceptedAt',
    'activeFrom',
    'activeUntil',
    'deleteAt',
    ...textFieldNames,
  ].map((column) => [column, null]),
);
const flags = { emailVerified: false, emailProven: false, phoneNumberVerified: false, isEnabled: true };
const names = { id: 'ann', username: 'ann', usernameKey: 'ann' };
const user = { ...none, ...flags, ...names, attributes: '{}', source: 'local', createdAt: new Date(0) };
const later = new Date(Date.UTC(2100, 0));
const session = {
  id: 's',
  clientId: 'gatehouse',
  userId: 'ann',
  ssoUid: 'x',
  acr: null,
  amr: '["pwd"]',
  authTime: later,
  expiresAt: later,
};

beforeEach(async () => {
  await db().rpSession.deleteMany();
  await db().rpSession.create({ data: session });
  alarms.length = 0;
});

const forge = () => db().asStored.rpSession.update({ where: { id: 's' }, data: { userId: 'mallory' } });
const stored = () => db().asStored.rpSession.findUnique({ where: { id: 's' } });

describe('a row that another program changed', () => {
  it('is absent for every read, with an alarm, also where only another column is read', async () => {
    await db().rpSession.create({ data: { ...session, id: 'other' } });
    await forge();
    const where = { id: 's' };
    expect(await db().rpSession.findUnique({ where })).toBeNull();
    expect(await db().rpSession.findFirst({ where })).toBeNull();
    expect(await db().rpSession.findUnique({ where, select: { expiresAt: true } })).toBeNull();
    await expect(db().rpSession.findUniqueOrThrow({ where })).rejects.toThrow('changed by another program');
    expect((await db().rpSession.findMany({ select: { id: true } })).map(({ id }) => id)).toEqual(['other']);
    expect(await transaction(db(), (tx) => tx.rpSession.findUnique({ where }))).toBeNull();
    expect(alarms).toEqual(Array(6).fill('a row of rp_sessions was written by another program: s'));
  });

  it('is not confirmed by a change of another column', async () => {
    await forge();
    const change = { where: { id: 's' }, data: { amr: '["pwd","mfa"]' } };
    await expect(db().rpSession.update(change)).rejects.toMatchObject({ by: 'outside' });
    expect(await db().rpSession.updateMany(change)).toEqual({ count: 0 });
    const upsert = { where: { id: 's' }, create: session, update: change.data };
    await expect(db().rpSession.upsert(upsert)).rejects.toMatchObject({ by: 'outside' });
    expect(await stored()).toMatchObject({ userId: 'mallory', amr: '["pwd"]' });
  });

  it('is replaced by a change that says every covered value, and deleted and counted like any other', async () => {
    await forge();
    await db().rpSession.update({ where: { id: 's' }, data: session });
    expect(await db().rpSession.findUnique({ where: { id: 's' } })).toMatchObject({ userId: 'ann' });
    await forge();
    expect(await db().rpSession.count()).toBe(1);
    expect(await db().rpSession.deleteMany({ where: { id: 's' } })).toEqual({ count: 1 });
    expect(alarms).toEqual([]);
  });

  it('loses what its table says: a forged trust is none, and the rest of the row stays', async () => {
    const browser = { id: 'b', userId: 'ann', tokenHash: 'h', expiresAt: later };
    const where = { id: 'b' };
    await db().knownBrowser.create({ data: { ...browser, trustedUntil: null } });
    expect(await db().knownBrowser.findUnique({ where })).toMatchObject({ mac: '', trustedUntil: null });
    await db().asStored.knownBrowser.update({ where, data: { trustedUntil: later } });
    expect(await db().knownBrowser.findUnique({ where })).toMatchObject({ tokenHash: 'h', trustedUntil: null });
    // A new token keeps no forged trust.
    await db().knownBrowser.updateMany({ where, data: { tokenHash: 'i' } });
    expect(await db().knownBrowser.findUnique({ where })).toMatchObject({ tokenHash: 'i', trustedUntil: null });
    await db().knownBrowser.updateMany({ where, data: { trustedUntil: later } });
    expect(await db().knownBrowser.findUnique({ where })).toMatchObject({ trustedUntil: later });
  });

  it('is absent where a relation leads to it, and takes the rows with it that belong to it', async () => {
    const run = { userId: 'ann', reason: 'x', initiator: null, completion: '{}', createdAt: later, expiresAt: later };
    await db().logoutRun.create({ data: { ...run, id: 'run', seenAt: later } });
    const one = { runId: 'run', position: 0, clientId: 'a', protocol: 'oidc', name: 'A', data: '{}' };
    const state = { channel: 'back', state: 'waiting' };
    await db().logoutParticipant.createMany({ data: ['p', 'q'].map((id) => ({ ...one, ...state, id })) });
    await db().asStored.logoutParticipant.update({ where: { id: 'p' }, data: { clientId: 'evil' } });
    const participants = { select: { id: true } };
    const read = () => db().logoutRun.findUnique({ where: { id: 'run' }, include: { participants } });
    expect((await read())?.participants).toEqual([{ id: 'q' }]);
    await db().asStored.logoutRun.update({ where: { id: 'run' }, data: { userId: 'mallory' } });
    expect(await read()).toBeNull();
    expect(await db().logoutParticipant.findUnique({ where: { id: 'q' }, include: { run: true } })).toBeNull();
  });

  it('is left out by a hot statement', async () => {
    const { find } = hotStatements('test', {
      find: `SELECT id, client_id AS "clientId", user_id AS "userId", sso_uid AS "ssoUid", acr, amr, auth_time AS "authTime", mac
        FROM rp_sessions`,
    });
    const { sql } = test.database;
    expect(await sql.genuine('rp_sessions', find)).toHaveLength(1);
    await forge();
    expect(await sql.genuine('rp_sessions', find)).toEqual([]);
    expect(await transaction(db(), (tx) => sql.in(tx).genuine('rp_sessions', find))).toEqual([]);
  });
});

describe('the client', () => {
  it('reads only what was asked for', async () => {
    expect(await db().rpSession.findUnique({ where: { id: 's' }, select: { amr: true } })).toEqual({ amr: '["pwd"]' });
  });

  it('changes other columns without a new MAC, and seals a change of a covered one', async () => {
    const { mac } = (await stored()) ?? {};
    await db().rpSession.update({ where: { id: 's' }, data: { sid: 'new' } });
    expect(await stored()).toMatchObject({ mac, sid: 'new' });
    await db().rpSession.update({ where: { id: 's' }, data: { amr: '[]' } });
    expect(await db().rpSession.findUnique({ where: { id: 's' } })).toMatchObject({ amr: '[]', sid: 'new' });
    expect((await stored())?.mac).not.toBe(mac);
  });

  it('verifies a row again that another request changed since it was verified, and changes it then', async () => {
    const where = { id: 's' };
    const changes = ['a', 'b', 'c'].flatMap((value) => [
      db().rpSession.update({ where, data: { amr: `["${value}"]` } }),
      db().rpSession.updateMany({ where, data: { sid: value } }),
    ]);
    await Promise.all(changes);
    const row = await db().rpSession.findUnique({ where });
    expect(row).toMatchObject({ amr: expect.stringMatching(/^\["[abc]"\]$/), sid: expect.stringMatching(/^[abc]$/) });
  });

  it('uses a row up once, however many requests try', async () => {
    const unused = { id: 's', OR: [{ sid: null }, { sid: { not: 'used' } }] };
    const tries = Array.from({ length: 6 }, (_, index) => [
      db().rpSession.updateMany({ where: unused, data: { sid: 'used' } }),
      db().rpSession.updateMany({ where: { id: 's' }, data: { amr: `["${index}"]` } }),
    ]);
    const results = await Promise.all(tries.map((pair) => Promise.all(pair)));
    const counts = results.map(([used]) => used?.count ?? 0);
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(1);
  });

  it('rejects what it cannot seal: a row without a covered column, a MAC, a nested or relative change', async () => {
    const { acr: _acr, ...without } = session;
    const where = { id: 's' };
    await expect(db().rpSession.create({ data: { ...without, id: 't' } })).rejects.toThrow(
      'rp_sessions.acr is missing',
    );
    await expect(db().rpSession.create({ data: { ...session, id: 't', mac: 'x' } })).rejects.toThrow('mac cannot');
    await expect(db().rpSession.update({ where, data: { mac: 'x' } })).rejects.toThrow('mac cannot');
    await expect(db().rpSession.update({ where, data: { amr: { set: '[]' } } })).rejects.toThrow('amr cannot');
    const roles = { create: { roleId: 'admin' } };
    await expect(db().user.update({ where: { id: 'ann' }, data: { username: 'x', roles } })).rejects.toThrow(
      'roles cannot',
    );
  });

  it('reads no protected row before the keys are known', async () => {
    const opened = await openDatabase(test.url);
    await expect(opened.db.rpSession.findMany()).rejects.toThrow('before the keys of MACs are known');
    expect(await opened.db.asStored.rpSession.findMany()).toHaveLength(1);
    await opened.close();
  });
});
