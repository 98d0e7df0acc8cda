// Single logout across five applications of both protocols in a browser, one of them down. A logout at any application ends
// every session that can be ended, and the reported result is true.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../logout/app.ts';
import { type FiveApplications, fiveApplications, signInToAll } from '../logout/five-applications.ts';
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

async function outcomes(): Promise<string[]> {
  const { account } = apps.user;
  const where = { subjectId: account.id, type: { in: ['logout.delivered', 'logout.failed', 'session.ended'] } };
  const events = await idp.services.db.auditEvent.findMany({ where });
  return events.map(({ type, clientId }) => (type === 'session.ended' ? type : `${type} ${clientId}`)).sort();
}

describe('a logout at one application', () => {
  it.each([0, 1])(
    'of OpenID Connect (%i) ends the other sessions and shows which application did not answer',
    async (index) => {
      const app = apps.reachable[index] as App;
      const startedAt = Date.now();
      await clickLogout(app);
      await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
      expect(Date.now() - startedAt).toBeLessThan(20_000);
      expect(await line(apps.dead)).toContain('Did not answer.');
      expect(await line(apps.reachable[2])).toContain('Signed out.');
      expect(await line(apps.reachable[3])).toContain('Signed out.');
      expect(await axe(page)).toEqual([]);
      await screenshot(page, `sign-out-result-${index}`);
      await page.getByRole('link', { name: `Back to ${app.name}` }).click();
      expect(page.url()).toBe(`${app.origin}/?state=from-app`);
      expect(apps.reachable.map(({ heard }) => heard)).toEqual([['back'], ['front'], ['slo'], ['slo']]);
      const ends = apps.reachable.map(({ clientId }) => `logout.delivered ${clientId}`);
      expect(await outcomes()).toEqual([...ends, `logout.failed ${apps.dead.clientId}`, 'session.ended'].sort());
      await expectAllOver();
    },
  );

  it.each([2, 3])('of SAML (%i) ends the other sessions and answers with PartialLogout', async (index) => {
    const app = apps.reachable[index] as App;
    const startedAt = Date.now();
    await clickLogout(app);
    await page.waitForURL(`${app.origin}/`);
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    const relayState = index === 2 ? 'relay-1' : 'relay-2';
    expect(app.answers).toEqual([{ codes: ['Success', 'PartialLogout'], relayState }]);
    expect(apps.reachable.map(({ heard }) => heard.length)).toEqual(apps.reachable.map((one) => (one === app ? 0 : 1)));
    const ends = apps.reachable.map(({ clientId }) => `logout.delivered ${clientId}`);
    expect(await outcomes()).toEqual([...ends, `logout.failed ${apps.dead.clientId}`, 'session.ended'].sort());
    await expectAllOver();
  });

  it('answers with Success, and redirects at once, when all applications answer', async () => {
    await apps.dead.comeBack();
    await clickLogout(apps.reachable[2]);
    await page.waitForURL(`${apps.reachable[2].origin}/`);
    expect(apps.reachable[2].answers).toEqual([{ codes: ['Success'], relayState: 'relay-1' }]);
    expect(apps.all.map((app) => app.sessions())).toEqual([0, 0, 0, 0, 0]);
    page = await signInToAll(context, apps.all, apps.user);
    await clickLogout(apps.reachable[0]);
    await page.waitForURL(`${apps.reachable[0].origin}/?state=from-app`);
    await expect.poll(() => apps.all.map((app) => app.sessions())).toEqual([0, 0, 0, 0, 0]);
  });
});

it('shows the result for each application after a logout at the portal', async () => {
  await page.goto(`${idp.issuer}/account`);
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await expect.poll(() => line(apps.reachable[0])).toContain('Signed out.');
  expect(await line(apps.reachable[1])).toContain('Was notified');
  expect(await line(apps.reachable[2])).toContain('Signed out.');
  expect(await line(apps.reachable[3])).toContain('Signed out.');
  expect(await line(apps.dead)).toContain('Did not answer.');
  await expectAllOver();
});
