// Accounts that nobody uses: two emails, then disabled, and deleted after a third one. Each test moves the clock; the people of the tests before are out of the way.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Tx } from '../../src/base/storage/database.ts';
import { createInactivity } from '../../src/people/accounts/inactivity.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { commandLine } from '../cli/support.ts';
import { anApplication, authorizeUrl } from '../oidc/support.ts';
import { aConnection, USER } from '../scim/support.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

const DAY_MS = 24 * 3_600_000;
const realTime = Date.now;
let movedMs = 0;
const pass = (days: number) => {
  movedMs += days * DAY_MS;
};

let idp: TestIdp;
let box: Mailbox;
const mailServer = () => idp.services.settings.set('mail_server', { host: '127.0.0.1', tls: 'none', port: box.port });

beforeAll(async () => {
  box = await mailbox();
  Date.now = () => realTime() + movedMs;
  idp = await startIdp({ now: () => new Date(Date.now()) });
  // The emails stay, however far the clock is moved.
  const held = { holder: 'test', lockedUntil: new Date('2200-01-01') };
  const where = { name: 'sweep' };
  await idp.services.db.jobLock.upsert({ where, create: { ...where, ...held }, update: held });
});
beforeEach(async () => {
  const { db, settings } = idp.services;
  for (const { id } of await db.user.findMany()) await idp.services.accounts.remove(id);
  await staff(idp, 'admin');
  await settings.set('inactive_after_days', 90);
  await settings.set('delete_unused_after_days', 0);
  await mailServer();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
  Date.now = realTime;
});

const run = () => idp.services.inactivity.run();
const rowOf = ({ account }: TestUser) => idp.services.db.user.findUniqueOrThrow({ where: { id: account.id } });
const mailsTo = async ({ account }: TestUser) =>
  idp.services.db.mailMessage.count({ where: { kind: 'account-unused', userId: account.id } });
/** The emails are away before the days pass: a late one is given up. */
const delivered = () =>
  expect.poll(() => idp.services.db.mailMessage.count({ where: { sentAt: null, failedAt: null } })).toBe(0);
const disabledEvents = async ({ account }: TestUser) =>
  (await idp.services.audit.list({ subjectId: account.id, types: ['account.disabled'] })).map(({ reason }) => reason);
/** The run of each day. */
async function days(count: number): Promise<void> {
  for (let day = 0; day < count; day += 1) {
    pass(1);
    await run();
  }
}
/** As after all warnings. */
const warned = async ({ account }: TestUser) =>
  idp.services.db.user.update({
    where: { id: account.id },
    data: {
      lastSeenAt: new Date(Date.now() - 95 * DAY_MS),
      idleNotice: 'second',
      idleNoticeAt: new Date(Date.now() - 4 * DAY_MS),
    },
  });

describe('an account that nobody uses', () => {
  itOnBothInLongRun('is told twice, and then disabled, which its person reads at the sign-in', async () => {
    const user = await aUser(idp.services);
    await days(75);
    expect(await mailsTo(user)).toBe(0);
    await days(1);
    expect([await mailsTo(user), (await rowOf(user)).idleNotice]).toEqual([1, 'first']);
    await days(10);
    expect(await mailsTo(user)).toBe(1);
    await days(1);
    expect([await mailsTo(user), (await rowOf(user)).idleNotice]).toEqual([2, 'second']);
    await days(2);
    expect((await rowOf(user)).isEnabled).toBe(true);
    await days(1);
    expect((await rowOf(user)).isEnabled).toBe(false);
    await days(3);
    expect([await mailsTo(user), await disabledEvents(user)]).toEqual([2, ['unused']]);

    const { clientId } = await anApplication(idp);
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get(authorizeUrl(idp, clientId)));
    const page = await browser.submit(form, { username: user.username, password: user.password });
    expect([page.status, textOf(page.text)]).toEqual([403, expect.stringContaining('hadn’t been used since')]);

    // Enabled again: all its days again.
    await idp.services.accounts.setActive(user.account.id, true);
    await days(13);
    expect((await rowOf(user)).isEnabled).toBe(true);
    expect(await mailsTo(user)).toBe(4);
  });

  it('is deleted after a third email, where the setting says so; not one that an administrator disabled', async () => {
    const { settings, accounts, audit } = idp.services;
    const [user, other] = [await aUser(idp.services), await aUser(idp.services)];
    await accounts.setActive(other.account.id, false);
    await warned(user);
    await run();
    expect((await rowOf(user)).isEnabled).toBe(false);
    await days(40);
    expect(await mailsTo(user)).toBe(0);
    await expect(settings.set('delete_unused_after_days', 10)).rejects.toThrow();
    await settings.set('delete_unused_after_days', 60);
    await days(5);
    expect(await mailsTo(user)).toBe(0);
    await days(1);
    expect([await mailsTo(user), (await rowOf(user)).idleNotice]).toEqual([1, 'last']);
    const [mail] = await idp.services.db.mailMessage.findMany({ where: { userId: user.account.id } });
    expect(mail?.subject).toContain('will be deleted on');
    await delivered();
    await days(13);
    expect((await accounts.find(user.account.id))?.wasUnused).toBe(true);
    await days(1);
    expect(await accounts.find(user.account.id)).toBeUndefined();
    const events = await audit.list({ subjectId: user.account.id, types: ['account.deleted'] });
    expect(events).toMatchObject([{ actorId: null }]);
    await days(200);
    expect(await accounts.find(other.account.id)).toBeDefined();
  });

  itOnBothInLongRun('is not deleted where nobody received the third email', async () => {
    const { settings, accounts, outbox } = idp.services;
    const user = await aUser(idp.services);
    await warned(user);
    await run();
    await settings.set('delete_unused_after_days', 60);
    pass(46);
    await settings.unset('mail_server');
    await run();
    expect((await rowOf(user)).idleNotice).toBe('disabled');
    await mailServer();
    box.rejectNext(1000, 550);
    await run();
    await expect.poll(async () => (await rowOf(user)).idleNotice).toBe('disabled');
    box.rejectNext(0);
    await days(45);
    expect([await accounts.find(user.account.id), (await rowOf(user)).idleNotice]).toMatchObject([{}, 'disabled']);
    await days(1);
    expect((await rowOf(user)).idleNotice).toBe('last');
    await delivered();
    await settings.unset('mail_server');
    await days(15);
    expect(await accounts.find(user.account.id)).toBeDefined();
    // The server was removed after the run.
    const to = { email: user.account.email ?? '', name: user.username, userId: user.account.id };
    const day = new Date(Date.now());
    await outbox.send({ to, kind: 'account-unused', since: day, until: day, isDisabled: true });
    await expect.poll(async () => (await rowOf(user)).idleNotice).toBe('disabled');
  });

  itOnBothInLongRun('is not deleted after an invitation since the run began', async () => {
    const { settings, accounts, db } = idp.services;
    const people = [await aUser(idp.services), await aUser(idp.services)];
    await settings.set('delete_unused_after_days', 60);
    const at = new Date(Date.now() - 15 * DAY_MS);
    for (const { account } of people)
      await db.user.update({
        where: { id: account.id },
        data: {
          isEnabled: false,
          idleNotice: 'last',
          idleNoticeAt: at,
          lastSeenAt: new Date(at.getTime() - 200 * DAY_MS),
        },
      });
    const removed: string[] = [];
    // The first deletion of the run invites the other one.
    const endSession = {
      async all(id: string, _reason: string, _by: object, tx: Tx) {
        removed.push(id);
        const other = people.find(({ account }) => account.id !== id)?.account.id ?? '';
        const token = {
          purpose: 'invite',
          tokenHash: 'since',
          data: '{}',
          createdAt: at,
          expiresAt: tomorrow(),
          usedAt: null,
        };
        await tx.mailToken.create({ data: { id: 'since', userId: other, ...token } });
      },
    };
    const tomorrow = () => new Date(Date.now() + DAY_MS);
    await createInactivity({ ...idp.services, endSession }).run();
    const left = await Promise.all(people.map(({ account }) => accounts.find(account.id)));
    expect([removed.length, left.filter(Boolean).length]).toEqual([1, 1]);
  });

  itOnBothInLongRun('is signed out where it is disabled', async () => {
    const user = await aUser(idp.services);
    await signedIn(idp, user);
    await expect.poll(async () => (await rowOf(user)).lastSeenAt.getTime()).not.toBe(user.account.createdAt.getTime());
    await warned(user);
    await run();
    expect((await rowOf(user)).isEnabled).toBe(false);
    expect(await idp.services.sessions.list(user.account.id)).toEqual([]);
  });

  itOnBothInLongRun('begins again with each use', async () => {
    const user = await aUser(idp.services);
    await days(88);
    expect(await mailsTo(user)).toBe(2);
    await signedIn(idp, user);
    await expect.poll(async () => (await rowOf(user)).idleNotice).toBe('');
    await days(70);
    expect([await mailsTo(user), (await rowOf(user)).isEnabled]).toEqual([2, true]);
    await days(7);
    expect(await mailsTo(user)).toBe(3);
  });

  itOnBothInLongRun('has all its days where the setting is new, or was off meanwhile', async () => {
    const user = await aUser(idp.services);
    pass(1000);
    await run();
    expect([await mailsTo(user), (await rowOf(user)).isEnabled]).toEqual([1, true]);
    await days(13);
    expect((await rowOf(user)).isEnabled).toBe(true);
    await idp.services.settings.set('inactive_after_days', 0);
    await days(1);
    expect((await rowOf(user)).isEnabled).toBe(true);
    pass(365);
    await idp.services.settings.set('inactive_after_days', 90);
    await run();
    expect([await mailsTo(user), (await rowOf(user)).isEnabled]).toEqual([3, true]);
    await days(14);
    expect((await rowOf(user)).isEnabled).toBe(false);
  });

  itOnBothInLongRun('stays without an address, because its person cannot be warned', async () => {
    const user = await aUser(idp.services, { email: null, emailVerified: false });
    pass(100);
    await run();
    await days(14);
    expect([await mailsTo(user), (await rowOf(user)).isEnabled]).toEqual([0, true]);
  });

  it('stays where the file or a directory manages it, its person is invited, it has not begun, or it is the last administrator', async () => {
    const { accounts, db } = idp.services;
    const [admin] = await db.user.findMany({ where: { roles: { some: { role: { name: 'admin' } } } } });
    const file = await accounts.create({ username: 'declared', source: 'file' });
    const hr = await aConnection(idp);
    const userName = 'managed@corp.example';
    const managed = await hr.ok('POST', '/Users', { schemas: [USER], userName, emails: [{ value: userName }] });
    const invited = await accounts.create({ username: 'invited', email: 'invited@example.com' });
    const later = await accounts.create({ username: 'later', activeFrom: new Date(Date.now() + 95 * DAY_MS) });
    const other = await aUser(idp.services);
    pass(100);
    const at = new Date(Date.now());
    await db.mailToken.create({
      data: {
        id: 'invitation',
        userId: invited.id,
        purpose: 'invite',
        tokenHash: 'hash',
        data: '{}',
        usedAt: null,
        createdAt: at,
        expiresAt: new Date(at.getTime() + 30 * DAY_MS),
      },
    });
    await run();
    await days(14);
    expect((await rowOf(other)).isEnabled).toBe(false);
    for (const id of [admin?.id, file.id, String(managed.id), invited.id, later.id])
      expect(await db.user.findUniqueOrThrow({ where: { id: String(id) } }), id).toMatchObject({
        isEnabled: true,
        idleNotice: '',
      });
  });

  it('is told and disabled once by two servers', async () => {
    const user = await aUser(idp.services);
    pass(100);
    await Promise.all([run(), run()]);
    expect(await mailsTo(user)).toBe(1);
    await warned(user);
    await Promise.all([run(), run()]);
    expect(await disabledEvents(user)).toEqual(['unused']);
  });
});

describe('too many at once', () => {
  itOnBothInLongRun('wait until an administrator approves it on the overview', async () => {
    const people: TestUser[] = [];
    for (let at = 0; at < 12; at += 1) people.push(await aUser(idp.services));
    pass(100);
    const admin = await staff(idp, 'admin');
    await run();
    await run();
    const told = async () => (await Promise.all(people.map(mailsTo))).reduce((all, count) => all + count, 0);
    expect(await told()).toBe(0);
    const { audit, db } = idp.services;
    const stops = await audit.list({ types: ['inactivity.stopped'] });
    expect(stops).toMatchObject([{ outcome: 'failure', data: { count: 13, of: 14, days: 90 } }]);

    const desk = await staff(idp, 'auditor');
    const reader = await consoleOf(idp, desk);
    const browser = await consoleOf(idp, admin);
    const overview = await browser.get('/admin');
    expect(textOf(overview.text)).toContain('13 of 14 users');
    expect(overview.forms.filter(({ fields }) => 'unused' in fields)).toHaveLength(1);
    const seen = await reader.get('/admin');
    expect(seen.forms.filter(({ fields }) => 'unused' in fields)).toEqual([]);
    expect((await reader.submit(overview, { unused: 'approve' })).status).toBe(403);
    expect(await audit.list({ types: ['inactivity.approved'] })).toEqual([]);
    await signedInLongAgo(idp, admin);
    const asked = await browser.submit(overview, { unused: 'approve' });
    await signInAgain(browser, await confirmation(browser, asked), admin);
    expect(await audit.list({ types: ['inactivity.approved'] })).toEqual([]);
    const approved = await browser.follow(await browser.submit(overview, { unused: 'approve' }));
    expect(textOf(approved.text)).not.toContain('13 of 14 users');
    expect(await audit.list({ types: ['inactivity.approved'] })).toMatchObject([{ actorId: admin.account.id }]);

    await run();
    expect(await told()).toBe(12);
    // The next steps of the same people too.
    await days(14);
    expect(await db.user.count({ where: { isEnabled: true, id: { in: people.map((one) => one.account.id) } } })).toBe(
      0,
    );
    expect(await audit.list({ types: ['inactivity.stopped'] })).toHaveLength(1);
  });
});

it('is approved for as many people as were counted, and for no more', async () => {
  const people: TestUser[] = [];
  for (let at = 0; at < 12; at += 1) people.push(await aUser(idp.services));
  pass(100);
  await run();
  await idp.services.inactivity.approve({});
  const lastSeenAt = new Date(Date.now() - 100 * DAY_MS);
  for (let at = 0; at < 3; at += 1) {
    const more = await aUser(idp.services);
    await idp.services.db.user.update({ where: { id: more.account.id }, data: { lastSeenAt } });
  }
  await run();
  expect(await Promise.all(people.map(mailsTo))).toEqual(people.map(() => 0));
  expect(await idp.services.inactivity.stopped()).toMatchObject({ count: 16 });
});

itOnBothInLongRun('is approved for deletions only as it was asked, and for nobody who is due later', async () => {
  const { settings, inactivity, db, accounts } = idp.services;
  const made = async (count: number) => {
    const people: TestUser[] = [];
    for (let at = 0; at < count; at += 1) people.push(await aUser(idp.services));
    return people;
  };
  const told = async (people: TestUser[]) =>
    (await Promise.all(people.map(mailsTo))).reduce((all, count) => all + count, 0);
  const inDays = (count: number) => new Date(Date.now() + count * DAY_MS);
  await run();
  const disabled = await made(12);
  for (const { account } of disabled)
    await db.user.update({
      where: { id: account.id },
      data: { isEnabled: false, idleNotice: 'disabled', idleNoticeAt: inDays(100), lastSeenAt: inDays(-100) },
    });
  const warnedNow = await made(12);
  pass(100);
  await run();
  expect(await inactivity.stopped()).toMatchObject({ count: 13, deletions: 0 });
  await inactivity.approve({});
  await run();
  expect(await told(warnedNow)).toBe(12);

  // Others, whose days are over while the approval lasts.
  const later = await made(12);
  for (const { account } of later)
    await db.user.update({ where: { id: account.id }, data: { lastSeenAt: inDays(-76) } });
  pass(1);
  await run();
  expect(await told(later)).toBe(0);
  await inactivity.approve({});
  await run();
  expect(await told(later)).toBe(12);

  // The setting is new.
  await settings.set('delete_unused_after_days', 30);
  pass(20);
  await run();
  expect(await told(disabled)).toBe(0);
  expect(await inactivity.stopped()).toMatchObject({ deletions: 12 });
  const overview = await (await consoleOf(idp, await staff(idp, 'admin'))).get('/admin');
  expect(textOf(overview.text)).toContain('12 of them to be deleted');
  expect(textOf(overview.text)).toContain('warned, disabled or deleted');
  await inactivity.approve({});
  await run();
  expect(await told(disabled)).toBe(12);
  await delivered();
  await days(14);
  for (const { account } of disabled) expect(await accounts.find(account.id)).toBeUndefined();
});

describe('when nobody uses an account', () => {
  const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
  const spoken = (offset: number) =>
    new Date(Date.now() + offset * DAY_MS).toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' });

  itOnBothInLongRun(
    'its page, the settings, the API and the command line say when it is disabled and deleted, and about the emails',
    async () => {
      const { settings } = idp.services;
      await settings.set('delete_unused_after_days', 60);
      const [user, seen] = [await aUser(idp.services), await aUser(idp.services)];
      const cli = await commandLine();
      // Sessions and tokens end while the days pass.
      const textAt = async (path: string) =>
        textOf((await (await consoleOf(idp, await staff(idp, 'admin'))).get(path)).text);
      const page = () => textAt(`/admin/users/${user.account.id}`);
      const list = () => textAt('/admin/settings/privacy');
      const ofApi = async () =>
        (await (await aService(idp)).get(`/users/${user.account.id}`)).json().unused_end as Record<string, string>;
      const shown = async () =>
        (await cli.gatehouse(['user', 'show', user.username], { env: idp.environment as Record<string, string> })).out;

      expect(await page()).toContain(
        `If it stays unused Will be disabled on ${spoken(90)} Next email on ${spoken(76)}`,
      );
      expect(await ofApi()).toMatchObject({ what: 'disabled', told_at: null });
      expect((await ofApi()).at).toContain(day(90));
      expect(await list()).not.toContain('Will be');
      expect(await shown()).toMatch(new RegExp(`if unused +disabled on ${day(90)}, email on ${day(76)}`));

      pass(76);
      await idp.services.db.user.update({ where: { id: seen.account.id }, data: { lastSeenAt: new Date(Date.now()) } });
      await run();
      expect(await page()).toContain(
        `Will be disabled on ${spoken(14)} Email sent on ${spoken(0)} Next email on ${spoken(11)}`,
      );
      expect(await list()).toContain(`${user.username} Will be disabled on ${spoken(14)}`);
      expect(await list()).not.toContain(seen.username);
      const [mail] = await idp.services.db.mailMessage.findMany({ where: { userId: user.account.id } });
      expect(mail?.subject).toContain('will be disabled on');

      await delivered();
      await days(11);
      expect(await page()).toContain(`Will be disabled on ${spoken(3)} Email sent on ${spoken(0)}`);
      expect(await page()).not.toContain('Next email');
      await days(3);
      expect(await page()).toContain(
        `If it stays disabled Will be deleted on ${spoken(60)} Next email on ${spoken(46)}`,
      );
      await delivered();
      await days(46);
      expect(await ofApi()).toMatchObject({ what: 'deleted', next_email_at: null });
      expect((await ofApi()).at).toContain(day(14));
      expect(await list()).toContain(`${user.username} Will be deleted on ${spoken(14)}`);
      // Nothing becomes of it where the settings say so.
      await settings.set('delete_unused_after_days', 0);
      expect([await ofApi(), (await list()).includes('Will be deleted')]).toEqual([null, false]);
      await cli.close();
    },
  );

  itOnBothInLongRun('says nothing of the last administrator, and names nobody to who cannot read users', async () => {
    const user = await aUser(idp.services);
    pass(76);
    await run();
    const admin = await idp.services.accounts.findByLogin('admin');
    const [held] = await idp.services.db.userRole.findMany({ where: { role: { name: 'admin' } } });
    const last = await idp.services.accounts.find(held?.userId ?? '');
    expect([admin, last && (await idp.services.inactivity.endOf(last))]).toEqual([undefined, undefined]);
    expect(await idp.services.inactivity.endOf(user.account)).toMatchObject({ what: 'disabled' });
    await idp.services.roles.create({ name: 'setter', permissions: ['gatehouse.settings:read'] });
    const setter = await consoleOf(idp, await staff(idp, 'setter'));
    const page = await setter.get('/admin/settings/privacy');
    expect([page.status, textOf(page.text).includes(user.username)]).toEqual([200, false]);
  });
});

itOnBothInLongRun('stops no run as the last administrator where the database fails', async () => {
  const user = await aUser(idp.services);
  await idp.services.roles.assign(user.account.id, 'admin');
  await warned(user);
  const fails = () => Promise.reject(new Error('no database'));
  const roles = { ...idp.services.roles, isLastAdmin: fails, assertNotLastAdmin: fails };
  const errors: unknown[] = [];
  const logger = { error: (what: unknown) => errors.push(what) } as never;
  await createInactivity({ ...idp.services, roles, logger }).run();
  expect([errors.length, (await rowOf(user)).isEnabled]).toEqual([1, true]);
});

describe('the setting', () => {
  itOnBothInLongRun('is none that warns people who just came', async () => {
    await expect(idp.services.settings.set('inactive_after_days', 10)).rejects.toThrow();
  });
});
