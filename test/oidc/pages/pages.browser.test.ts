// Every page of the flow in a real browser on a phone: axe reports nothing, nothing overflows, and the page's own
// Content-Security-Policy blocks nothing. test/http/pages.test.ts looks at each of these templates on a desktop and in dark colors too.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RelyingPartyApp, relyingPartyApp } from '../../support/applications/rp-app.ts';
import {
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  screenshot,
} from '../../support/browser/browser.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { itInLongRun } from '../../support/it-in-long-run.ts';
import { type Application, anApplication, authorizeUrl, postAs } from '../support.ts';

let browser: Browser;
let idp: TestIdp;
let web: RelyingPartyApp;
let user: TestUser;
let app: Application;
let asking: Application;
let closed: Application;
let shop: Application;
let hosted: Application;
let tv: Application;

beforeAll(async () => {
  [browser, idp, web] = await Promise.all([launchBrowser(), startIdp({ hasTamperedRows: true }), relyingPartyApp()]);
  user = await aUser(idp.services, {
    username: 'ann',
    name: 'Ann Example',
    email: 'ann.with.a.long.address@example.com',
  });
  const common = { redirect_uris: [web.redirectUri], post_logout_redirect_uris: [web.postLogoutRedirectUri] };
  app = await anApplication(idp, { ...common, client_name: 'Wiki' });
  shop = await anApplication(idp, { ...common, client_name: 'Shop' });
  asking = await anApplication(idp, {
    ...common,
    client_name: 'Photo Album',
    consent: 'explicit',
    client_uri: 'https://photos.example/',
    policy_uri: 'https://photos.example/privacy',
    tos_uri: 'https://photos.example/terms',
  });
  await idp.services.db.role.create({ data: { id: 'r1', name: 'editor' } });
  closed = await anApplication(idp, { ...common, client_name: 'Newsroom', access: { roles: ['editor'] } });
  const names = ['Acme', `Globex ${'International'.repeat(5)}`];
  for (const name of names) {
    const { id } = await idp.services.groups.create({ name });
    await idp.services.groups.addMembers(id, [{ userId: user.account.id }]);
  }
  const access = { roles: [], groups: names };
  hosted = await anApplication(idp, { ...common, client_name: 'CRM', access, ask_group: true });
  tv = await anApplication(idp, {
    client_name: 'Living room TV',
    redirect_uris: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
  });
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
  await idp?.stop();
});

const address = (client: Application, parameters: Record<string, string> = {}) =>
  authorizeUrl(idp, client.clientId, { redirect_uri: web.redirectUri, ...parameters });

async function signIn(page: Page, who = user): Promise<void> {
  await page.getByLabel('Username or email').fill(who.username);
  await page.getByLabel('Password', { exact: true }).fill(who.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function userCode(): Promise<string> {
  const answer = await postAs(idp, tv, '/device/code', { client_id: tv.clientId, scope: 'openid' });
  return String(answer.json().user_code);
}

/** Looks at a page as a designer and as axe would. */
async function judge(page: Page, name: string, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await screenshot(page, `${name}-${page.viewportSize()?.width}`);
  expect(await axe(page), name).toEqual([]);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overflow, name).toBe(0);
}

describe('on a phone', () => {
  async function runAt(visit: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext(phone);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await visit(page);
    // Browsers log every status from 400 to the console; that is no fault of the page.
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
    await context.close();
  }

  it('sign-in shows the form, a wrong password, and leads to the application', () =>
    runAt(async (page) => {
      await page.goto(address(app));
      await judge(page, 'sign-in', 'Sign in');
      await page.getByLabel('Username or email').fill('ann');
      await page.getByLabel('Password', { exact: true }).fill('not my password at all');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').waitFor();
      await judge(page, 'wrong-password', 'Sign in');
      await signIn(page);
      await page.waitForURL((url) => url.href.startsWith(web.redirectUri));
    }));

  it('consent offers another account, and select_account lists accounts', () =>
    runAt(async (page) => {
      await page.goto(address(asking, { scope: 'openid profile email roles offline_access' }));
      await signIn(page);
      await judge(page, 'consent', 'Allow Photo Album to use your account?');
      await page.getByRole('button', { name: 'Use another account' }).click();
      await judge(page, 'another-account', 'Sign in');
      const other = await aUser(idp.services);
      await signIn(page, other);
      await page.getByRole('button', { name: 'Don’t allow' }).click();
      await page.waitForURL(/access_denied/);
      await page.goto(address(app, { prompt: 'select_account' }));
      await judge(page, 'select-account', 'Choose an account');
      await page.getByRole('button', { name: /Continue as/ }).click();
      await page.waitForURL(/code=/);
    }));

  itInLongRun('an application that asks for a group shows the groups of the user', () =>
    runAt(async (page) => {
      await page.goto(address(hosted));
      await signIn(page);
      await judge(page, 'choose-group', 'Continue as');
      await page.getByRole('button', { name: 'Acme' }).click();
      await page.waitForURL(/code=/);
    }),
  );

  itInLongRun('a closed application and errors show pages', () =>
    runAt(async (page) => {
      await page.goto(address(closed));
      await signIn(page);
      await judge(page, 'rejected', 'You don’t have access to Newsroom');
      await page.goto(address(app, { redirect_uri: 'https://attacker.example/' }));
      await judge(page, 'error', 'The app tried to send you to an address that isn’t registered for it.');
    }),
  );

  it('the sign-in asks for a new password when it must be changed', () =>
    runAt(async (page) => {
      const fresh = await aUser(idp.services, { mustChange: true });
      await page.goto(address(app));
      await signIn(page, fresh);
      await judge(page, 'change-password', 'Choose a new password');
      await page.getByLabel('New password', { exact: true }).fill('passwordfootball');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByRole('alert').waitFor();
      await judge(page, 'change-password-rejected', 'Choose a new password');
      await page.getByLabel('New password', { exact: true }).fill('quite another pass phrase of mine');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.waitForURL(/code=/);
    }));

  itInLongRun('the device flow shows its pages', () =>
    runAt(async (page) => {
      await page.goto(`${idp.issuer}/device`);
      await judge(page, 'device', 'Connect a device');
      await page.getByLabel('Code').fill('BCDF-GHJK');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('alert').waitFor();
      await judge(page, 'device-wrong-code', 'Connect a device');
      await page.getByLabel('Code').fill((await userCode()).toLowerCase());
      await page.getByRole('button', { name: 'Continue' }).click();
      await judge(page, 'device-confirm', 'Connect this device to Living room TV?');
      await page.getByRole('button', { name: 'Connect device' }).click();
      await signIn(page);
      await judge(page, 'device-done', 'Device connected');
      await page.goto(`${idp.issuer}/device?user_code=${await userCode()}`);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await judge(page, 'device-stopped', 'Device not connected');
    }),
  );

  itInLongRun('logout shows its pages', () =>
    runAt(async (page) => {
      await page.goto(address(app));
      await signIn(page);
      await page.waitForURL(/code=/);
      await page.goto(address(shop));
      await page.waitForURL(/code=/);
      await page.goto(`${idp.issuer}/end-session?client_id=${app.clientId}`);
      await judge(page, 'sign-out', 'Sign out?');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await judge(page, 'signed-out', 'You’re signed out');
    }),
  );
});

describe('without JavaScript', () => {
  it('a user signs in, consents, posts the response to the application and logs out with buttons alone', async () => {
    const context = await browser.newContext({ ...desktop, javaScriptEnabled: false });
    const page = await context.newPage();
    const person = await aUser(idp.services);
    await page.goto(address(asking, { response_mode: 'form_post' }));
    await signIn(page, person);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('heading', { name: 'One moment' }).waitFor();
    await screenshot(page, 'one-moment');
    const before = web.callbacks.length;
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect.poll(() => web.callbacks.length).toBe(before + 1);
    expect(web.callbacks.at(-1)?.searchParams.get('code')).toBeTruthy();
    await page.goto(`${idp.issuer}/end-session`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You’re signed out' }).waitFor();
    await context.close();
  });
});
