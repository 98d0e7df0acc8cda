// One sign-out for everything (seed 4.3.5): five applications of two protocols in a real browser, one of them down. From
// whichever the person signs out, every session that can be ended is over, and nobody is told otherwise.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../logout/app.ts';
import { type Five, five, signInToAll } from '../logout/five.ts';
import {
  axe,
  type Browser,
  type BrowserContext,
  desktop,
  launchBrowser,
  type Page,
  screenshot,
} from '../support/browser.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let browser: Browser;
let context: BrowserContext;
let apps: Five;
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
  apps = await five(idp);
  context = await browser.newContext(desktop);
  page = await signInToAll(context, apps.all, apps.user);
  await apps.dead.goDown();
  return async () => {
    await context.close();
    await apps.close();
  };
});

const clickSignOut = async (app: App) => {
  await page.goto(`${app.origin}/`);
  await page.getByRole('link', { name: 'Sign out' }).click();
};
const line = (app: App) => page.locator('.results li', { hasText: app.name }).textContent();

/** Nothing lives on that could be ended: here, at the engine, at the four applications. */
async function expectAllOver(): Promise<void> {
  await expect.poll(() => apps.living.map((app) => app.sessions())).toEqual([0, 0, 0, 0]);
  const { account } = apps.user;
  expect(await idp.services.sessions.list(account.id)).toEqual([]);
  expect(await idp.services.db.oidcArtifact.count({ where: { accountId: account.id } })).toBe(0);
  expect(apps.dead.sessions()).toBe(1);
  await page.goto(`${apps.living[0].origin}/sign-in`);
  await page.locator('[name=username]').waitFor();
}

async function outcomes(): Promise<string[]> {
  const { account } = apps.user;
  const where = { subjectId: account.id, type: { in: ['logout.delivered', 'logout.failed', 'session.ended'] } };
  const events = await idp.services.db.auditEvent.findMany({ where });
  return events.map(({ type, clientId }) => (type === 'session.ended' ? type : `${type} ${clientId}`)).sort();
}

describe('signing out of one application', () => {
  it.each([0, 1])('of OpenID Connect (%i) ends the others, and says which one did not answer', async (index) => {
    const app = apps.living[index] as App;
    const startedAt = Date.now();
    await clickSignOut(app);
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    expect(await line(apps.dead)).toContain('Did not answer.');
    expect(await line(apps.living[2])).toContain('Signed out.');
    expect(await line(apps.living[3])).toContain('Signed out.');
    expect(await axe(page)).toEqual([]);
    await screenshot(page, `sign-out-result-${index}`);
    await page.getByRole('link', { name: `Back to ${app.name}` }).click();
    expect(page.url()).toBe(`${app.origin}/?state=from-app`);
    expect(apps.living.map(({ heard }) => heard)).toEqual([['back'], ['front'], ['slo'], ['slo']]);
    const ends = apps.living.map(({ clientId }) => `logout.delivered ${clientId}`);
    expect(await outcomes()).toEqual([...ends, `logout.failed ${apps.dead.clientId}`, 'session.ended'].sort());
    await expectAllOver();
  });

  it.each([2, 3])('of SAML (%i) ends the others, and answers with a partial logout', async (index) => {
    const app = apps.living[index] as App;
    const startedAt = Date.now();
    await clickSignOut(app);
    await page.waitForURL(`${app.origin}/`);
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    const relayState = index === 2 ? 'relay-1' : 'relay-2';
    expect(app.answers).toEqual([{ codes: ['Success', 'PartialLogout'], relayState }]);
    expect(apps.living.map(({ heard }) => heard.length)).toEqual(apps.living.map((one) => (one === app ? 0 : 1)));
    const ends = apps.living.map(({ clientId }) => `logout.delivered ${clientId}`);
    expect(await outcomes()).toEqual([...ends, `logout.failed ${apps.dead.clientId}`, 'session.ended'].sort());
    await expectAllOver();
  });

  it('answers with success, and goes straight back, when all are there', async () => {
    await apps.dead.comeBack();
    await clickSignOut(apps.living[2]);
    await page.waitForURL(`${apps.living[2].origin}/`);
    expect(apps.living[2].answers).toEqual([{ codes: ['Success'], relayState: 'relay-1' }]);
    expect(apps.all.map((app) => app.sessions())).toEqual([0, 0, 0, 0, 0]);
    page = await signInToAll(context, apps.all, apps.user);
    await clickSignOut(apps.living[0]);
    await page.waitForURL(`${apps.living[0].origin}/?state=from-app`);
    await expect.poll(() => apps.all.map((app) => app.sessions())).toEqual([0, 0, 0, 0, 0]);
  });
});

it('signing out at the portal tells what became of each', async () => {
  await page.goto(`${idp.issuer}/account`);
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await expect.poll(() => line(apps.living[0])).toContain('Signed out.');
  expect(await line(apps.living[1])).toContain('Was told');
  expect(await line(apps.living[2])).toContain('Signed out.');
  expect(await line(apps.living[3])).toContain('Signed out.');
  expect(await line(apps.dead)).toContain('Did not answer.');
  await expectAllOver();
});
