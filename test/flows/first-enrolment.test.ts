// A stolen password is not enough to set up the first second factor where an administrator has to allow it.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { mailOf } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';

let box: Mailbox;
let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  await idp.services.settings.set('first_factor', 'approval');
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});
beforeEach(async () => {
  user = await aUser(idp.services);
});

async function requireFactor(mfa: 'optional' | 'required'): Promise<void> {
  await idp.services.settings.set('mfa', mfa);
  await idp.services.settings.reload();
}
const needsApproval = (page: Page) =>
  page.status === 403 && page.text.includes('must allow you to set up two-step verification');

describe('the first second factor', () => {
  it('waits in the sign-in for an administrator, and its owner gets a mail when it is set up', async () => {
    await requireFactor('required');
    const browser = httpClient(idp.issuer);
    const page = await atAccount(idp, user, browser);
    expect(needsApproval(page)).toBe(true);
    const step = new URL(page.url).pathname;
    const forged = await browser.post(`${step}/enrol-totp`, { form: { code: '000000', sealed: 'x' } });
    expect(forged.status).toBe(403);
    expect((await idp.services.mfa.firstEnrolment.waiting()).map(({ id }) => id)).toContain(user.account.id);

    await idp.services.mfa.firstEnrolment.allow(user.account.id, {});
    const enrol = await browser.get(step);
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(enrol.text)?.[1]?.replaceAll(' ', '') ?? '';
    await browser.submit(enrol, { code: generateSync({ secret }) }, { form: 'enrol-totp' });
    expect((await browser.follow(await browser.get(step))).text).toContain('Your account');
    expect(
      (await mailOf(box, user.account.email ?? '', 'An authenticator app was added to your account')).text,
    ).toContain('127.0.0.1');
  });

  it('is listed in the console, where an administrator allows it', async () => {
    await requireFactor('optional');
    const browser = await signedIn(idp, user);
    await browser.get('/account/factors/app');
    await idp.services.settings.set('admin_mfa', 'optional');
    await idp.services.settings.set('first_factor', 'open');
    await idp.services.settings.reload();
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    expect((await admin.get('/admin')).text).toContain(user.username);
    const at = `/admin/users/${user.account.id}`;
    expect((await admin.get(at)).text).toContain('Needs approval');
    const done = await admin.follow(await admin.submit(await admin.get(`${at}/allow-factor`)));
    expect(done.text).toContain('The user can now set up two-step verification.');
    expect(await idp.services.mfa.firstEnrolment.waiting()).toEqual([]);
    await idp.services.settings.set('first_factor', 'approval');
    await idp.services.settings.reload();
    expect((await browser.get('/account/factors/app')).status).toBe(200);
  });

  it.each(['app', 'passkey', 'phone'])('cannot be set up at /account/factors/%s without the approval', async (path) => {
    await requireFactor('optional');
    await idp.services.settings.set('sms_gateway', { url: 'https://sms.example.com/', token: 'x', sender: 'y' });
    await idp.services.settings.reload();
    const browser = await signedIn(idp, user);
    expect(needsApproval(await browser.get(`/account/factors/${path}`))).toBe(true);
    await idp.services.mfa.firstEnrolment.allow(user.account.id, {});
    expect((await browser.get(`/account/factors/${path}`)).status).toBe(200);
  });
});
