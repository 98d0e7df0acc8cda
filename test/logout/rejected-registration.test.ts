// A stored registration that the engine rejects, as an earlier version could store one, stops no logout: its application is notified
// when it is corrected, all others at once.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { checkDatabase } from '../../src/cli/doctor/check-database.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import type { App } from './support/app.ts';
import { browserWith, leave, resultsOf } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { oidcApp } from './support/oidc-app.ts';
import { nodeSamlApp } from './support/saml-apps.ts';

let idp: TestIdp;
let user: TestUser;
let wiki: App;
let payroll: App;
let board: App;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  idp.log.splice(0);
  user = await aUser(idp.services);
  [wiki, payroll, board] = await Promise.all([
    oidcApp(idp, 'back', 'Wiki'),
    oidcApp(idp, 'back', 'Payroll'),
    nodeSamlApp(idp, 'Board', { binding: 'redirect' }),
  ]);
  browser = await browserWith([wiki, payroll, board], user);
  return () => Promise.all([wiki, payroll, board].map((app) => app.close()));
});

/** Writes fields into the row of an application, whatever is wrong with them. */
async function store(app: App, fields: object): Promise<void> {
  const { db } = idp.services;
  const row = await db.asStored.application.findUniqueOrThrow({ where: { clientId: app.clientId } });
  const metadata = JSON.stringify({ ...JSON.parse(row.metadata), ...fields });
  await db.asStored.application.update({ where: { id: row.id }, data: { metadata, mac: '' } });
  await signRows(idp.services);
}
const damage = (app: App) => store(app, { jwks: { keys: [{ kty: 'RSA' }] } });
const sessionsLeft = () => idp.services.sessions.list(user.account.id);
/** The result says of the damaged one that the delivery is retried, and that the others are signed out: it is displayed again and again. */
function isResult(page: Page): boolean {
  const { Payroll: damaged, ...others } = resultsOf(page);
  return Boolean(damaged?.includes('keeps trying')) && Object.values(others).every((one) => one === 'Signed out.');
}
const follow = (page: Page) => followLogout(browser, page, { until: isResult });
const warnings = () => idp.log.filter((line) => line.includes('registration') && line.includes(payroll.clientId));

it('signs out of all others when another application starts the logout, and names the skipped one', async () => {
  await damage(payroll);
  const { page } = await follow(await leave(browser, wiki));
  expect(page.status).toBe(200);
  expect(await sessionsLeft()).toEqual([]);
  await expect.poll(() => [wiki.sessions(), board.sessions()]).toEqual([0, 0]);
  expect(payroll.sessions()).toBe(1);
  await expect.poll(() => warnings().length).toBeGreaterThan(0);
});

it('names every application when Gatehouse asks, and signs out', async () => {
  await damage(payroll);
  const asked = await browser.get(`${idp.issuer}/end-session`);
  expect([asked.status, textOf(asked.text)]).toEqual([200, expect.stringContaining('Payroll')]);
  const { page } = await follow(await browser.submit(asked, { logout: 'yes' }));
  expect(resultsOf(page)).toMatchObject({ Wiki: 'Signed out.', Board: 'Signed out.' });
  expect(resultsOf(page).Payroll).toContain('keeps trying');
  expect(await sessionsLeft()).toEqual([]);
});

it.each(['hint', 'client_id'])(
  'says what is wrong when it starts the logout itself, and offers to sign out: %s',
  async (by) => {
    await damage(payroll);
    const page =
      by === 'hint'
        ? (await followLogout(browser, await leave(browser, payroll))).page
        : await browser.get(`${idp.issuer}/end-session?client_id=${payroll.clientId}`);
    expect([page.status, textOf(page.text)]).toEqual([
      400,
      expect.stringContaining('The app’s registration here is incomplete, so it can’t sign you out.'),
    ]);
    expect(textOf(page.text)).not.toContain('wants to sign you out');
    await follow(await browser.submit(page, { logout: 'yes' }));
    expect(await sessionsLeft()).toEqual([]);
    await expect.poll(() => [wiki.sessions(), board.sessions()]).toEqual([0, 0]);
  },
);

it('is named by doctor', async () => {
  await damage(payroll);
  const { config, logger, now } = idp.services;
  const findings = (await checkDatabase({ config, logger, now })).filter(({ check }) => check === 'registrations');
  expect(findings).toContainEqual(
    expect.objectContaining({
      status: 'warning',
      message: expect.stringMatching(new RegExp(`Payroll.*${payroll.clientId}.*jwks`)),
    }),
  );
  expect(findings.map(({ message }) => message).join()).not.toContain(wiki.clientId);
});
