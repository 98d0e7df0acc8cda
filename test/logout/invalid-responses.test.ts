// Service providers that answer wrongly, late, twice or not at all: each loses its own place in the result and nothing else.
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import type { App } from './support/app.ts';
import { browserWith, leave, resultsOf } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { oidcApp } from './support/oidc-app.ts';
import { nodeSamlApp, type Spoiled, samlifyApp } from './support/saml-apps.ts';

const clock = testClock();
let idp: TestIdp;
let user: TestUser;
let chat: App;
let payroll: Awaited<ReturnType<typeof nodeSamlApp>>;
let library: App;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  chat = await oidcApp(idp, 'front', 'Chat');
  payroll = await nodeSamlApp(idp, 'Payroll');
  library = await samlifyApp(idp, 'Library');
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all([chat, payroll, library].map((app) => app?.close()));
});
beforeEach(async () => {
  user = await aUser(idp.services);
  payroll.spoil({});
  browser = await browserWith([payroll, library, chat], user);
});

const signOut = async (from: Page) => (await followLogout(browser, from)).page;
/** Ends the time that a step waits for a response. */
function timePasses({ text }: Page): false {
  if (text.includes('Notified. Waiting for the app to confirm.')) clock.advance({ seconds: 6 });
  return false;
}
const events = (clientId: string) =>
  idp.services.db.auditEvent.findMany({
    where: { subjectId: user.account.id, clientId, type: { startsWith: 'logout.' } },
  });

describe('a service provider', () => {
  it.each<[string, Spoiled, string, string]>(
    some(2, [
      [
        'signs with a key that is not its own',
        { sign: 'other-key' },
        'The app sent an invalid response.',
        'invalid_answer: signature_invalid',
      ],
      [
        'answers with what is no message',
        { answer: 'garbage' },
        'The app sent an invalid response.',
        'invalid_answer: bad_base64',
      ],
      ['says that it could not', { status: 'failure' }, 'The app couldn’t sign you out.', 'rejected'],
    ]),
  )('is not reported as signed out when it %s, and the others are notified', async (_name, spoiled, text, reason) => {
    payroll.spoil(spoiled);
    const page = await signOut(await leave(browser, chat));
    expect(resultsOf(page)).toEqual({
      Chat: 'Notified in this browser. This app doesn’t confirm.',
      Payroll: `${text} Sign out of the app, or close your browser.`,
      Library: 'Signed out.',
    });
    expect(library.sessions()).toBe(0);
    expect(await events(payroll.clientId)).toMatchObject([{ type: 'logout.failed', outcome: 'failure', reason }]);
  });

  it.each(some(1, ['none', 'home', 'unauthorized']))(
    'never gets the browser when it would not send it back (%s)',
    async (answer) => {
      payroll.spoil({ answer });
      const { page, trail } = await followLogout(browser, await leave(browser, chat), { until: timePasses });
      expect(trail.filter((url) => url.startsWith(payroll.origin))).toEqual([]);
      expect(resultsOf(page)).toMatchObject({
        Payroll: 'The app didn’t respond. Sign out of the app, or close your browser.',
        Library: 'Signed out.',
      });
    },
  );

  it.each(some(2, ['rejects', 'signs-in', 'looks-for-browser']))(
    'is notified through the browser, and its answer counts, when it %s without a cookie',
    async (withoutCookie) => {
      payroll.spoil({ withoutCookie });
      const before = payroll.sessions();
      const page = await signOut(await leave(browser, chat));
      expect([page.url, payroll.sessions()]).toEqual([`${chat.origin}/?state=from-app`, before - 1]);
      expect(await events(payroll.clientId)).toMatchObject([{ type: 'logout.delivered', outcome: 'success' }]);
    },
  );

  it('is tried once when it is down, in parallel with others that are, also in a browser without frames', async () => {
    await Promise.all([payroll.goDown(), library.goDown()]);
    const showsBoth = ({ text }: Page) => text.split('<iframe').length === 3;
    const { page } = await followLogout(browser, await leave(browser, chat), { until: showsBoth });
    await Promise.all([payroll.comeBack(), library.comeBack()]);
    expect(page.text.match(/<iframe/g), page.url).toHaveLength(2);
    expect(page.headers.refresh).toMatch(/^6;url=\/signout\//);
    clock.advance({ seconds: 6 });
    expect(resultsOf(await browser.get(page.url))).toEqual({
      Chat: 'Notified in this browser. This app doesn’t confirm.',
      Payroll: 'The app didn’t respond. Sign out of the app, or close your browser.',
      Library: 'The app didn’t respond. Sign out of the app, or close your browser.',
    });
  });

  it('is skipped when it does not send the browser back and the user returns', async () => {
    payroll.spoil({ answer: 'none', withoutCookie: 'rejects' });
    const stuck = await followLogout(browser, await leave(browser, chat));
    expect(stuck.page.text).toContain('stuck here');
    const run = stuck.trail.find((url) => url.includes('/signout/') && !url.includes('/to/')) ?? '';
    const waiting = await browser.get(run);
    expect(waiting.text).toContain('Payroll');
    expect(waiting.headers.refresh).toMatch(/^[1-5];url=\/signout\//);
    clock.advance({ seconds: 6 });
    const page = await signOut(await browser.get(run));
    expect(resultsOf(page)).toMatchObject({
      Payroll: expect.stringContaining('The app didn’t respond.'),
      Library: 'Signed out.',
    });
  });

  it('counts once when it answers late', async () => {
    payroll.spoil({ withoutCookie: 'rejects' });
    const there = await followLogout(browser, await leave(browser, chat), {
      until: ({ url }) => url.startsWith(payroll.origin),
    });
    const run = there.trail.findLast((url) => url.includes('/signout/') && !url.includes('/to/')) ?? '';
    clock.advance({ seconds: 6 });
    expect(resultsOf(await signOut(await browser.get(run))).Payroll).toContain('The app didn’t respond.');
    const answer = there.page.location ?? '';
    // No application is left to notify, so it redirects at once.
    expect((await signOut(await browser.get(answer))).url).toBe(`${chat.origin}/?state=from-app`);
    const again = await browser.get(answer);
    expect([again.status, again.location]).toEqual([400, undefined]);
  });
});

describe('a LogoutResponse', () => {
  it('is rejected when it is not expected', async () => {
    const profile = { issuer: payroll.clientId, ID: '_never-asked', nameID: 'x', nameIDFormat: 'y' };
    const url = await payroll.saml.getLogoutResponseUrlAsync(profile, '', {}, true);
    const page = await httpClient(idp.issuer).get(url);
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  it('is ignored when it comes from another service provider', async () => {
    payroll.spoil({ withoutCookie: 'rejects' });
    const there = await followLogout(browser, await leave(browser, chat), {
      until: ({ url }) => url.startsWith(payroll.origin),
    });
    const { messageId } = await idp.services.db.asStored.logoutParticipant.findFirstOrThrow({
      where: { clientId: payroll.clientId, state: 'sent' },
    });
    const other = await nodeSamlApp(idp, 'Other');
    const profile = { issuer: other.clientId, ID: messageId ?? '', nameID: 'x', nameIDFormat: 'y' };
    const page = await signOut(await browser.get(await other.saml.getLogoutResponseUrlAsync(profile, '', {}, true)));
    expect(resultsOf(page).Payroll).toContain('The app sent an invalid response.');
    expect(there.page.url).toContain(payroll.origin);
    await other.close();
  });

  it('changes nothing when its service provider interferes with another one', async () => {
    const toLibrary = ({ forms }: Page) => forms[0]?.action === `${library.origin}/slo`;
    const { page, trail } = await followLogout(browser, await leave(browser, chat), { until: toLibrary });
    const relayState = page.forms[0]?.fields.RelayState ?? '';
    const run = new URL(trail.find((url) => url.includes('/signout/')) ?? '').pathname.split('/')[2] ?? '';
    const hop = new URL(trail.find((url) => url.startsWith(`${payroll.origin}/slo`)) ?? '');
    const [request = '', own = ''] = ['SAMLRequest', 'RelayState'].map((name) => hop.searchParams.get(name) ?? '');
    const ownId = /\bID="([^"]+)"/.exec(inflateRawSync(Buffer.from(request, 'base64')).toString())?.[1] ?? '';
    expect([relayState, own].join(' ')).not.toContain(run);
    // What it knows of this logout, and what it could see if the address of the logout run leaked.
    for (const known of [own, ownId, run, page.url.split('/').at(-1) ?? '']) {
      for (const text of ['garbage', Buffer.from('<x/>').toString('base64')]) {
        const form = { SAMLResponse: text, RelayState: known };
        const spoilt = await browser.post(`${idp.issuer}/saml/slo`, { form, headers: { origin: payroll.origin } });
        expect([spoilt.status, spoilt.location]).toEqual([400, undefined]);
        expect((await browser.get(`${idp.issuer}/saml/slo?${new URLSearchParams(form)}`)).status).toBe(400);
      }
    }
    await signOut(page);
    expect(await events(library.clientId)).toMatchObject([{ type: 'logout.delivered', outcome: 'success' }]);
    expect(await events(payroll.clientId)).toMatchObject([{ type: 'logout.delivered', outcome: 'success' }]);
  });
});

it('the server opens the page of a logout run only in its own browser', async () => {
  const { trail } = await followLogout(browser, await leave(browser, chat), {
    until: ({ url }) => url.includes('/signout/'),
  });
  const otherBrowser = await httpClient(idp.issuer).get(trail.at(-1) ?? '');
  expect(otherBrowser.status).toBe(400);
  expect(otherBrowser.text).not.toContain('Payroll');
  expect((await browser.get(`${idp.issuer}/signout/nothing`)).status).toBe(404);
});
