// Several tabs of a real browser: a page that becomes visible again goes on with the session of another tab.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anApplication, authorizeUrl } from '../oidc/support.ts';
import { type RelyingPartyApp, relyingPartyApp } from '../support/applications/rp-app.ts';
import { type Browser, launchBrowser, type Page, phone, screenshot } from '../support/browser/browser.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let browser: Browser;
let idp: TestIdp;
let web: RelyingPartyApp;
let user: TestUser;
let address: string;

beforeAll(async () => {
  [browser, idp, web] = await Promise.all([launchBrowser(), startIdp(), relyingPartyApp()]);
  user = await aUser(idp.services);
  const { clientId } = await anApplication(idp, { redirect_uris: [web.redirectUri], client_name: 'Wiki' });
  address = authorizeUrl(idp, clientId, { redirect_uri: web.redirectUri });
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
  await idp?.stop();
});

/** Headless tabs are always visible, so the change is reported to the page by hand. */
const becomeVisible = (page: Page) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Username or email').fill(user.username);
  await page.getByLabel('Password', { exact: true }).fill(user.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(/[?&]code=/);
}

it('a sign-in page and a page about a forgotten password go on when they become visible again', {
  timeout: 120_000,
}, async () => {
  const context = await browser.newContext();
  const [first, second, forgotten] = [await context.newPage(), await context.newPage(), await context.newPage()];
  for (const page of [first, second, forgotten]) await page.goto(address);
  await forgotten.getByRole('link', { name: 'Forgot password?' }).click();
  await forgotten.getByRole('button', { name: 'Send link' }).waitFor();
  await second.getByLabel('Username or email').fill('somebody');
  await becomeVisible(second);
  await expect.poll(() => second.getByLabel('Username or email').inputValue()).toBe('somebody');
  await signIn(first);
  for (const page of [second, forgotten]) {
    await becomeVisible(page);
    await page.waitForURL(/[?&]code=/);
  }
  await context.close();
});

it('says on the first page that cookies are blocked, also without JavaScript', { timeout: 120_000 }, async () => {
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ ...phone, javaScriptEnabled });
    const page = await context.newPage();
    // What the browser does not store, it does not send.
    await page.route('**/*', async (route) => {
      const headers = { ...(await route.request().allHeaders()) };
      delete headers.cookie;
      await route.continue({ headers });
    });
    const started = await fetch(address, { redirect: 'manual' });
    await page.goto(new URL(started.headers.get('location') ?? '', idp.issuer).href);
    await page.getByRole('heading', { name: 'Your browser blocks cookies.' }).waitFor();
    await screenshot(page, `cookies-blocked-${javaScriptEnabled}`);
    await context.close();
  }
});
