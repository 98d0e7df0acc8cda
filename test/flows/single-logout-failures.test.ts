// Single logout in a browser without script, and with an application that does not redirect back. Across two instances:
// test/logout/across-instances.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../logout/support/app.ts';
import { oidcApp } from '../logout/support/oidc-app.ts';
import { nodeSamlApp, samlifyApp } from '../logout/support/saml-apps.ts';
import { type Browser, desktop, launchBrowser, type Page } from '../support/browser/browser.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { shortLogoutWaits } from '../support/waits.ts';

shortLogoutWaits();

let idp: TestIdp;
let browser: Browser;
let wiki: App;
let chat: App;
let payroll: App;
let library: App;
let archive: App;
let keeper: App;

beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  wiki = await oidcApp(idp, 'back', 'Wiki');
  chat = await oidcApp(idp, 'front', 'Chat');
  payroll = await nodeSamlApp(idp, 'Payroll');
  library = await samlifyApp(idp, 'Library');
  archive = await nodeSamlApp(idp, 'Archive');
  keeper = await nodeSamlApp(idp, 'Keeper', { spoiled: { answer: 'none' } });
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await Promise.all([wiki, chat, payroll, library, archive, keeper].map((app) => app?.close()));
});

const line = (page: Page, app: App) => page.locator('.results li', { hasText: app.name }).textContent();
const result = (page: Page) => page.getByRole('heading', { name: 'You’re signed out' }).waitFor();

/** Opens the applications; without script, a form that the page would send needs a click. */
async function openAll(page: Page, apps: App[], { username, password }: TestUser, hasScript = true): Promise<void> {
  for (const app of apps) {
    await page.goto(`${app.origin}/sign-in`);
    if (await page.isVisible('[name=username]')) {
      await page.fill('[name=username]', username);
      await page.fill('[name=password]', password);
      await page.click('button.btn-primary');
    }
    const signedIn = page.getByText(`${app.name}: signed in`);
    if (!hasScript) {
      const button = page.getByRole('button', { name: 'Continue' });
      await signedIn.or(button).first().waitFor();
      if (!page.url().startsWith(app.origin)) await button.click();
    }
    await signedIn.waitFor();
  }
}

describe('the server', () => {
  it('completes a logout run without script', async () => {
    const user = await aUser(idp.services);
    const context = await browser.newContext({ ...desktop, javaScriptEnabled: false });
    const page = await context.newPage();
    await openAll(page, [wiki, chat, keeper, payroll, archive], user, false);
    await archive.goDown();
    await page.goto(`${wiki.origin}/sign-out`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await result(page);
    expect(await line(page, chat)).toContain('Notified in this browser.');
    expect(await line(page, payroll)).toContain('Signed out.');
    expect(await line(page, archive)).toContain('The app didn’t respond.');
    expect(await line(page, keeper)).toContain('The app didn’t respond.');
    expect([chat.sessions(), payroll.sessions()]).toEqual([0, 0]);
    await archive.comeBack();
    await context.close();
  });

  it('continues when an application answers with a page of its own', async () => {
    const user = await aUser(idp.services);
    const context = await browser.newContext(desktop);
    const page = await context.newPage();
    await openAll(page, [keeper, payroll, library, wiki], user);
    const visited: string[] = [];
    page.on('framenavigated', (frame) => frame === page.mainFrame() && visited.push(frame.url()));
    await page.goto(`${wiki.origin}/sign-out`);
    await result(page);
    expect(visited.filter((url) => url.startsWith(keeper.origin))).toEqual([]);
    expect(await line(page, keeper)).toContain('The app didn’t respond.');
    expect(await line(page, library)).toContain('Signed out.');
    expect([payroll.sessions(), library.sessions()]).toEqual([0, 0]);
    await page.getByRole('link', { name: 'Back to Wiki' }).click();
    expect(page.url()).toBe(`${wiki.origin}/?state=from-app`);
    await context.close();
  });
});
