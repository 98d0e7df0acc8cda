// The CAPTCHA in a real browser: solved without a click under the Content-Security-Policy, with no request to another
// site, or replaced by a wait in a browser without scripts.
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl } from '../oidc/support.ts';
import { type RelyingPartyApp, relyingPartyApp } from '../support/applications/rp-app.ts';
import { axe, type Browser, launchBrowser, phone, screenshot } from '../support/browser/browser.ts';
import { testClock } from '../support/clock.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const clock = testClock();
let idp: TestIdp;
let browser: Browser;
let rp: RelyingPartyApp;
let app: Application;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  browser = await launchBrowser();
  rp = await relyingPartyApp();
  app = await anApplication(idp, { redirect_uris: [rp.redirectUri] });
});
afterAll(async () => {
  await browser?.close();
  await rp?.close();
  await idp?.stop();
});
beforeEach(async () => {
  user = await aUser(idp.services);
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
    await failSignIn(idp.services.lockout, { login: user.username, address });
  }
});

async function arrive(options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const url = authorizeUrl(idp, app.clientId, { redirect_uri: rp.redirectUri, login_hint: user.username });
  const send = async (password: string) => {
    await page.fill('[name=password]', password);
    await page.click('button.btn-primary');
  };
  return { context, page, send, open: () => page.goto(url) };
}

describe('the sign-in page', () => {
  it('solves the CAPTCHA while the user types the password, without a request to another site', async () => {
    const { context, page, send, open } = await arrive(phone);
    const [foreign, complaints]: [string[], string[]] = [[], []];
    page.on('console', (message) => void complaints.push(message.text()));
    page.on('pageerror', (error) => void complaints.push(error.message));
    await context.route(/^https?:/, (route) => {
      const { origin } = new URL(route.request().url());
      if (origin !== idp.issuer && origin !== rp.origin) foreign.push(origin);
      return route.continue();
    });
    await open();
    await page.waitForSelector('altcha-widget [data-state=verified]');
    expect(await axe(page, ['light', 'dark'])).toEqual([]);
    await screenshot(page, 'captcha-phone');
    await send(user.password);
    await page.waitForURL(`${rp.redirectUri}?**`);
    expect(new URL(page.url()).searchParams.get('code')).toBeTruthy();
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('holds back a form that is sent before the CAPTCHA is solved, and sends it then', async () => {
    const { context, page, send, open } = await arrive();
    // The worker loads late, so that the form is certainly sent first.
    let arrived = () => {};
    const isHeld = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    await context.route(/\/assets\/altcha-worker\./, async (route) => {
      await isHeld;
      await route.continue();
    });
    await open();
    await page.waitForSelector('altcha-widget [data-state=verifying]');
    await send(user.password);
    expect(new URL(page.url()).pathname).toMatch(/^\/signin\/[\w-]+$/);
    await screenshot(page, 'captcha-working');
    expect(await axe(page, ['light', 'dark'])).toEqual([]);
    arrived();
    await page.waitForURL(`${rp.redirectUri}?**`);
    await context.close();
  });

  it('accepts a wait in place of the CAPTCHA in a browser without scripts', async () => {
    const { context, page, send, open } = await arrive({ javaScriptEnabled: false });
    await open();
    expect(await page.textContent('noscript, .captcha')).toContain('Wait 30 seconds before you sign in');
    await screenshot(page, 'captcha-without-script');
    await send(user.password);
    expect(await page.textContent('[role=alert]')).toContain('Wait for the check below');
    clock.advance({ seconds: 31 });
    await send(user.password);
    await page.waitForURL(`${rp.redirectUri}?**`);
    await context.close();
  });
});
