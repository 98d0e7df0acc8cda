// The browser is closed in the middle: what can be called is called, the rest is on record; and the remembered second
// factor of a browser ends with the sign-out in it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAbandonedLogouts } from '../../src/protocols/logout/create-logout.ts';
import { testClock } from '../support/clock.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import type { App } from './support/app.ts';
import { browserWith, leave, resultsOf } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { oidcApp } from './support/oidc-app.ts';
import { nodeSamlApp } from './support/saml-apps.ts';

const clock = testClock();
let idp: TestIdp;
let wiki: App;
let payroll: App;
let board: App;
let archive: App;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  wiki = await oidcApp(idp, 'none', 'Wiki');
  payroll = await nodeSamlApp(idp, 'Payroll');
  board = await nodeSamlApp(idp, 'Board', { binding: 'soap' });
  archive = await nodeSamlApp(idp, 'Archive', { spoiled: { answer: 'none' } });
  // Offers both ways.
  const { applications } = idp.services;
  const found = await applications.find(board.clientId);
  if (found?.protocol !== 'saml') throw new Error('not registered');
  const { metadata } = found;
  const slo = [...(metadata.slo ?? []), { url: `${board.origin}/stuck`, binding: 'redirect' as const }];
  await idp.services.db.asStored.application.update({
    where: { id: found.id },
    data: { metadata: JSON.stringify({ ...metadata, slo }), updatedAt: new Date(), mac: '' },
  });
  await signRows(idp.services);
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all([wiki, payroll, board, archive].map((app) => app?.close()));
});

describe('the server', () => {
  it('notifies by SOAP the applications that the browser did not reach, and records the others as not notified', async () => {
    const user = await aUser(idp.services);
    const browser = await browserWith([wiki, board, payroll, archive], user);
    // Payroll has answered the probe with Success; the other two would not have returned the browser.
    const there = await followLogout(browser, await leave(browser, wiki), {
      until: ({ url }) => url.includes('/signout/'),
    });
    const finish = createAbandonedLogouts({ runs: idp.services.runs });
    expect(await finish()).toBe(0);
    clock.advance({ minutes: 3 });
    expect(await finish()).toBe(1);
    expect(await finish()).toBe(0);
    await expect.poll(() => board.sessions()).toBe(0);
    expect([payroll.sessions(), archive.sessions()]).toEqual([0, 1]);
    const run = there.trail.find((url) => url.includes('/signout/')) ?? '';
    await expect
      .poll(
        async () =>
          (await idp.services.db.auditEvent.findMany({ where: { clientId: board.clientId, type: 'logout.delivered' } }))
            .length,
      )
      .toBe(1);
    expect(resultsOf((await followLogout(browser, await browser.get(run))).page)).toEqual({
      Wiki: 'Started this sign-out.',
      Board: 'Signed out.',
      Payroll: 'Signed out.',
      Archive:
        'The app wasn’t notified, because the page was closed too early. Sign out of the app, or close your browser.',
    });
  });

  it('forgets the second factor only in the browser of the ended session', async () => {
    const { db, mfa, settings, endSession, sessions } = idp.services;
    await settings.set('remember_browser_days', 7);
    const user = await aUser(idp.services);
    const id = user.account.id;
    await browserWith([wiki], user);
    await browserWith([wiki], user);
    const trustedUntil = new Date(Date.now() + 86_400_000);
    await db.asStored.knownBrowser.updateMany({ where: { userId: id }, data: { trustedUntil, mac: '' } });
    await signRows(idp.services);
    const trusted = async () => (await mfa.knownBrowsers.list(id)).filter(({ isTrusted }) => isTrusted).length;
    expect(await trusted()).toBe(2);
    const [first, second] = await sessions.list(id);
    await expect.poll(() => db.sessionDevice.count({ where: { userId: id, browserId: { not: null } } })).toBe(2);
    await endSession.one(first?.uid ?? '', 'signed-out');
    expect(await trusted()).toBe(1);
    await db.oidcArtifact.updateMany({ where: { uid: second?.uid ?? '', model: 'Session' }, data: { expiresAt: 1n } });
    // The server's own job may be quicker.
    expect(await endSession.expired()).toBeLessThanOrEqual(1);
    await expect.poll(() => db.oidcArtifact.count({ where: { uid: second?.uid ?? '', model: 'Session' } })).toBe(0);
    expect(await trusted()).toBe(1);
    await endSession.all(id, 'ended-by-admin');
    expect(await trusted()).toBe(0);
  });
});
