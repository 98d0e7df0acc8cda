// "Don’t ask again in this browser" (setting remember_browser_days): a revocable cookie, which a password change ends; and
// the mail about a sign-in from a new browser.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mailIsIdle, mailOf } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount } from '../support/pages/account.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
let box: Mailbox;
let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  await idp.services.settings.set('remember_browser_days', 14);
  await idp.services.settings.reload();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});
beforeEach(async () => {
  user = await aUser(idp.services);
  await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
});

const email = () => user.account.email ?? '';
/** A code that counts as unused, because the last accepted time step is reset. */
async function code(): Promise<string> {
  await idp.services.db.totpCredential.updateMany({ data: { lastStep: 0 } });
  return generateSync({ secret: SECRET });
}
async function trusting(remember = true): Promise<HttpClient> {
  const browser = httpClient(idp.issuer, { headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' } });
  const page = await atAccount(idp, user, browser);
  expect(page.text).toContain('Don’t ask again in this browser for 14 days');
  const fields = { code: await code(), ...(remember && { remember: 'yes' }) };
  expect((await browser.follow(await browser.submit(page, fields))).text).toContain('Your account');
  return browser;
}
/** Ends the session and signs in again with the password. */
async function again(browser: HttpClient, password = user.password): Promise<Page> {
  await idp.services.endSession.all(user.account.id, 'ended-by-person');
  return atAccount(idp, { username: user.username, password }, browser);
}
const needsSecondFactor = (page: Page) => page.text.includes('one-time-code');

describe('a remembered browser', () => {
  it('skips the second factor for the user who chose it, and for no other user', async () => {
    const unwilling = await trusting(false);
    const browser = await trusting();
    // A logout ends the trust of the browser, so the cookie is used for a new sign-in beside the session.
    const fresh = httpClient(idp.issuer);
    expect(needsSecondFactor(await atAccount(idp, user, fresh))).toBe(true);
    const step = await browser.follow(await browser.get('/login?prompt=login&return_to=/account'));
    const back = await browser.follow(await browser.submit(step, { username: user.username, password: user.password }));
    expect(needsSecondFactor(back)).toBe(false);
    const other = await unwilling.follow(await unwilling.get('/login?prompt=login&return_to=/account'));
    const page = await unwilling.follow(
      await unwilling.submit(other, { username: user.username, password: user.password }),
    );
    expect(needsSecondFactor(page)).toBe(true);
  });

  it('gets a new cookie with the choice: a copy made before needs the second factor', async () => {
    const browser = await trusting(false);
    const cookiesOf = () => browser.cookies.all().filter(({ name }) => name.startsWith('gatehouse_browser'));
    const before = cookiesOf();
    const step = await browser.follow(await browser.get('/login?prompt=login&return_to=/account'));
    const page = await browser.follow(await browser.submit(step, { username: user.username, password: user.password }));
    await browser.follow(await browser.submit(page, { code: await code(), remember: 'yes' }));
    const copyNeedsSecondFactor = async (cookies: typeof before) => {
      const thief = httpClient(idp.issuer);
      for (const cookie of cookies) thief.cookies.set(cookie);
      return needsSecondFactor(await atAccount(idp, user, thief));
    };
    expect(await copyNeedsSecondFactor(before)).toBe(true);
    expect(await copyNeedsSecondFactor(cookiesOf())).toBe(false);
  });

  it('needs the second factor again after its removal on the account page', async () => {
    const browser = await trusting();
    const page = await browser.get('/account/browsers');
    expect(page.text).toContain('Firefox');
    const forgotten = await browser.follow(await browser.submit(page, {}, { form: '/account/browsers/forget' }));
    expect(forgotten.text).toContain('Browser removed. We’ll email you the next time it signs in.');
    expect(needsSecondFactor(await again(browser))).toBe(true);
  });

  it('needs the second factor again after a password change', async () => {
    const browser = await trusting();
    const password = 'another long pass phrase, fine';
    const page = await browser.get('/account/password');
    await browser.follow(await browser.submit(page, { password }));
    const [known] = await idp.services.mfa.knownBrowsers.list(user.account.id);
    expect(known?.isTrusted).toBe(false);
    const step = await browser.follow(await browser.get('/login?prompt=login&return_to=/account'));
    expect(
      needsSecondFactor(await browser.follow(await browser.submit(step, { username: user.username, password }))),
    ).toBe(true);
  });

  it('is not accepted by a forged cookie, nor by the cookie of another user', async () => {
    const browser = await trusting();
    const [, value = ''] = /gatehouse_browser=([^;]+)/.exec(browser.cookies.headerFor(new URL(idp.issuer)) ?? '') ?? [];
    const forged = httpClient(idp.issuer, { headers: { cookie: `gatehouse_browser=${value.slice(0, -3)}AAA` } });
    expect(needsSecondFactor(await atAccount(idp, user, forged))).toBe(true);
    const owner = user;
    user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    await idp.services.endSession.all(owner.account.id, 'ended-by-person');
    expect(needsSecondFactor(await again(browser))).toBe(true);
  });
});

describe('a sign-in from a new browser', () => {
  const notices = async () => {
    await mailIsIdle(idp.services);
    return box.messages.filter(({ to, subject }) => to.includes(email()) && subject === 'New sign-in to your account');
  };

  it('sends one mail with browser, address and time', async () => {
    const browser = await trusting();
    const mail = await mailOf(box, email(), 'New sign-in to your account');
    expect(mail.text).toContain('Firefox on Linux');
    expect(mail.text).toContain('127.0.0.1');
    await again(browser);
    expect(await notices()).toHaveLength(1);
  });

  it('sends no mail when the setting is off', async () => {
    await idp.services.settings.set('new_browser_notice', false);
    await idp.services.settings.reload();
    await trusting();
    expect(await notices()).toEqual([]);
    await idp.services.settings.unset('new_browser_notice');
    await idp.services.settings.reload();
  });
});
