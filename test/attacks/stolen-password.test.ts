// An attacker has the password, or the mailbox, of a user without a second factor. Where the settings allow codes by email (email_codes), the
// password alone changes nothing on the account pages: a code from the mailbox comes first.

import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccountPages } from '../../src/account/account-pages.ts';
import { ACCOUNT_CONFIRM } from '../../src/account/rp/signed-in.ts';
import { limits } from '../../src/base/limits.ts';
import { aService } from '../admin/support.ts';
import { anApplication, authorizeUrl } from '../oidc/support.ts';
import { linkIn, mailOf, NEW_PASSWORD, redeem, resetLink } from '../recovery/support.ts';
import { anyDependency } from '../support/any-dependency.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';
import { fieldsOf } from '../support/pages/html.ts';

let box: Mailbox;
let idp: TestIdp;
let user: TestUser;
let attacker: HttpClient;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  const { settings } = idp.services;
  await settings.set('rate_limits', false);
  await settings.set('email_codes', true);
  await settings.set('sms_gateway', { url: 'https://sms.example.com/', token: 'x', sender: 'y' });
  await settings.reload();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});
beforeEach(async () => {
  user = await aUser(idp.services);
  attacker = await signedIn(idp, user);
});

const pages = [
  '/account/email',
  '/account/password',
  '/account/factors/app',
  '/account/factors/passkey',
  '/account/factors/phone',
  '/account/app-passwords/new',
  '/account/data',
];
const forms: [string, Record<string, string>][] = [
  ['/account/email', { email: 'attacker@example.net' }],
  ['/account/password', { password: 'nine purple kettles in november' }],
  ['/account/factors/app', { code: '000000', sealed: 'x' }],
  ['/account/factors/app/remove', {}],
  ['/account/factors/recovery-codes', {}],
  ['/account/factors/passkey', { response: '{}', sealed: 'x' }],
  ['/account/factors/passkey/rename', { id: 'x', name: 'y' }],
  ['/account/factors/passkey/remove', { id: 'x' }],
  ['/account/factors/phone', { phone: '+49 170 1234567' }],
  ['/account/factors/phone/confirm', { code: '000000', sealed: 'x' }],
  ['/account/factors/phone/remove', {}],
  ['/account/groups/deputies', { login: 'x', group: 'x', until: '2099-01-01' }],
  ['/account/groups/deputies/end', { group: 'x', user: 'x' }],
  ['/account/data/download', {}],
  ['/account/data/delete', {}],
  ['/account/app-passwords', { website: 'x', name: 'y' }],
  ['/account/connections/:connectionId/link', {}],
  ['/account/connections/unlink', { id: 'x' }],
  ['/account/profile/phone', { phone: '+49 170 1234567' }],
  ['/account/profile/phone/confirm', { code: '000000', sealed: 'x' }],
  ['/account/profile/phone/remove', {}],
];

/** They take something away from an attacker, or change nothing that protects the account. */
const unprotected = [
  // It takes the proof, and hands the form over to its own route.
  '/account/confirm/:request',
  '/account/profile',
  '/account/profile/picture',
  '/account/profile/picture/remove',
  '/account/email/verify',
  // The link of a mail, which confirms the address that the session of this user asked for.
  '/verify-email',
  '/password-strength',
  '/account/browsers/forget',
  '/account/browsers/forget-all',
  '/account/app-passwords/revoke',
  '/account/data/keep',
  '/account/applications/revoke',
  '/account/groups/ask',
  '/account/groups/withdraw',
  '/account/groups/:id/add',
  '/account/groups/:id/invite',
  '/account/groups/:id/withdraw-invitation',
  '/account/groups/:id/end',
  '/account/groups/:id/remove',
  '/account/groups/:id/decide',
  // The link of a mail, for the account that has its address; owners of groups: docs/decisions/0047-groups.md.
  '/join',
  '/join/register',
  '/account/sessions/end',
  '/account/sessions/end-others',
  '/account/sessions/end-all',
];

const asksForMailedCode = (page: Page) => page.text.includes('We’ll send a code to') && page.text.includes('Send code');
const open = async (browser: HttpClient, path: string) => browser.follow(await browser.get(path));
const isEnrolment = (page: Page) => page.forms.some(({ action }) => action.includes('enrol-totp'));

async function enterMailedCode(browser: HttpClient, page: Page): Promise<Page> {
  const sent = await browser.follow(await browser.submit(page, {}, { button: 'Send code' }));
  const mail = await mailOf(box, user.account.email ?? '', 'Your sign-in code');
  return browser.follow(await browser.submit(sent, { code: /\b(\d{6})\b/.exec(mail.text)?.[1] ?? '' }));
}

/** The sign-in of every session of the user, as if it had been long ago. */
async function signedInLongAgo(): Promise<void> {
  const { db } = idp.services;
  const seconds = limits.recentAuthentication.seconds + 60;
  for (const { id, payload } of await db.oidcArtifact.findMany({
    where: { model: 'Session', accountId: user.account.id },
  })) {
    const stored = JSON.parse(payload) as { loginTs: number };
    stored.loginTs -= seconds;
    await db.oidcArtifact.update({ where: { id }, data: { payload: JSON.stringify(stored), mac: '' } });
  }
  const authTime = new Date(Date.now() - seconds * 1000);
  await db.asStored.rpSession.updateMany({ where: { userId: user.account.id }, data: { authTime, mac: '' } });
  await signRows(idp.services);
}

describe('a stolen password, where codes by email are on,', () => {
  it.each(pages)('does not open %s without a code from the mailbox', async (path) => {
    expect(asksForMailedCode(await open(attacker, path))).toBe(true);
  });

  it.each(forms)('does not change anything by a form sent to %s', async (path, fields) => {
    const { _csrf = '' } =
      (await attacker.get('/account/profile')).forms.find(({ fields: all }) => '_csrf' in all)?.fields ?? {};
    const rejected = await attacker.post(path, { form: { ...fields, _csrf } });
    expect([rejected.status, rejected.location]).toEqual([303, expect.stringContaining(ACCOUNT_CONFIRM)]);
    expect(asksForMailedCode(await attacker.follow(rejected))).toBe(true);
    const untold = await attacker.post(path, { form: fields });
    expect([untold.status, untold.location]).toEqual([403, undefined]);
  });

  it('meets a form for every change of the account pages that needs the code, and the others are known', () => {
    const { routers } = createAccountPages(anyDependency);
    const posts = routers.flatMap(({ stack }) => stack.filter(({ methods }) => methods.includes('POST')));
    const all = [...forms.map(([path]) => path), ...unprotected];
    expect(posts.map(({ path }) => String(path)).sort()).toEqual(all.sort());
  });

  it('changes the address after the code, until the sign-in is no longer recent', async () => {
    const form = await enterMailedCode(attacker, await open(attacker, '/account/email'));
    const done = await attacker.follow(await attacker.submit(form, { email: 'new@example.net' }));
    expect(done.text).toContain('We’re sending a link to new@example.net');
    await signedInLongAgo();
    const again = await open(attacker, '/account/email');
    expect(asksForMailedCode(again)).toBe(true);
    // A password instead is no answer to that question.
    expect((await attacker.submit(again, { method: 'password', password: user.password })).status).toBe(400);
  });

  it('sets up an authenticator app after the code, which replaces the code from then on', async () => {
    const form = await enterMailedCode(attacker, await open(attacker, '/account/factors/app'));
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(form.text)?.[1]?.replaceAll(' ', '') ?? '';
    const codes = await attacker.follow(await attacker.submit(form, { code: generateSync({ secret }) }));
    expect(codes.text).toContain('recovery codes');
    expect(fieldsOf(await open(attacker, '/account/email'))).toContain('email');
  });

  it('does not change the own account in the console, for an administrator whose password is enough for it', async () => {
    await idp.services.roles.assign(user.account.id, 'admin');
    const at = `/admin/users/${user.account.id}`;
    const edit = await attacker.get(at);
    const question = await attacker.follow(await attacker.submit(edit, { email: 'attacker@example.net' }));
    expect(question.text).toContain('a code from your mailbox');
    expect(asksForMailedCode(question)).toBe(true);
  });
});

describe('a session whose sign-in was long ago', () => {
  it.each([true, false])(
    'begins with the password before a first factor is set up (codes by email: %s)',
    async (codes) => {
      await idp.services.settings.set('email_codes', codes);
      await idp.services.settings.reload();
      await signedInLongAgo();
      const page = await open(attacker, '/login?acr_values=urn:gatehouse:acr:mfa');
      expect(isEnrolment(page), 'is the enrolment').toBe(false);
      expect(asksForMailedCode(page), 'asks for a mailed code').toBe(false);
      const next = await attacker.follow(
        await attacker.submit(page, { username: user.username, password: user.password }),
      );
      expect(codes ? asksForMailedCode(next) : isEnrolment(next)).toBe(true);
      await idp.services.settings.set('email_codes', true);
      await idp.services.settings.reload();
    },
  );

  it('begins with the password before a code by email, also for an application that denies the user', async () => {
    await idp.services.roles.create({ name: 'editor' });
    const closed = await anApplication(idp, { access: { roles: ['editor'] }, mfa: 'required' });
    await signedInLongAgo();
    const page = await open(attacker, authorizeUrl(idp, closed.clientId));
    expect(asksForMailedCode(page)).toBe(false);
    const next = await attacker.follow(
      await attacker.submit(page, { username: user.username, password: user.password }),
    );
    expect(asksForMailedCode(next)).toBe(true);
    expect((await enterMailedCode(attacker, next)).text).toContain('You don’t have access');
  });
});

it('an account needs no code by email on the account pages where codes are off', async () => {
  await idp.services.settings.set('email_codes', false);
  await idp.services.settings.reload();
  const browser = httpClient(idp.issuer);
  await atAccount(idp, user, browser);
  expect((await browser.get('/account/email')).status).toBe(200);
  await idp.services.settings.set('email_codes', true);
  await idp.services.settings.reload();
});

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

describe('the mailbox of a user with rights and without a second factor', () => {
  beforeAll(() => setAdminMfa('required'));
  afterAll(() => setAdminMfa('optional'));

  async function setAdminMfa(rule: 'required' | 'optional'): Promise<void> {
    await idp.services.settings.set('admin_mfa', rule);
    await idp.services.settings.reload();
  }
  const resetByMail = async () => redeem(idp, await resetLink(idp, box, user.username, user.account.email ?? ''));
  /** A browser after the sign-in with the password of the reset and the code from the mailbox, and its page. */
  async function throughMailbox() {
    const browser = httpClient(idp.issuer);
    const page = await atAccount(idp, { ...user, password: NEW_PASSWORD }, browser);
    return { browser, page: await enterMailedCode(browser, page) };
  }
  const isRejected = ({ status, text }: Page) =>
    status === 403 && text.includes('Another administrator must allow you to set up two-step verification');

  it('sets up no factor after a reset, and the page says who can allow it', async () => {
    await idp.services.roles.assign(user.account.id, 'admin');
    await resetByMail();
    const { browser, page } = await throughMailbox();
    expect(isRejected(page)).toBe(true);
    expect(page.text).toContain(`gatehouse user allow-factor ${user.username}`);
    const step = new URL(page.url).pathname;
    expect((await browser.post(`${step}/enrol-totp`, { form: { code: '000000', sealed: 'x' } })).status).toBe(403);
    expect((await open(browser, '/admin')).text).not.toContain('Overview');

    await idp.services.mfa.firstEnrolment.allow(user.account.id, { actorId: 'another administrator' });
    expect(isEnrolment(await browser.get(step))).toBe(true);
  });

  it('gets no invitation that replaces the password, and sets up no factor with one from before it', async () => {
    await idp.services.roles.assign(user.account.id, 'admin');
    const service = await aService(idp);
    const invite = () => service.send('POST', `/users/${user.account.id}/invite`);
    expect((await invite()).status).toBe(409);
    // The row of the password is hidden while the invitation is sent, as if the password came at the same moment.
    const where = { userId: user.account.id };
    const { mac } = await idp.services.db.asStored.passwordCredential.findUniqueOrThrow({ where });
    await idp.services.db.asStored.passwordCredential.update({ where, data: { mac: '' } });
    expect((await invite()).status).toBe(202);
    await idp.services.db.asStored.passwordCredential.update({ where, data: { mac } });
    await redeem(idp, linkIn(await mailOf(box, user.account.email ?? '', 'You’ve been invited to Gatehouse')));
    expect(isRejected((await throughMailbox()).page)).toBe(true);
  });

  it('sets up no factor when the rights were given after the reset, or the approval before it', async () => {
    await idp.services.mfa.firstEnrolment.allow(user.account.id, {});
    await resetByMail();
    await idp.services.roles.assign(user.account.id, 'support');
    expect(isRejected((await throughMailbox()).page)).toBe(true);
  });

  it('allows no factor to itself in the console, where the settings let the password open it', async () => {
    await idp.services.roles.assign(user.account.id, 'admin');
    await resetByMail();
    await setAdminMfa('optional');
    const browser = await signedIn(idp, { ...user, password: NEW_PASSWORD });
    const form = await enterMailedCode(browser, await open(browser, '/account/email'));
    const { _csrf = '' } = form.forms.find(({ fields }) => '_csrf' in fields)?.fields ?? {};
    const at = `/admin/users/${user.account.id}`;
    expect((await browser.post(`${at}/allow-factor`, { form: { _csrf } })).status).toBe(403);
    expect(isRejected(await open(browser, '/account/factors/app'))).toBe(true);
    expect((await browser.post(`${at}/reset-factors`, { form: { _csrf } })).status).toBe(303);
    expect((await idp.services.mfa.firstEnrolment.state(user.account.id)).resetByMailAt).not.toBeNull();
    await setAdminMfa('required');
  });

  it('sets up no factor in place of one that an administrator removes after the reset', async () => {
    await idp.services.roles.assign(user.account.id, 'admin');
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    await resetByMail();
    await idp.services.mfa.factors.reset(user.account.id, { actorId: 'another administrator' });
    expect(isRejected((await throughMailbox()).page)).toBe(true);
  });

  it('sets up a factor in place of a removed one when the user has proven that one after the reset', async () => {
    await idp.services.roles.assign(user.account.id, 'admin');
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    await resetByMail();
    const browser = httpClient(idp.issuer);
    const form = await atAccount(idp, { ...user, password: NEW_PASSWORD }, browser);
    await browser.submit(form, { code: generateSync({ secret: SECRET }) });
    await idp.services.mfa.factors.reset(user.account.id, { actorId: 'another administrator' });
    expect(isEnrolment((await throughMailbox()).page)).toBe(true);
  });

  it('keeps no restriction after a factor was set up', async () => {
    await resetByMail();
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    expect(await idp.services.mfa.firstEnrolment.state(user.account.id)).toMatchObject({ resetByMailAt: null });
  });
});
