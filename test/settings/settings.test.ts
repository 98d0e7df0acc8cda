// Settings: their ranges, their defaults, and that another instance sees a change within seconds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVault } from '../../src/base/platform/vault.ts';
import { transaction } from '../../src/base/storage/database.ts';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { coveredSetting, createSettings, defaultSettings } from '../../src/core/settings/settings.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';

let database: TestDatabase;
const clock = { at: new Date('2026-03-01T12:00:00Z') };
const now = () => clock.at;
const later = (seconds: number) => {
  clock.at = new Date(clock.at.getTime() + seconds * 1000);
};
beforeAll(async () => {
  database = await testDatabase();
  database.database.protect(protectedRows);
});
afterAll(() => database.close());
const vault = createVault([Buffer.alloc(32, 1)]);
const alarms: string[] = [];
const protectedRows = createProtectedRows({ vault, alarm: { raise: async (_, message) => void alarms.push(message) } });
const open = () => createSettings({ db: database.database.db, now });

describe('settings', () => {
  it('have documented defaults', () => {
    expect(defaultSettings).toMatchObject({
      session_hours: 12,
      access_token_minutes: 15,
      reset_token_minutes: 20,
      mfa: 'optional',
      self_registration: false,
      outgoing_networks: [],
      rate_limits: true,
    });
  });

  it('stay in their ranges (access token at most 60 minutes, reset token 15 to 30)', async () => {
    const settings = open();
    for (const minutes of [0, 61, 1.5]) await expect(settings.set('access_token_minutes', minutes)).rejects.toThrow();
    for (const minutes of [14, 31]) await expect(settings.set('reset_token_minutes', minutes)).rejects.toThrow();
    for (const network of ['10.0.0.0/33', '10.0.0', 'fd00::/129', 'host/8', '10.0.0.0/8/8']) {
      await expect(settings.set('outgoing_networks', [network])).rejects.toThrow();
    }
    await settings.set('outgoing_networks', ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);
    expect(await settings.list()).toContainEqual({
      name: 'outgoing_networks',
      value: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'],
      source: 'local',
    });
  });

  it('reach another instance although its clock was set back', async () => {
    const [one, other] = [open(), open()];
    expect(await other.get('max_sessions_per_user')).toBe(0);
    later(-3600);
    await one.set('max_sessions_per_user', 3);
    expect(await other.get('max_sessions_per_user')).toBe(3);
    await one.unset('max_sessions_per_user');
    later(3600);
  });

  it('reach another instance within seconds', async () => {
    const [one, other] = [open(), open()];
    expect(await other.get('mfa')).toBe('optional');
    await one.set('mfa', 'required');
    expect(await one.get('mfa')).toBe('required');
    later(6);
    expect(other.latest().mfa).toBe('optional'); // and starts a read
    await expect.poll(() => other.latest().mfa).toBe('required');
    await one.unset('mfa');
    expect(await one.get('mfa')).toBe('optional');
  });

  it.each(['the change', 'its commit'])('do not go back to a read from before %s', async (end) => {
    const { db } = database.database;
    let finish = () => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let reads = 0;
    const findMany: typeof db.setting.findMany = (async (query: Parameters<typeof db.setting.findMany>[0]) => {
      reads += 1;
      if (reads > 1) return db.setting.findMany(query);
      await slow;
      return []; // as before the change
    }) as never;
    const setting = new Proxy(db.setting, { get: (of, key) => (key === 'findMany' ? findMany : Reflect.get(of, key)) });
    const settings = createSettings({
      db: new Proxy(db, { get: (of, key) => (key === 'setting' ? setting : Reflect.get(of, key)) }),
      now,
    });
    let begun = end === 'the change' ? settings.reload() : undefined;
    await transaction(db, async (tx) => {
      await settings.set('mfa', 'required', { tx });
      begun ??= settings.reload();
    });
    const afterwards = settings.reload();
    finish();
    expect((await begun)?.mfa).toBe('optional');
    expect((await afterwards).mfa).toBe('required');
    expect(settings.latest().mfa).toBe('required');
    await settings.unset('mfa');
  });

  it('have their default when the stored value is not accepted', async () => {
    const row = { key: 'session_hours', value: '100000', updatedAt: new Date() };
    const mac = protectedRows.macOf('settings', coveredSetting(row));
    await database.database.db.setting.create({ data: { ...row, mac } });
    expect(await open().get('session_hours')).toBe(12);
  });
});
