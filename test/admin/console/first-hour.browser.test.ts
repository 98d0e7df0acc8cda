// A new administrator's first hour in the console, in a real browser: two applications, one of them for a role only, a
// rejected colleague and the reason, a secret that is replaced without downtime, and all of it in the audit. And the same tools
// without a mouse.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, desktop, launchBrowser, phone } from '../../support/browser/browser.ts';
import { keyboardOf } from '../../support/browser/keyboard.ts';
import { inspect } from '../../support/browser/pages.ts';
import { aClient, aUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { itInLongRun } from '../../support/it-in-long-run.ts';
import { signIn } from './real-browser.ts';
import { staff } from './support.ts';

let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

const REDIRECT = 'https://wiki.example.com/cb';

it('the first hour leads from an empty console to the reason why a colleague was rejected', {
  timeout: 240_000,
}, async () => {
  const admin = await staff(idp, 'admin');
  const { username: colleague } = await aUser(idp.services, { name: 'Ann Colleague' });
  const page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin`);
  await signIn(page, admin);
  await page.waitForSelector('h1:has-text("Overview")');
  await inspect(page, 'console-overview');

  // An OpenID Connect application, and what it receives.
  await page.click('nav >> a:has-text("Applications")');
  await page.click('text=Add application');
  await page.click('text="Web application"');
  await page.fill('[name=name]', 'Wiki');
  await page.fill('[name=redirect_uris]', REDIRECT);
  await page.click('button:has-text("Add application")');
  const settings = await page.textContent('main');
  const clientId = /Client ID\s*([\w-]+)/.exec(settings ?? '')?.[1] ?? '';
  const oldSecret = /Client secret\s*([\w-]+)/.exec(settings ?? '')?.[1] ?? '';
  await inspect(page, 'console-registered');
  // In a new tab: this one displays the secret.
  const openTest = async () => {
    const [tab] = await Promise.all([page.waitForEvent('popup'), page.click('a:has-text("Test sign-in")')]);
    await tab.click('button:has-text("Test sign-in")');
    return tab;
  };
  const test = await openTest();
  // The real flow, with consent.
  await test.click('button[value=allow]');
  await test.waitForSelector('text=The sign-in works.');
  expect(await test.textContent('body')).toContain(admin.username);
  await test.close();
  await page.reload();
  expect(await page.textContent('main')).toContain(oldSecret);

  // A SAML application.
  await page.goto(`${idp.issuer}/admin/applications/new/saml`);
  await page.fill('[name=name]', 'Travel');
  await page.fill('[name=entity_id]', 'https://travel.example.com');
  await page.fill('[name=acs_url]', 'https://travel.example.com/acs');
  await page.click('button:has-text("Add application")');
  const samlTest = await openTest();
  await samlTest.waitForSelector('text=The sign-in works.');
  expect(await samlTest.textContent('body')).toContain('https://travel.example.com/acs');
  await samlTest.close();

  // The wiki is for editors only.
  await page.goto(`${idp.issuer}/admin/roles/new`);
  await page.fill('[name=name]', 'editor');
  await page.press('[name=name]', 'Enter');
  await page.waitForSelector('text=Role created.');
  await page.click('nav >> a:has-text("Applications")');
  await page.click('table >> text=Wiki');
  await page.click('.tabs >> text=Access');
  await page.check('[name=access][value=roles]');
  await page.check('[name="access.roles"][value=editor]');
  await page.click('.savebar >> text=Save changes');
  await page.waitForSelector('text=Saved.');
  await inspect(page, 'console-application');

  // An API with a scope for editors.
  await page.click('nav >> a:has-text("APIs")');
  await page.click('text=Add API');
  await page.fill('[name=identifier]', 'https://articles.example.com');
  await page.fill('[name=scopes]', 'articles:read\narticles:write = articles:write');
  await inspect(page, 'console-api-new');
  await page.click('button:has-text("Add API")');
  await page.waitForSelector('text=with this permission');
  await inspect(page, 'console-api');
  await page.click('nav >> a:has-text("APIs")');
  await inspect(page, 'console-apis');

  // A colleague is rejected, and reads out the code.
  const other = await (await browser.newContext(phone)).newPage();
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  await other.goto(`${idp.issuer}/authorize?${parameters}`);
  await signIn(other, { username: colleague });
  await other.waitForSelector('text=You don’t have access to Wiki');
  const code = (await other.textContent('.note strong')) ?? '';

  // The access check.
  await page.goto(`${idp.issuer}/admin/access-check`);
  await page.fill('[name=user]', colleague);
  await page.fill('[name=app]', 'Wiki');
  await page.click('button:has-text("Check")');
  await page.waitForSelector('text=Ann Colleague can’t sign in to Wiki');
  expect(await page.textContent('body')).toContain('Wiki requires the role editor. Ann Colleague has no roles.');
  await inspect(page, 'console-why');
  await page.click(`a:has-text("${code}")`);
  await page.waitForSelector('text=The user has access to the application');
  await inspect(page, 'console-rejection');
  await page.click(`button:has-text("Give Ann Colleague (${colleague}) the role editor")`);
  await page.waitForSelector('text=Fixed.');

  // A new secret, and no downtime.
  await page.click('nav >> a:has-text("Applications")');
  await page.click('table >> text=Wiki');
  await page.click('.tabs >> text=Credentials');
  await page.click('text=New secret');
  await page.click('button:has-text("Create secret")');
  const newSecret = (await page.textContent('.secret [data-value]'))?.trim() ?? '';
  for (const secret of [oldSecret, newSecret]) {
    const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
    const form = { grant_type: 'refresh_token', refresh_token: 'none' };
    const answer = await httpClient(idp.issuer).post('/token', { form, headers: { authorization } });
    expect(answer.json().error).toBe('invalid_grant');
  }

  // All of it is in the audit.
  await page.click('nav >> a:has-text("Activity log")');
  const audit = (await page.textContent('body')) ?? '';
  for (const type of [
    'application.created',
    'role.created',
    'application.updated',
    'role.assigned',
    'application.secret-created',
  ])
    expect(audit).toContain(type);

  const small = await (await browser.newContext(phone)).newPage();
  await small.goto(`${idp.issuer}/admin/users`);
  await signIn(small, admin);
  await small.waitForSelector('h1:has-text("Users")');
  await inspect(small, 'console-users-phone');
});

itInLongRun(
  'the first hour needs no mouse: sign-in with a code, consent, account pages, a new application and the access check',
  async () => {
    const admin = await staff(idp, 'admin');
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    await idp.services.mfa.totp.importSecret(admin.account.id, secret);
    const home = `${idp.issuer}/`;
    const { clientId } = await aClient(idp.services, {
      client_name: 'Notes',
      redirect_uris: [home],
      consent: 'explicit',
    });
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 600 } })).newPage();
    const { reach, press, type } = keyboardOf(page);
    const heading = (text: string) => page.waitForSelector(`h1:has-text("${text}")`);

    const parameters = new URLSearchParams({
      client_id: clientId,
      redirect_uri: home,
      response_type: 'code',
      scope: 'openid email',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      acr_values: 'urn:gatehouse:acr:mfa',
    });
    await page.goto(`${idp.issuer}/authorize?${parameters}`);
    await reach('[name=username]');
    await type(admin.username);
    await reach('[name=password]');
    await type(admin.password);
    await press('Enter');
    await page.waitForSelector('[name=code]');
    await reach('[name=code]');
    await type(generateSync({ secret }));
    await press('Enter');
    await page.waitForSelector('button[value=allow]');
    await reach('[value=allow]');
    await press('Space');
    await page.waitForURL(`${home}?code=**`);

    await page.goto(`${idp.issuer}/account`);
    await reach('Two-step verification and passkeys');
    await press('Enter');
    await heading('Two-step verification');
    await reach('Add a passkey');
    await reach('Your account', 'Shift+Tab');
    await press('Enter');
    await heading('Your account');

    await page.goto(`${idp.issuer}/admin`);
    await heading('Overview');
    await reach('Applications');
    await press('Enter');
    await heading('Applications');
    await reach('Skip to content');
    await press('Enter');
    await reach('Add application');
    await press('Enter');
    await heading('Add application');
    await reach('Web application');
    await press('Enter');
    await heading('Add application: Web application');
    await reach('[name=name]');
    await type('Diary');
    await reach('[name=redirect_uris]');
    await type(REDIRECT);
    await reach('Add application');
    await press('Enter');
    await heading('Next: configure Diary');
    await reach('View application');
    await press('Enter');
    await page.waitForSelector('h1:has-text("Diary"):not(:has-text("Next"))');
    await reach('Access');
    await press('Enter');
    await page.waitForSelector('[name=access]');
    await reach('[name=access]');
    await press('ArrowDown');
    expect(await page.isChecked('[name=access][value=roles]')).toBe(true);

    await page.goto(`${idp.issuer}/admin/access-check`);
    await reach('[name=user]');
    await type(admin.username);
    await page.waitForSelector('[role=option]');
    await press('ArrowDown', 'Enter');
    await reach('[name=app]');
    await type('Diar');
    await page.waitForSelector('[role=listbox][aria-label=Application] [role=option]');
    await press('ArrowDown', 'Enter');
    await reach('Check access');
    await press('Space');
    await heading('Access check');
    await page.waitForSelector('text=can sign in to Diary');
  },
);
