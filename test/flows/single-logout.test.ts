// Single logout across five applications of both protocols, one of them down, in a real browser: at an application of each
// protocol, and at the portal. Each other application as the initiator: test/logout/five-applications.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../logout/support/app.ts';
import {
  type FiveApplications,
  fiveApplications,
  logoutEvents,
  signInToAll,
} from '../logout/support/five-applications.ts';
import {
  axe,
  type Browser,
  type BrowserContext,
  desktop,
  launchBrowser,
  type Page,
  screenshot,
} from '../support/browser/browser.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { shortLogoutWaits } from '../support/waits.ts';

shortLogoutWaits();

let idp: TestIdp;
let browser: Browser;
let context: BrowserContext;
let apps: FiveApplications;
let page: Page;

beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});
beforeEach(async () => {
  apps = await fiveApplications(idp);
  context = await browser.newContext(desktop);
  page = await signInToAll(context, apps.all, apps.user);
  await apps.dead.goDown();
  return async () => {
    await context.close();
    await apps.close();
  };
});

const clickLogout = async (app: App) => {
  await page.goto(`${app.origin}/`);
  await page.getByRole('link', { name: 'Sign out' }).click();
};
const line = (app: App) => page.locator('.results li', { hasText: app.name }).textContent();

/** Checks that the sessions here, at the engine and at the four reachable applications are ended. */
async function expectAllOver(): Promise<void> {
  await expect.poll(() => apps.reachable.map((app) => app.sessions())).toEqual([0, 0, 0, 0]);
  const { account } = apps.user;
  expect(await idp.services.sessions.list(account.id)).toEqual([]);
  expect(await idp.services.db.oidcArtifact.count({ where: { accountId: account.id } })).toBe(0);
  expect(apps.dead.sessions()).toBe(1);
  await page.goto(`${apps.reachable[0].origin}/sign-in`);
  await page.locator('[name=username]').waitFor();
}

describe('the server', () => {
  it('ends the other sessions after a logout at OpenID Connect, and shows which application did not answer', async () => {
    const [wiki, , payroll, library] = apps.reachable;
    await clickLogout(wiki);
    await page.getByRole('heading', { name: 'You’re signed out' }).waitFor();
    expect(await line(apps.dead)).toContain('The app didn’t respond.');
    expect(await line(payroll)).toContain('Signed out.');
    expect(await line(library)).toContain('Signed out.');
    expect(await axe(page)).toEqual([]);
    await screenshot(page, 'sign-out-result');
    await page.getByRole('link', { name: `Back to ${wiki.name}` }).click();
    expect(page.url()).toBe(`${wiki.origin}/?state=from-app`);
    expect(apps.reachable.map(({ heard }) => heard)).toEqual([['back'], ['front'], ['slo'], ['slo']]);
    const ends = apps.reachable.map(({ clientId }) => `logout.delivered ${clientId}`);
    const expected = [...ends, `logout.failed ${apps.dead.clientId}`, 'session.ended'].sort();
    await expect.poll(() => logoutEvents(idp, apps.user)).toEqual(expected);
    await expectAllOver();
  });

  it('ends the other sessions after a logout at a SAML application, and answers with PartialLogout', async () => {
    const payroll = apps.reachable[2];
    await clickLogout(payroll);
    await page.waitForURL(`${payroll.origin}/`);
    expect(payroll.answers).toEqual([{ codes: ['Success', 'PartialLogout'], relayState: 'relay-1' }]);
    await expectAllOver();
  });

  it('shows the result for each application after a logout at the portal', async () => {
    await page.goto(`${idp.issuer}/account`);
    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You’re signed out' }).waitFor();
    await expect.poll(() => line(apps.reachable[0])).toContain('Signed out.');
    expect(await line(apps.reachable[1])).toContain('Notified');
    expect(await line(apps.reachable[2])).toContain('Signed out.');
    expect(await line(apps.reachable[3])).toContain('Signed out.');
    expect(await line(apps.dead)).toContain('The app didn’t respond.');
    await expectAllOver();
  });
});
