// Attempts to sign a user out against their will: forged forms, guessed tokens, ID tokens of others and forged ones.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, outcome, postAs, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let other: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
  other = await anApplication(idp);
});
afterAll(() => idp?.stop());

const isSignedIn = async (browser: HttpClient) =>
  (await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('code') !== null;

async function signedIn(): Promise<{ browser: HttpClient; hint: string }> {
  const browser = httpClient(idp.issuer);
  const { tokens } = await signIn(browser, app, user);
  return { browser, hint: tokens.id_token ?? '' };
}

const requestLogout = (browser: HttpClient, parameters: Record<string, string>) =>
  browser.get(`/end-session?${new URLSearchParams(parameters)}`);

describe('a logout', () => {
  it('cannot be forced by a form of another site, by another browser or by a guessed run', async () => {
    const { browser } = await signedIn();
    const xsrf = (await requestLogout(browser, {})).forms[0]?.fields.xsrf ?? '';
    const attacker = await signedIn();
    await requestLogout(attacker.browser, {});
    for (const form of [{ logout: 'yes' }, { logout: 'yes', xsrf: 'guess' }, { logout: 'yes', xsrf }] as Record<
      string,
      string
    >[]) {
      expect((await attacker.browser.post('/end-session/confirm', { form })).status).toBe(400);
    }
    expect(await isSignedIn(attacker.browser)).toBe(true);
  });

  it.each(['abc', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJhdWQiOiJub2JvZHkifQ.', '\0'])(
    'rejects %j as an ID token',
    async (hint) => {
      const { browser } = await signedIn();
      const page = await requestLogout(browser, { id_token_hint: hint });
      expect([page.status, page.location]).toEqual([400, undefined]);
    },
  );

  it('rejects an ID token that was modified, is of another application, or has no signature', async () => {
    const { browser, hint } = await signedIn();
    const [header, payload = '', signature] = hint.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const forged of [`${header}.${payload}.${signature?.slice(0, -4)}AAAA`, `${none}.${payload}.`]) {
      expect((await requestLogout(browser, { id_token_hint: forged })).status).toBe(400);
    }
    expect((await requestLogout(browser, { id_token_hint: hint, client_id: other.clientId })).status).toBe(400);
    expect((await postAs(idp, app, '/end-session', { id_token_hint: hint })).status).toBe(303);
  });
});

describe('a link or picture of another site', () => {
  const crossSite = { headers: { 'sec-fetch-site': 'cross-site', referer: 'https://evil.example/' } };

  /** A browser that is signed in to an application and to the account pages. */
  async function atHome(): Promise<HttpClient> {
    const { browser } = await signedIn();
    expect((await browser.follow(await browser.get('/account'))).text).toContain(user.username);
    return browser;
  }

  it('gets a confirmation page from /logout, and ends no session before the confirmation', async () => {
    const browser = await atHome();
    const page = await browser.get('/logout', crossSite);
    expect(page.location).not.toContain('id_token_hint');
    const question = await browser.request('GET', page.location ?? '', crossSite);
    expect(question.text).toContain('Stay signed in');
    expect((await browser.get('/account')).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(true);
    // The same link on a page of this server is a click of the user and needs no confirmation.
    const own = await browser.get('/logout', { headers: { 'sec-fetch-site': 'same-origin' } });
    const done = await browser.get(own.location ?? '');
    expect(done.text).not.toContain('Stay signed in');
    expect(done.text).toContain('autosubmit');
  });

  const changing = [
    '/end-session',
    '/end-session?client_id=gatehouse&logout=yes',
    '/end-session/confirm?logout=yes',
    '/api/logout',
    '/account/sessions/end-all',
    '/account/sessions/end-others',
    '/signout/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '/saml/slo?SAMLRequest=AAAA',
  ];

  it('ends nothing by any URL of a logout run', async () => {
    const browser = await atHome();
    for (const path of changing) {
      const { setCookie } = await browser.get(path, crossSite);
      const removed = setCookie.filter((cookie) => /^(sessionId|gatehouse_session)=;/.test(cookie));
      expect(removed, path).toEqual([]);
      expect((await browser.get('/account')).status, path).toBe(200);
      expect(await isSignedIn(browser)).toBe(true);
    }
  });
});
