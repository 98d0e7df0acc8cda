// The first administrator: made once on an empty server, by one of the instances that start at the same moment.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureFirstAdmin, isFirstPasswordUnused, warnOfAdministrators } from '../../src/config-file/first-admin.ts';
import { testDatabase } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { startIdp } from '../support/idp.ts';
import { configFileBench } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeEach(async () => {
  bench = await configFileBench();
});
afterEach(() => bench.close());

const ensure = () => ensureFirstAdmin(bench);

describe('the first administrator', () => {
  it('has the admin role and a password that must be changed', async () => {
    const admin = await ensure();
    expect(admin).toMatchObject({ username: 'admin', password: expect.stringMatching(/^[\w-]{24}$/) });
    const account = await bench.accounts.findByLogin('admin');
    expect(account?.roles).toEqual(['admin']);
    expect(account?.permissions).toContain('gatehouse.users:write');
    expect(await bench.credentials.checkPassword(account, admin?.password ?? '')).toMatchObject({
      outcome: 'must-change',
    });
  });

  it('is named by a later start and by doctor until its password is used: a process may be killed before it displays it', async () => {
    const later = { ...bench, now: () => new Date(bench.clock.at.getTime() + 61_000) };
    expect(await isFirstPasswordUnused(later), 'on an empty server').toBe(false);
    const admin = await ensure();
    expect(
      await isFirstPasswordUnused({ ...bench, now: () => bench.clock.at }),
      'beside the start that stores it',
    ).toBe(false);
    const warnings: string[] = [];
    await warnOfAdministrators({ ...later, logger: { warn: (text: string) => void warnings.push(text) } as never });
    expect(warnings).toEqual([
      'nobody has signed in as admin yet. If its password is lost, run: gatehouse user set-password admin',
    ]);
    const account = await bench.accounts.findByLogin('admin');
    expect(admin?.username).toBe('admin');
    await bench.db.passwordCredential.update({
      where: { userId: account?.id ?? '' },
      data: { mustChange: false },
    });
    expect(await isFirstPasswordUnused(later), 'after a change').toBe(false);
  });

  it('is not made beside administrators of the file; a start says that none of them can sign in, and what gives a way', async () => {
    await bench.apply('users: [{ username: alice }, { username: root, roles: [admin] }]');
    const warnings: string[] = [];
    const start = () =>
      warnOfAdministrators({
        ...bench,
        now: () => bench.clock.at,
        logger: { warn: (text: string) => void warnings.push(text) } as never,
      });
    await start();
    expect(warnings).toEqual([
      'no administrator has a password or another way to sign in. Run: gatehouse user set-password root',
    ]);
    const root = (await bench.accounts.findByLogin('root')) ?? expect.fail();
    await bench.credentials.setPassword(root, 'a long new passphrase 7');
    await start();
    expect(warnings).toHaveLength(1);
  });

  it('is created once', async () => {
    await ensure();
    expect(await ensure()).toBeUndefined();
  });

  it('is created by one of several instances that start at once', async () => {
    const made = (await Promise.all([ensure(), ensure(), ensure()])).filter((admin) => admin !== undefined);
    expect(made).toHaveLength(1);
    const account = await bench.accounts.findByLogin('admin');
    expect(await bench.credentials.checkPassword(account, made[0]?.password ?? '')).toMatchObject({
      outcome: 'must-change',
    });
  });

  it('is not created when other users exist', async () => {
    await bench.accounts.create({ username: 'existing' });
    expect(await ensure()).toBeUndefined();
  });

  itOnSqlite.each([
    ['users: [{ username: root, roles: [admin] }]', false],
    ['users: [{ username: Admin }]', false],
    ['users: [{ username: alice }]', true],
  ])('is not created when the file declares an administrator: %s', async (text, isMade) => {
    await bench.apply(text);
    expect((await ensure()) !== undefined).toBe(isMade);
    expect(await ensure()).toBeUndefined();
  });

  itOnSqlite('is not created when the port is in use', async () => {
    const { url, close } = await testDatabase({ keysFrom: new Date() });
    await close();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const start = startIdp({ environment: { DATABASE_URL: url, PORT: String(port) } });
    await expect(start).rejects.toMatchObject({ code: 'EADDRINUSE' });
    other.close();
    await once(other, 'close');
    const idp = await startIdp({ environment: { DATABASE_URL: url } });
    expect(idp.firstAdmin).toMatchObject({ username: 'admin' });
    await idp.stop();
  });
});
