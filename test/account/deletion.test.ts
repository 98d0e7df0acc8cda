// A person deletes the own account: after a proof and some days in which each sign-in offers to keep it; never where an administrator decides.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeletion } from '../../src/account/deletion.ts';
import { limits } from '../../src/base/limits.ts';
import { describeDay } from '../../src/core/mail/wording.ts';
import { anApplication, completeSignIn } from '../oidc/support.ts';
import { mailOf } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

let box: Mailbox;
let idp: TestIdp;
beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  await idp.services.settings.set('self_deletion', true);
  await idp.services.settings.reload();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const DELETE = { form: '/account/data/delete' };
const find = ({ account }: TestUser) => idp.services.accounts.find(account.id);
/** The job, as if it ran after so many days. */
const runAfter = (days: number) => {
  const now = () => new Date(idp.services.now().getTime() + days * 24 * 3600 * 1000);
  return createDeletion({ ...idp.services, now }).job.run(new AbortController().signal);
};

async function asked(): Promise<TestUser> {
  const user = await aUser(idp.services);
  const browser = await signedIn(idp, user);
  const page = await browser.follow(await browser.submit(await browser.get('/account/data'), {}, DELETE));
  expect(textOf(page.text)).toContain('Your account will be deleted on');
  return user;
}

describe('the deletion of the own account', () => {
  it('ends everything after 14 days, with a mail at once and the sign-out of applications', async () => {
    const user = await asked();
    const { id, email } = user.account;
    const day = new Date(idp.services.now().getTime() + limits.deletion.defaultDays * 24 * 3600 * 1000);
    const mail = await mailOf(box, email ?? '', `Your account will be deleted on ${describeDay(day)}`);
    expect(mail.text).toContain(`${idp.issuer}/account/data`);
    await runAfter(limits.deletion.defaultDays - 1);
    expect(await find(user)).toBeDefined();
    await runAfter(limits.deletion.defaultDays + 1);
    expect(await find(user)).toBeUndefined();
    expect(await idp.services.sessions.list(id)).toEqual([]);
    const events = await idp.services.audit.list({
      subjectId: id,
      types: ['account.deletion-requested', 'sessions.ended-all', 'account.deleted'],
    });
    expect(events.map(({ type, actorId }) => [type, actorId])).toEqual([
      ['account.deleted', id],
      ['sessions.ended-all', id],
      ['account.deletion-requested', id],
    ]);
  });

  it('is said at each sign-in, which goes on, and is taken back there or on the page', async () => {
    const user = await asked();
    const app = await anApplication(idp);
    const started = await app.rp.start();
    const browser = httpClient(idp.issuer);
    const told = await completeSignIn(browser, started.url, { user });
    expect(textOf(told.text)).toContain('Your account will be deleted');
    const on = await completeSignIn(browser, await browser.submit(told, {}, { button: 'Continue' }), { user });
    expect(on.location).toContain('code=');
    expect((await find(user))?.deleteAt).toBeInstanceOf(Date);

    const again = await atAccount(idp, user);
    expect(textOf(again.text)).toContain('Your account will be deleted');
    const other = httpClient(idp.issuer);
    const kept = await other.follow(
      await other.submit(await atAccount(idp, user, other), {}, { button: 'Keep account' }),
    );
    expect(kept.text).toContain('Your account');
    expect((await find(user))?.deleteAt).toBeNull();
    await runAfter(20);
    expect(await find(user)).toBeDefined();
  });

  it('is canceled by no failure, which stops no other', async () => {
    const people = [await asked(), await asked()];
    const { services } = idp;
    for (const { account } of people) await services.roles.assign(account.id, 'admin');
    const [{ account: failing }] = people as [TestUser, TestUser];
    const check = async (id: string) => {
      if (id === failing.id) throw new Error('no database');
      return false;
    };
    const roles = {
      ...services.roles,
      isLastAdmin: check,
      assertNotLastAdmin: async (id: string) => void (await check(id)),
    };
    const now = () => new Date(services.now().getTime() + 20 * 24 * 3600 * 1000);
    await createDeletion({ ...services, now, roles }).job.run(new AbortController().signal);
    const [kept, gone] = await Promise.all(people.map(find));
    expect([kept?.deleteAt, gone]).toEqual([expect.any(Date), undefined]);
    await services.accounts.remove(failing.id);
  });

  it('goes on only while its person does not keep the account, also in the moment of the deletion', async () => {
    const user = await asked();
    const { services } = idp;
    let kept: Promise<boolean> | undefined;
    // The person keeps the account after the job has read it: before its transaction, or while it runs.
    const findWithLater: typeof services.accounts.findWithLater = async (id, tx) => {
      const account = await services.accounts.findWithLater(id, tx);
      if (id !== user.account.id || kept) return account;
      kept = services.accounts.setDeletion(id, null, { actorId: id }).catch(() => false);
      if (!tx) await kept;
      return account;
    };
    const now = () => new Date(services.now().getTime() + 20 * 24 * 3600 * 1000);
    const accounts = { ...services.accounts, findWithLater };
    await createDeletion({ ...services, now, accounts }).job.run(new AbortController().signal);
    expect(kept).toBeDefined();
    expect(await kept).toBe((await find(user)) !== undefined);
  });

  it('takes no lock to show the page, which would drop what every server knows of people', async () => {
    const user = await aUser(idp.services);
    await aUser(idp.services).then(({ account }) => idp.services.roles.assign(account.id, 'admin'));
    await idp.services.roles.assign(user.account.id, 'admin');
    const browser = await signedIn(idp, user);
    const { db, sql } = idp.services;
    const row = () => db.user.findUniqueOrThrow({ where: { id: user.account.id } });
    await expect.poll(async () => (await row()).lastSeenAt.getTime()).not.toBe(user.account.createdAt.getTime());
    const before = await sql.revision();
    expect(textOf((await browser.get('/account/data')).text)).toContain('Delete account');
    expect(await sql.revision()).toEqual(before);
  });

  it('is offered neither to accounts of the file or a directory, nor to the last administrator, nor without the setting', async () => {
    const user = await aUser(idp.services, { source: 'file' });
    const browser = await signedIn(idp, user);
    const page = await browser.get('/account/data');
    expect(textOf(page.text)).toContain('The configuration file manages your account');
    const { fields = {} } = page.forms[0] ?? {};
    await browser.post('/account/data/delete', { form: { _csrf: String(fields._csrf) } });
    expect((await find(user))?.deleteAt).toBeNull();
    await idp.services.settings.set('self_deletion', false);
    await idp.services.settings.reload();
    const off = await aUser(idp.services);
    const there = await signedIn(idp, off);
    const without = await there.get('/account/data');
    expect(without.text).not.toContain('Delete account');
    const sent = await there.post('/account/data/delete', { form: { _csrf: String(without.forms[0]?.fields._csrf) } });
    expect([sent.status, (await find(off))?.deleteAt]).toEqual([404, null]);
  });
});
