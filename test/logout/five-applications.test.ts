// Single logout across five applications of both protocols, one of them down, in a browser without a screen: a logout at any
// application ends every session that can be ended, and the reported result is true. In a real browser: test/flows.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import type { App } from './support/app.ts';
import { browserWith, leave, resultsOf } from './support/browser-steps.ts';
import { type FiveApplications, fiveApplications, logoutEvents } from './support/five-applications.ts';
import { followLogout } from './support/follow.ts';

const clock = testClock();
let idp: TestIdp;
let apps: FiveApplications;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  apps = await fiveApplications(idp);
  browser = await browserWith(apps.all, apps.user);
  await apps.dead.goDown();
  return () => apps.close();
});

/** Ends the time that a step waits for the application that is down. */
function timePasses({ text }: Page): false {
  if (text.includes('Notified. Waiting for the app to confirm.')) clock.advance({ seconds: 6 });
  return false;
}
const logoutAt = async (app: App) =>
  (await followLogout(browser, await leave(browser, app), { until: timePasses })).page;

async function expectAllSessionsEnded(): Promise<void> {
  const { services } = idp;
  const { account } = apps.user;
  await expect.poll(() => apps.reachable.map((app) => app.sessions())).toEqual([0, 0, 0, 0]);
  expect(await services.sessions.list(account.id)).toEqual([]);
  expect(await services.db.oidcArtifact.count({ where: { accountId: account.id } })).toBe(0);
  expect(apps.dead.sessions()).toBe(1);
  const ends = apps.reachable.map(({ clientId }) => `logout.delivered ${clientId}`);
  const expected = [...ends, `logout.failed ${apps.dead.clientId}`, 'session.ended'].sort();
  await expect.poll(() => logoutEvents(idp, apps.user)).toEqual(expected);
}

describe('a logout at one of five applications', () => {
  it.each([0, 1])('ends the other sessions and shows which did not answer (OpenID Connect, %i)', async (index) => {
    const app = apps.reachable[index] as App;
    const page = await logoutAt(app);
    expect(resultsOf(page)).toMatchObject({
      Payroll: 'Signed out.',
      Library: 'Signed out.',
      Archive: expect.stringContaining('The app didn’t respond.'),
    });
    expect(page.text).toContain(`Back to ${app.name}`);
    await expectAllSessionsEnded();
    expect(apps.reachable.map(({ heard }) => heard)).toEqual([['back'], ['front'], ['slo'], ['slo']]);
  });

  it.each([2, 3])('ends the other sessions and answers with PartialLogout (SAML, %i)', async (index) => {
    const app = apps.reachable[index] as App;
    expect((await logoutAt(app)).url).toBe(`${app.origin}/`);
    const relayState = index === 2 ? 'relay-1' : 'relay-2';
    expect(app.answers).toEqual([{ codes: ['Success', 'PartialLogout'], relayState }]);
    await expectAllSessionsEnded();
    expect(apps.reachable.map(({ heard }) => heard.length)).toEqual(apps.reachable.map((one) => (one === app ? 0 : 1)));
  });

  it('answers with Success, and redirects at once, when all applications answer', async () => {
    await apps.dead.comeBack();
    const [wiki, , payroll] = apps.reachable;
    expect((await logoutAt(payroll)).url).toBe(`${payroll.origin}/`);
    expect(payroll.answers).toEqual([{ codes: ['Success'], relayState: 'relay-1' }]);
    await expect.poll(() => apps.all.map((app) => app.sessions())).toEqual([0, 0, 0, 0, 0]);
    browser = await browserWith(apps.all, apps.user);
    expect((await logoutAt(wiki)).url).toBe(`${wiki.origin}/?state=from-app`);
    await expect.poll(() => apps.all.map((app) => app.sessions())).toEqual([0, 0, 0, 0, 0]);
  });
});
