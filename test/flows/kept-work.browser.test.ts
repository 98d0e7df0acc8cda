// What people had typed, were shown or needed next, and lost: each in a real browser.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { anUpstream } from '../federation/support.ts';
import { mailOf } from '../recovery/support.ts';
import { axe, type Browser, desktop, launchBrowser, type Page, screenshot } from '../support/browser/browser.ts';
import { aClient, aUser, PASSWORD, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { isLongRun } from '../support/long-run.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

let box: Mailbox;
let idp: TestIdp;
let browser: Browser;
let admin: TestUser;
let pageOfAdmin: Page;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  browser = await launchBrowser();
  admin = await staff(idp, 'admin');
  pageOfAdmin = await aPage();
  await pageOfAdmin.goto(`${idp.issuer}/admin`);
  await signIn(pageOfAdmin, admin);
  await pageOfAdmin.waitForSelector('h1:has-text("Overview")');
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await box?.close();
});

async function aPage(): Promise<Page> {
  const context = await browser.newContext(desktop);
  await context.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
  return context.newPage();
}

/** What the page displays to be copied is there after a reload, and in the other language: the pages of administrators have one way to keep it. */
async function expectKept(page: Page, values: string[], { isSwitched = isLongRun } = {}): Promise<void> {
  const isThere = async () => {
    const text = (await page.textContent('main')) ?? '';
    expect(values.filter((value) => value.length < 8 || !text.includes(value))).toEqual([]);
  };
  expect(values.length).toBeGreaterThan(0);
  await isThere();
  await page.reload();
  await isThere();
  if (!isSwitched) return;
  await page.locator('.languages summary').filter({ visible: true }).click();
  await page.locator('.languages a[lang=de]').filter({ visible: true }).click();
  await page.waitForSelector('html[lang=de]');
  await isThere();
  await page.locator('.languages summary').filter({ visible: true }).click();
  await page.locator('.languages a[lang=en]').filter({ visible: true }).click();
  await page.waitForSelector('html[lang=en]');
}

const shown = async (page: Page) =>
  (await page.locator('main [data-value]').filter({ visible: true }).allTextContents())
    .map((value) => value.trim())
    .filter((value) => /^[\w.-]{12,}$/.test(value));

it('username, Tab, password, Enter signs in', async () => {
  const user = await aUser(idp.services);
  const page = await aPage();
  await page.goto(`${idp.issuer}/account`);
  await page.focus('[name=username]');
  await page.keyboard.type(user.username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("Your account")');
  await page.context().close();
});

it('a secret, a temporary password and an API key survive a reload and a change of language', async () => {
  const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://wiki.example.com/cb'] });
  await pageOfAdmin.goto(`${idp.issuer}/admin/applications/${applicationId}/secret`);
  await pageOfAdmin.click('button:has-text("Create secret")');
  await pageOfAdmin.waitForSelector('.secret [data-value]');
  await expectKept(pageOfAdmin, await shown(pageOfAdmin), { isSwitched: true });

  const { account } = await aUser(idp.services);
  await pageOfAdmin.goto(`${idp.issuer}/admin/users/${account.id}/password`);
  await pageOfAdmin.click('main button[type=submit]');
  await pageOfAdmin.waitForSelector('main [data-value]');
  await expectKept(pageOfAdmin, await shown(pageOfAdmin));

  await pageOfAdmin.goto(`${idp.issuer}/admin/api-keys/new`);
  await pageOfAdmin.fill('main [name=name]', 'Backup job');
  await pageOfAdmin.locator('main input[type=checkbox]').first().check();
  await pageOfAdmin.click('main button.btn-primary');
  await pageOfAdmin.waitForSelector('main [data-value]');
  await expectKept(pageOfAdmin, await shown(pageOfAdmin));
});

it('recovery codes survive it, and one of them leads to a new factor, tells how many are left and is told by email', async () => {
  const user = await aUser(idp.services);
  const page = await aPage();
  await page.goto(`${idp.issuer}/account/factors`);
  await signIn(page, user);
  await page.click('text=Set up authenticator app');
  await page.waitForSelector('.qr img');
  const secret = (await page.textContent('code'))?.replaceAll(' ', '') ?? '';
  await page.fill('[name=code]', generateSync({ secret }));
  await page.click('button.btn-primary');
  await page.waitForSelector('.codes code');
  const codes = await page.locator('.codes code').allTextContents();
  expect(codes).toHaveLength(10);
  await expectKept(page, codes, { isSwitched: true });
  await page.context().close();

  const elsewhere = await aPage();
  await elsewhere.goto(`${idp.issuer}/account`);
  await signIn(elsewhere, user);
  // Nobody is stuck who has none of the methods.
  await elsewhere.waitForSelector('[name=code]');
  await elsewhere.click('text=I can’t use any of these');
  await elsewhere.waitForSelector(`text=Your username is ${user.username}.`);
  expect(await axe(elsewhere)).toEqual([]);
  await screenshot(elsewhere, 'no-factor');
  await elsewhere.goBack();
  await elsewhere.click('text=Use a recovery code');
  await elsewhere.fill('[name=code]', codes[0] ?? '');
  await elsewhere.click('button.btn-primary');
  await elsewhere.waitForSelector('h1:has-text("You used a recovery code")');
  expect(await elsewhere.textContent('main')).toMatch(/\b9\b/);
  expect(
    await elsewhere.locator('form[action$="/enrol-totp"], form[action$="/enrol-passkey"]').count(),
  ).toBeGreaterThan(0);
  await screenshot(elsewhere, 'replace-factor');
  const told = await mailOf(box, user.account.email ?? '', 'A recovery code was used to sign in to your account');
  expect(told.text).toContain('code');

  await elsewhere.context().close();
});

it('a help desk resets, unlocks and invites users who hold roles of applications', async () => {
  const users = ['read', 'write', 'unlock', 'reset-factors', 'reset-password'].map((one) => `gatehouse.users:${one}`);
  await idp.services.roles.create({ name: 'desk', permissions: users });
  await idp.services.roles.create({ name: 'editor', permissions: ['articles:write'] });
  const helper = await staff(idp, 'desk');
  const { account } = await aUser(idp.services);
  await idp.services.roles.assign(account.id, 'editor');
  await idp.services.mfa.totp.importSecret(account.id, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
  const page = await aPage();
  const at = `${idp.issuer}/admin/users/${account.id}`;
  await page.goto(at);
  await signIn(page, helper);
  await page.waitForURL(at);
  /** A button, or a link whose page asks first, in a dialog or, with more than a question, on its own. */
  const press = async (id: string, action: string, tab = '/security') => {
    await page.goto(`${idp.issuer}/admin/users/${id}${tab}`);
    await page.locator(`main form[action$="/${action}"] button, main a[href$="/${action}"]`).first().click();
    const form = `form[action$="/${action}"] button[type=submit]`;
    const ownPage = `body:has(h1:has-text("Invite")) main ${form}`;
    const answer = page.locator(`dialog[open] ${form}, ${ownPage}`).last();
    const note = page.locator('[role=status].note').first();
    await answer.or(note).waitFor();
    if (await answer.isVisible()) await answer.click();
    await note.waitFor();
  };
  await press(account.id, 'send-reset');
  await mailOf(box, account.email ?? '', 'Reset your password');
  await press(account.id, 'reset-factors');
  expect(await idp.services.mfa.factors.hasSecondFactor(account.id)).toBe(false);
  const invited = await idp.services.accounts.create({ username: 'newcomer', email: 'newcomer@example.com' });
  await idp.services.roles.assign(invited.id, 'editor');
  await press(invited.id, 'invite', '');
  await expect.poll(() => box.messages.some(({ to }) => to.includes('newcomer@example.com'))).toBe(true);
  await page.context().close();
});

it('a role that lacks a right which its others need says so when it is saved', async () => {
  const { id } = await idp.services.roles.create({ name: 'half', permissions: [] });
  await pageOfAdmin.goto(`${idp.issuer}/admin/roles/${id}`);
  await pageOfAdmin.locator('details:has([value="gatehouse.users:write"]) > summary').click();
  await pageOfAdmin.check('[value="gatehouse.users:write"]');
  await pageOfAdmin
    .locator('main .savebar button[type=submit], main form button.btn-primary')
    .filter({ visible: true })
    .last()
    .click();
  await pageOfAdmin.waitForSelector('text=Role saved.');
  expect(await pageOfAdmin.textContent('main')).toContain('gatehouse.users:read');
  expect(await pageOfAdmin.locator('main .note.warn').allTextContents()).toEqual([expect.stringMatching(/users/)]);
  await screenshot(pageOfAdmin, 'role-lacks');
});

it('a key rotation that cannot work is a disabled button that says when it can', async () => {
  await pageOfAdmin.goto(`${idp.issuer}/admin/keys`);
  const rotate = pageOfAdmin.locator('button:has-text("Rotate")').first();
  expect(await rotate.isDisabled()).toBe(true);
  expect(await pageOfAdmin.textContent('main')).toMatch(/From .*, when applications have read the next key/);
  await screenshot(pageOfAdmin, 'keys');
});

it('a wrong client secret of a connection is named when it is saved', async () => {
  const one = await anUpstream(idp, { name: 'Example Corp' });
  await pageOfAdmin.goto(`${idp.issuer}/admin/connections/${one.connection}/secret`);
  await pageOfAdmin.fill('main [name=value]', 'not-the-secret-of-this-client');
  await pageOfAdmin.click('main button.btn-primary');
  await pageOfAdmin.waitForSelector('text=Secret rejected');
  expect(await pageOfAdmin.textContent('main')).toContain('rejected the client ID or secret.');
  expect(await axe(pageOfAdmin)).toEqual([]);
  await screenshot(pageOfAdmin, 'connection-secret-rejected');
  await one.remove();
});
