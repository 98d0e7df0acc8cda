// A password reset in a real browser: from the sign-in page to the mail and back, on a phone, with fields that password
// managers understand.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relyingParty } from '../support/applications/rp.ts';
import { relyingPartyApp } from '../support/applications/rp-app.ts';
import { axe, type Browser, launchBrowser, phone, screenshot } from '../support/browser/browser.ts';
import { aClient, aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { linkIn, mailOf, NEW_PASSWORD, passwordWorks } from './support.ts';

let box: Mailbox;
let idp: TestIdp;
let browser: Browser;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await box?.close();
});

describe('a user who forgot the password', () => {
  it('sets a new password, starting from the sign-in page', async () => {
    const user = await aUser(idp.services);
    const app = await relyingPartyApp();
    const { redirectUri } = app;
    const client = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
    const context = await browser.newContext(phone);
    const page = await context.newPage();
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== idp.issuer) foreign.push(request.url());
    });

    await page.goto((await rp.start()).url);
    await page.click('text=Forgot password?');
    expect(await page.getAttribute('[name=username]', 'autocomplete')).toBe('username');
    await page.fill('[name=username]', user.username);
    await page.click('button.btn-primary');
    await page.waitForURL('**/forgot-password/sent');
    expect(await axe(page)).toEqual([]);

    const link = linkIn(await mailOf(box, user.account.email ?? '', 'Reset your password'));
    await page.goto(link);
    expect(page.url()).toBe(`${idp.issuer}/reset-password`);
    expect(await page.inputValue('[autocomplete=username]')).toBe(user.username);
    expect(await page.getAttribute('[name=password]', 'autocomplete')).toBe('new-password');
    expect(await axe(page)).toEqual([]);
    await page.fill('[name=password]', 'seven green');
    await page.waitForSelector('[role=status]:has-text("4 more characters needed.")');
    await page.fill('[name=password]', `${user.username} ${user.username}`);
    await page.click('button.btn-primary');
    expect(await page.textContent('[role=alert]')).toContain('this password is too short or too common');
    expect(await axe(page)).toEqual([]);
    await screenshot(page, 'reset-rejected');
    await page.fill('[name=password]', NEW_PASSWORD);
    await page.click('button.btn-primary');
    await page.waitForURL('**/reset-password/done');
    expect(await axe(page)).toEqual([]);
    expect(await passwordWorks(idp.services, user.account.id, NEW_PASSWORD)).toBe('ok');
    expect(foreign).toEqual([]);
    expect((await context.cookies()).map(({ name }) => name)).not.toContain('gatehouse_reset');

    // On to the application that the user wanted to open.
    await page.click('text=Continue to sign in');
    expect(await page.textContent('h1 + p')).toContain('Test application');
    await page.fill('[name=username]', user.username);
    await page.fill('[name=password]', NEW_PASSWORD);
    await page.click('button.btn-primary');
    await page.waitForURL(`${redirectUri}?**`);
    expect(new URL(page.url()).searchParams.get('code')).toBeTruthy();
    await context.close();
    await app.close();
  });

  it('can reset it in a browser without scripts', async () => {
    const user = await aUser(idp.services);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${idp.issuer}/forgot-password`);
    await page.fill('[name=username]', user.account.email ?? '');
    await page.click('button.btn-primary');
    await page.goto(linkIn(await mailOf(box, user.account.email ?? '', 'Reset your password')));
    await page.fill('[name=password]', NEW_PASSWORD);
    await page.click('button.btn-primary');
    expect(page.url()).toBe(`${idp.issuer}/reset-password/done`);
    await context.close();
  });

  it('sends the token in no Referer, and has it in no URL afterwards', async () => {
    const user = await aUser(idp.services);
    const page = await browser.newPage();
    await page.goto(`${idp.issuer}/forgot-password`);
    await page.fill('[name=username]', user.username);
    await page.click('button.btn-primary');
    const link = linkIn(await mailOf(box, user.account.email ?? '', 'Reset your password'));
    const token = new URL(link).searchParams.get('token') ?? '';
    const referers: string[] = [];
    page.on('request', async (request) => void referers.push((await request.allHeaders()).referer ?? ''));
    await page.goto(link);
    await page.goto(`${idp.issuer}/`);
    await page.goBack();
    expect(referers.join()).not.toContain(token);
    expect(page.url()).not.toContain(token);
    await page.close();
  });
});
