// Every form of the pages behind a proxy that sets `Referrer-Policy: no-referrer`: browsers then send each form with `Origin: null`.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { staff } from '../admin/console/support.ts';
import { anApplication, authorizeUrl, postAs } from '../oidc/support.ts';
import { linkIn, mailOf, NEW_PASSWORD } from '../recovery/support.ts';
import { type RelyingPartyApp, relyingPartyApp } from '../support/applications/rp-app.ts';
import { type Browser, launchBrowser, type Page } from '../support/browser/browser.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HeaderProxy, headerProxy } from '../support/header-proxy.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

let box: Mailbox;
let proxy: HeaderProxy;
let idp: TestIdp;
let browser: Browser;
let web: RelyingPartyApp;

beforeAll(async () => {
  [box, web, proxy, browser] = await Promise.all([
    mailbox(),
    relyingPartyApp(),
    headerProxy({ 'referrer-policy': 'no-referrer' }),
    launchBrowser(),
  ]);
  idp = await startIdp({ environment: { ISSUER: proxy.origin, SMTP_URL: box.url } });
  proxy.forwardTo(Number(idp.environment.PORT));
  await idp.services.settings.set('self_registration', true);
  await idp.services.settings.reload();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await Promise.all([proxy?.close(), web?.close(), box?.close()]);
});

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

async function signIn(page: Page, { username }: TestUser, password: string): Promise<void> {
  await page.getByLabel('Username or email').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Sign in');
}

/** A browser, and the origins of the forms that it sends to the server. */
async function visitor() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const origins: (string | undefined)[] = [];
  page.on('request', async (request) => {
    if (request.method() === 'POST') origins.push((await request.allHeaders()).origin);
  });
  return { context, page, origins };
}

it('the forms of sign-in, consent, account, console, device and sign-out are accepted', {
  timeout: 120_000,
}, async () => {
  const user = await staff(idp, 'admin');
  const app = await anApplication(idp, { redirect_uris: [web.redirectUri], client_name: 'Album', consent: 'explicit' });
  const tv = await anApplication(idp, {
    client_name: 'Television',
    redirect_uris: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
  });
  const { context, page, origins } = await visitor();

  await page.goto(authorizeUrl(idp, app.clientId, { redirect_uri: web.redirectUri }));
  await signIn(page, user, user.password);
  await press(page, 'Allow');
  await page.waitForURL(/[?&]code=/);

  await page.goto(`${idp.issuer}/account/profile`);
  await page.getByLabel('Given name').fill('Ann');
  await page.locator('main form button.btn-primary').click();
  await expect.poll(async () => (await idp.services.accounts.find(user.account.id))?.givenName).toBe('Ann');

  await page.goto(`${idp.issuer}/admin/roles/new`);
  await page.locator('[name=name]').fill('editor');
  await page.locator('[name=name]').press('Enter');
  await page.getByText('Role created.').waitFor();

  const started = await postAs(idp, tv, '/device/code', { client_id: tv.clientId, scope: 'openid' });
  await page.goto(`${idp.issuer}/device?user_code=${String(started.json().user_code)}`);
  await press(page, 'Connect device');
  await heading(page, 'Device connected');

  await page.goto(`${idp.issuer}/end-session?client_id=${app.clientId}`);
  await press(page, 'Sign out');
  await heading(page, 'You’re signed out');
  await expect.poll(() => origins).toContain('null');
  await context.close();
});

it('the forms of a password reset and a sign-up are accepted', { timeout: 120_000 }, async () => {
  const user = await aUser(idp.services);
  const email = user.account.email ?? '';
  const { context, page, origins } = await visitor();

  await page.goto(`${idp.issuer}/forgot-password`);
  await page.locator('[name=username]').fill(email);
  await press(page, 'Send link');
  await page.goto(linkIn(await mailOf(box, email, 'Reset your password')));
  await page.locator('[name=password]').fill(NEW_PASSWORD);
  await page.locator('button.btn-primary').click();
  await page.waitForURL('**/reset-password/done');

  await page.goto(`${idp.issuer}/sign-up`);
  await page.locator('[name=email]').fill('new@example.com');
  await page.locator('main button.btn-primary').click();
  await page.goto(linkIn(await mailOf(box, 'new@example.com', 'Finish creating your account')));
  await page.locator('[name=password]').fill(NEW_PASSWORD);
  await page.locator('main button.btn-primary').click();
  await page.waitForURL('**/sign-up/done');
  await expect.poll(() => origins).toContain('null');
  await context.close();
});
