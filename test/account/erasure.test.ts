// After the deletion of an account, nothing in the database names the person: not the audit log, which still verifies, and no other table.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { erasureJob } from '../../src/people/accounts/retired.ts';
import { serverJobs } from '../../src/server/schedule.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { anApplication, signIn } from '../oidc/support.ts';
import { mailIsIdle } from '../recovery/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let admin: ApiCaller;
beforeAll(async () => {
  idp = await startIdp();
  admin = await aPerson(idp, ['admin']);
});
afterAll(() => idp?.stop());

/** The job, as if it ran after so many days. */
async function erase(days = 0): Promise<void> {
  const now = () => new Date(idp.services.now().getTime() + days * 24 * 3600 * 1000);
  const job = serverJobs({ ...idp.services, now }).find(({ name }) => name === 'erasure') ?? expect.fail();
  await job.run(new AbortController().signal);
}

/** The tables with a row that has one of these texts. */
async function tablesWith(texts: readonly string[]): Promise<string[]> {
  const { asStored } = idp.services.db as unknown as { asStored: Record<string, { findMany?(): Promise<object[]> }> };
  const found: string[] = [];
  for (const [name, model] of Object.entries(asStored)) {
    if (name.startsWith('$') || name.startsWith('_') || typeof model?.findMany !== 'function') continue;
    const rows = JSON.stringify(await model.findMany(), (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    if (texts.some((text) => rows.includes(text))) found.push(name);
  }
  return found;
}

it('forgets a deleted person at once, or after the days of the setting', async () => {
  const { settings, auditChain, db } = idp.services;
  const user = await aUser(idp.services, {
    username: 'quetzalcoatl',
    email: 'quetzal@example.com',
    name: 'Quetzal Example',
  });
  const { id } = user.account;
  await signIn(httpClient(idp.issuer), await anApplication(idp), user);
  await signedIn(idp, user);
  await admin.send('POST', `/users/${id}/disable`);
  const personal = [id, 'quetzalcoatl', 'quetzal@example.com', 'Quetzal Example'];
  expect((await tablesWith(personal)).length).toBeGreaterThan(5);
  expect((await admin.send('DELETE', `/users/${id}`, undefined, { 'if-match': '*' })).status).toBe(204);

  await erase();
  expect(await tablesWith(personal)).toContain('auditEvent');
  await settings.set('erase_after_days', 0);
  await settings.reload();
  await mailIsIdle(idp.services);
  await erase();
  // A notice to an application may still be under way.
  expect((await tablesWith(personal)).filter((name) => !/^(logout|mail)/.test(name))).toEqual(['retiredSubject']);
  await mailIsIdle(idp.services);
  await erase(1);
  const left = await db.asStored.auditEvent.findMany();
  expect(left.filter((row) => personal.some((text) => JSON.stringify(row).includes(text)))).toEqual([]);
  expect(await tablesWith(personal)).toEqual([]);
  expect(await auditChain.verify()).toMatchObject({ ok: true });

  // The identifier stays taken.
  const taken = await idp.services.accounts
    .create({ id, username: 'other' })
    .catch((error: { status: number }) => error.status);
  expect(taken).toBe(409);
  const pages = await consoleOf(idp, await staff(idp, 'admin'));
  const log = textOf((await pages.get('/admin/audit')).text);
  expect(log).toContain('a former user');
  expect(log).toContain('The personal data of a former user was erased from the activity log');
});

it('does not erase for a program that writes a row itself, or puts one back', async () => {
  const { account } = await aUser(idp.services);
  const { db } = idp.services;
  const row = { id: 'x'.repeat(43), userId: account.id, retiredAt: new Date(0), mac: 'forged.mac' };
  await db.asStored.retiredSubject.create({ data: row });
  await erase();
  expect(await idp.services.audit.list({ subjectId: account.id })).not.toEqual([]);
});

it('erases the others when one fails, and each again after pauses that grow, until a day is over', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) {
    const { account } = await aUser(idp.services);
    ids.push(account.id);
    await admin.send('DELETE', `/users/${account.id}`, undefined, { 'if-match': '*' });
  }
  await idp.services.settings.set('erase_after_days', 0);
  await idp.services.settings.reload();
  const clock = testClock(idp.services.now());
  const tried: string[] = [];
  const job = erasureJob({
    ...idp.services,
    now: clock.now,
    readByAll: async () => Number.POSITIVE_INFINITY,
    async removeRows(userId) {
      tried.push(userId);
      if (userId === ids[0]) throw new Error('a fault of one statement');
    },
  });
  const turn = async (minutes: number) => {
    clock.advance({ seconds: minutes * 60 });
    tried.length = 0;
    await job.run(new AbortController().signal);
    return tried.filter((one) => ids.includes(one)).sort();
  };
  expect(await turn(0)).toEqual([...ids].sort());
  expect(await turn(5)).toEqual([]);
  expect(await turn(6)).toEqual([...ids].sort());
  expect(await turn(15)).toEqual([]);
  expect(await turn(6)).toEqual([...ids].sort());
  expect(await turn(24 * 60)).toEqual([...ids].sort());
  expect(await turn(24 * 60)).toEqual([ids[0]]);
});

it('waits until all that follows the log has read of the deletion, for a day at most', async () => {
  const { settings, db, now } = idp.services;
  await settings.unset('erase_after_days');
  await settings.reload();
  const clock = testClock(now());
  let read = 0;
  const job = erasureJob({
    ...idp.services,
    // Not that of the server, whose job would erase too.
    settings: { ...settings, latest: () => ({ ...settings.latest(), erase_after_days: 0 }) },
    now: clock.now,
    readByAll: async () => read,
    removeRows: async () => {},
  });
  const left = async (id: string) => {
    await job.run(new AbortController().signal);
    return db.auditEvent.count({ where: { subjectId: id } });
  };
  const deleted = async () => {
    const { account } = await aUser(idp.services);
    await idp.services.accounts.remove(account.id);
    return account.id;
  };
  const [first, second] = [await deleted(), await deleted()];
  clock.advance({ seconds: 60 });
  expect(await left(first)).toBeGreaterThan(0);
  const { _max: last } = await db.auditEvent.aggregate({ where: { subjectId: first }, _max: { chainSeq: true } });
  read = last.chainSeq ?? 0;
  expect(await left(first)).toBe(0);
  expect(await left(second)).toBeGreaterThan(0);
  clock.advance({ seconds: 24 * 3600 });
  expect(await left(second)).toBe(0);
});
