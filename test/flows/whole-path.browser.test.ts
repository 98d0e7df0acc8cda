// The complete path of a user who forgot the password, in a browser: mail, reset, authenticator app, passkey, a sign-in with
// it, a recovery code on another device, and the end of that session.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkIn, mailOf, NEW_PASSWORD } from '../recovery/support.ts';
import {
  addAuthenticator,
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  screenshot,
} from '../support/browser/browser.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

const clock = testClock();
let box: Mailbox;
let idp: TestIdp;
let browser: Browser;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await box?.close();
});

const press = (page: Page, label: string) => page.click(`button:has-text("${label}")`);
/** Waits for a page by its heading, and checks its accessibility. */
async function arrive(page: Page, heading: string, name: string): Promise<void> {
  await page.waitForSelector(`h1:has-text("${heading}")`);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `path-${name}`);
}

it('the whole path leads from a forgotten password to a passkey, a recovery code, and the end of the other session', {
  timeout: 180_000,
}, async () => {
  const user = await aUser(idp.services);
  const email = user.account.email ?? '';
  const context = await browser.newContext(phone);
  const page = await context.newPage();
  const device = await addAuthenticator(page);
  await device.setPresent(false);
  await context.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');

  // Forgot password -> mail -> reset
  await page.goto(`${idp.issuer}/account`);
  await page.click('text=Forgot password?');
  await page.fill('[name=username]', email);
  await press(page, 'Send link');
  await arrive(page, 'Check your email', 'mail');
  await page.goto(linkIn(await mailOf(box, email, 'Reset your password')));
  await page.fill('[name=password]', NEW_PASSWORD);
  await page.click('button.btn-primary');
  await page.waitForURL('**/reset-password/done');
  expect((await mailOf(box, email, 'Your password was changed')).text).toContain('signed out everywhere');
  await page.click('a.btn-primary');
  await page.fill('[name=username]', user.username);
  await page.fill('[name=password]', NEW_PASSWORD);
  await page.click('button.btn-primary');

  // Enrol an authenticator app
  await arrive(page, 'Your account', 'account');
  await page.click('text=Two-step verification and passkeys');
  await arrive(page, 'Two-step verification', 'factors');
  await page.click('text=Set up authenticator app');
  await page.waitForSelector('.qr img');
  const secret = (await page.textContent('code'))?.replaceAll(' ', '') ?? '';
  const code = () => generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) });
  await page.fill('[name=code]', code());
  await page.click('button.btn-primary');
  await arrive(page, 'recovery codes', 'recovery-codes');
  const codes = await page.locator('.codes code').allTextContents();
  expect(codes).toHaveLength(10);
  await page.click('text=I’ve saved my codes');

  // Enrol a passkey: the app was verified a moment ago, so no proof is required
  await page.click('text=Add a passkey');
  await arrive(page, 'Add a passkey', 'passkey');
  await device.setPresent(true);
  await page.fill('[name=name]', 'My phone');
  await press(page, 'Create passkey');
  await arrive(page, 'Two-step verification', 'both');
  expect(await page.textContent('main')).toContain('My phone');
  await device.setPresent(false);

  // Sign out, and sign in with the passkey alone
  await page.goto(`${idp.issuer}/account`);
  await page.click('text=Sign out');
  await page.waitForSelector('h1:has-text("signed out")');
  await page.goto(`${idp.issuer}/account`);
  await device.setPresent(true);
  await press(page, 'Sign in with a passkey');
  await page.waitForSelector('h1:has-text("Your account")');

  // On another device without passkey and app: the password and a recovery code
  const elsewhere = await browser.newContext(desktop);
  const other = await elsewhere.newPage();
  await other.goto(`${idp.issuer}/account`);
  await other.fill('[name=username]', user.username);
  await other.fill('[name=password]', NEW_PASSWORD);
  await other.click('button.btn-primary');
  await other.click('text=Use a recovery code');
  await arrive(other, 'Confirm it’s you', 'recovery');
  await other.fill('[name=code]', codes[0] ?? '');
  await other.click('button.btn-primary');
  await arrive(other, 'You used a recovery code', 'replace-factor');
  await press(other, 'Not now');
  await other.waitForSelector('h1:has-text("Your account")');
  expect((await mailOf(box, email, 'New sign-in to your account')).text).toContain('127.0.0.1');

  // List that session and end it from the phone
  await page.click('text=Where you’re signed in');
  await arrive(page, 'Where you’re signed in', 'sessions');
  expect(await page.locator('button.link:has-text("Sign out")').count()).toBe(1);
  await page.click('button.link:has-text("Sign out")');
  await page.waitForSelector('[role=status]:has-text("Session signed out")');
  await other.goto(`${idp.issuer}/account`);
  await other.waitForSelector('h1:has-text("Sign in")');
  await page.goto(`${idp.issuer}/account`);
  await page.waitForSelector('h1:has-text("Your account")');
  await Promise.all([context.close(), elsewhere.close()]);
});
