// Logout by an application (OpenID Connect RP-Initiated Logout 1.0): when it is confirmed, what ends, where it leads.
import { beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, authorizeUrl, outcome, type SignedIn, signIn } from '../support.ts';

const home = 'http://127.0.0.1:4000/';
let idp: TestIdp;
let user: TestUser;
let app: Application;
let other: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp, { client_name: 'Wiki', post_logout_redirect_uris: [home] });
  other = await anApplication(idp, { client_name: 'Shop' });
});

const atHome = (url: string) => url.startsWith(home);
const isSignedIn = async (browser: HttpClient, client = app) =>
  (await outcome(browser, authorizeUrl(idp, client.clientId, { prompt: 'none' }))).get('code') !== null;

async function signedIn(
  parameters?: Record<string, string>,
): Promise<SignedIn & { browser: HttpClient; hint: string }> {
  const browser = httpClient(idp.issuer);
  const signed = await signIn(browser, app, user, parameters);
  return { ...signed, browser, hint: signed.tokens.id_token ?? '' };
}

const ask = (browser: HttpClient, parameters: Record<string, string>) =>
  browser.get(`/end-session?${new URLSearchParams(parameters)}`);
const asksThePerson = (page: Page) => page.text.includes('Stay signed in');

/** The page has the button that ends the session. */
async function signsOut(browser: HttpClient, page: Page): Promise<void> {
  const done = await browser.follow(await browser.submit(page, {}, { button: 'Sign out' }));
  expect(textOf(done.text)).toContain('You’re signed out');
  expect(await isSignedIn(browser)).toBe(false);
}

/** A POST that a page of another site sends: without the SameSite=Lax cookies. */
async function postFromElsewhere(browser: HttpClient, form: Record<string, string>): Promise<Page> {
  const page = await httpClient(idp.issuer).post('/end-session', { form, headers: { 'sec-fetch-site': 'cross-site' } });
  expect(page.setCookie).toEqual([]);
  return page.location ? browser.follow(page, atHome) : page;
}

const unsigned = (claims: object) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', kid: 'x' })}.${part({ iss: 'x', ...claims })}.AAAA`;
};

describe('logout', () => {
  it('is confirmed on a page, then ends the session, its tokens and its cookie', async () => {
    const { browser, tokens } = await signedIn();
    await signIn(browser, other, user);
    const page = await ask(browser, { client_id: app.clientId, post_logout_redirect_uri: home, state: 'back' });
    expect(asksThePerson(page)).toBe(true);
    expect(page.text).toContain('Wiki');
    expect(await isSignedIn(browser)).toBe(true);
    const done = await browser.submit(page, {}, { button: 'Sign out' });
    expect(done.location).toBe(`${home}?state=back`);
    expect(browser.cookies.get('gatehouse_session')).toBeUndefined();
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isSignedIn(browser, other)).toBe(false);
    await expect(app.rp.userinfo(tokens)).rejects.toThrow();
    expect((await app.rp.introspect(tokens.access_token)).active).toBe(false);
  });

  it('needs no confirmation with an ID token of this very session', async () => {
    const { browser, hint } = await signedIn();
    const page = await ask(browser, { id_token_hint: hint, post_logout_redirect_uri: home, state: 's' });
    expect(asksThePerson(page)).toBe(false);
    const done = await browser.submit(page);
    expect(done.location).toBe(`${home}?state=s`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('is confirmed when the ID token belongs to an earlier session of the same user', async () => {
    const { hint } = await signedIn();
    const { browser } = await signedIn();
    expect(asksThePerson(await ask(browser, { id_token_hint: hint }))).toBe(true);
  });

  it('is confirmed when the ID token belongs to another user', async () => {
    const otherUser = await aUser(idp.services);
    const theirs = (await signIn(httpClient(idp.issuer), app, otherUser)).tokens.id_token ?? '';
    const { browser } = await signedIn();
    expect(asksThePerson(await ask(browser, { id_token_hint: theirs }))).toBe(true);
  });

  it('is confirmed without an ID token, and ends on a page of this server', async () => {
    const { browser } = await signedIn();
    const page = await ask(browser, { post_logout_redirect_uri: home, state: 'x' });
    expect(asksThePerson(page)).toBe(true);
    const done = await browser.follow(await browser.submit(page, {}, { button: 'Sign out' }), atHome);
    expect(done.location).toBeUndefined();
    expect(done.text).toContain('You’re signed out');
  });

  it('redirects only to a registered URI', async () => {
    const { browser, hint } = await signedIn();
    for (const uri of [
      'https://attacker.example/',
      `${home}x`,
      `${home}?`,
      'javascript:alert(1)',
      'http://127.0.0.1:4000',
    ]) {
      for (const who of [{ id_token_hint: hint }, { client_id: app.clientId }] as Record<string, string>[]) {
        const page = await ask(browser, { ...who, post_logout_redirect_uri: uri });
        expect({ status: page.status, location: page.location }, uri).toEqual({ status: 400, location: undefined });
      }
    }
    expect(await isSignedIn(browser)).toBe(true);
  });

  it.each<[string, (hint: string) => Record<string, string>, string]>([
    ['is no token', () => ({ id_token_hint: 'junk' }), 'can’t be read as a JWT'],
    ['is encrypted', () => ({ id_token_hint: 'a.b.c.d.e' }), 'is encrypted (JWE)'],
    ['has a wrong signature', (hint) => ({ id_token_hint: `${hint.slice(0, -8)}AAAAAAAA` }), 'No key of this server'],
    [
      'is of another issuer',
      () => ({ id_token_hint: unsigned({ aud: 'nobody', iss: 'https://old.example' }) }),
      'https://old.example',
    ],
    [
      'is for an application that is not registered',
      () => ({ id_token_hint: unsigned({ aud: 'nobody', iss: idp.issuer }) }),
      '"nobody"',
    ],
    ['names no application', () => ({ id_token_hint: unsigned({ iss: idp.issuer }) }), 'name one application'],
    ['is for another application', (hint) => ({ id_token_hint: hint, client_id: other.clientId }), 'and client_id is'],
  ])('leads to a page that names the fault of an ID token that %s, and signs out', async (_what, request, fault) => {
    const { browser, hint } = await signedIn();
    const page = await ask(browser, { ...request(hint), post_logout_redirect_uri: home });
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.text).toContain('You’re still signed in');
    expect(page.text).toContain('The ID token isn’t one that this server issued to the app.');
    expect(textOf(page.text)).toContain(fault);
    expect(await isSignedIn(browser)).toBe(true);
    await signsOut(browser, page);
  });

  it('leads to a page that signs out when the address to return to is not registered', async () => {
    const { browser, hint } = await signedIn();
    const page = await ask(browser, { id_token_hint: hint, post_logout_redirect_uri: 'https://elsewhere.example/' });
    expect(textOf(page.text)).toContain('You’re still signed in');
    expect(page.text).toContain('https://elsewhere.example/');
    await signsOut(browser, page);
  });

  it.each<[string, (browser: HttpClient) => Promise<Page>]>([
    ['a repeated parameter', (browser) => browser.get(`/end-session?client_id=${app.clientId}&state=1&state=2`)],
    [
      'a form that was changed',
      async (browser) => browser.submit(await ask(browser, {}), { xsrf: 'wrong' }, { button: 'Sign out' }),
    ],
    [
      'the form of a tab that was opened before another',
      async (browser) => {
        const first = await ask(browser, {});
        await ask(browser, {});
        return browser.submit(first, {}, { button: 'Sign out' });
      },
    ],
  ])('leads to a page that signs out after %s', async (_what, fail) => {
    const { browser } = await signedIn();
    const page = await fail(browser);
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('You’re still signed in')]);
    await signsOut(browser, page);
  });

  it.each<[string, object]>([
    ['that is too long', { form: { id_token_hint: 'x'.repeat(70_000) } }],
    ['in JSON', { json: {} }],
  ])('offers to sign out after a POST %s', async (_what, options) => {
    const { browser } = await signedIn();
    const page = await browser.post('/end-session', options);
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.text).toContain('href="/end-session"');
  });

  it('says that nobody is signed in where a faulty request comes without a session', async () => {
    const page = await ask(httpClient(idp.issuer), { id_token_hint: 'junk' });
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('You’re signed out')]);
    expect(textOf(page.text)).toContain('can’t be read as a JWT');
  });

  it('says that the user is still signed in who declines at the end of the way', async () => {
    const { browser } = await signedIn();
    const done = await browser.follow(await browser.submit(await ask(browser, {}), {}, { button: 'Stay signed in' }));
    expect(textOf(done.text)).toContain('You’re still signed in');
    expect(done.text).not.toContain('You’re signed out');
  });

  it('accepts an ID token of any length, by GET and by POST from another site', async () => {
    const groups = Array.from({ length: 300 }, (_, at) => `a-role-with-a-long-name-${at}`);
    const person = await aUser(idp.services, { attributes: { groups } });
    const large = await anApplication(idp, {
      post_logout_redirect_uris: [home],
      claims: { groups: 'attributes.groups' },
    });
    for (const method of ['GET', 'POST']) {
      const browser = httpClient(idp.issuer);
      const hint = (await signIn(browser, large, person)).tokens.id_token ?? '';
      expect(hint.length).toBeGreaterThan(10_000);
      const request = { id_token_hint: hint, post_logout_redirect_uri: home, state: 's'.repeat(2400) };
      let page = method === 'GET' ? await ask(browser, request) : await postFromElsewhere(browser, request);
      for (let forms = 0; forms < 2 && page.location === undefined; forms += 1) {
        expect(asksThePerson(page)).toBe(false);
        page = await browser.submit(page);
      }
      expect(page.location, method).toBe(`${home}?state=${request.state}`);
      expect(await isSignedIn(browser, large)).toBe(false);
    }
  });

  it.each(['PS256', 'ES256', 'EdDSA', 'HS256'] as const)('accepts an ID token that is signed with %s', async (alg) => {
    const signing = await anApplication(idp, { post_logout_redirect_uris: [home], id_token_signed_response_alg: alg });
    const browser = httpClient(idp.issuer);
    const hint = (await signIn(browser, signing, user)).tokens.id_token ?? '';
    const page = await ask(browser, { id_token_hint: hint, post_logout_redirect_uri: home });
    expect((await browser.submit(page)).location).toBe(home);
  });

  it('accepts an ID token from before the algorithm of the application changed', async () => {
    const changing = await anApplication(idp, { post_logout_redirect_uris: [home] });
    const browser = httpClient(idp.issuer);
    const hint = (await signIn(browser, changing, user)).tokens.id_token ?? '';
    const { id } = await idp.services.db.asStored.application.findUniqueOrThrow({
      where: { clientId: changing.clientId },
    });
    const redirect_uris = [changing.redirectUri];
    await idp.services.applications.update('oidc', id, {
      client_name: 'Changing',
      redirect_uris,
      post_logout_redirect_uris: [home],
      id_token_signed_response_alg: 'ES256',
    });
    const page = await ask(browser, { id_token_hint: hint, post_logout_redirect_uri: home });
    expect((await browser.submit(page)).location).toBe(home);
  });

  it('still says that an application is not known where the request names it', async () => {
    const { browser } = await signedIn();
    const page = await ask(browser, { client_id: 'nobody' });
    expect(page.text).toContain('isn’t registered');
    await signsOut(browser, page);
  });

  it('may be requested by POST', async () => {
    const { browser, hint } = await signedIn();
    const answer = await browser.post('/end-session', {
      form: { id_token_hint: hint, post_logout_redirect_uri: home },
    });
    const page = await browser.follow(answer);
    expect((await browser.submit(page)).location).toBe(home);
  });

  it('can be declined, which ends only the requesting application’s part in the session', async () => {
    const { browser, tokens } = await signedIn();
    const page = await ask(browser, { client_id: app.clientId, post_logout_redirect_uri: home });
    const done = await browser.submit(page, {}, { button: 'Stay signed in' });
    expect(done.location).toBe(home);
    await expect(app.rp.userinfo(tokens)).rejects.toThrow();
    expect(await isSignedIn(browser, other)).toBe(true);
  });

  it('keeps offline access that the user has granted', async () => {
    const { browser, hint, tokens } = await signedIn({ scope: 'openid offline_access' });
    await browser.submit(await ask(browser, { id_token_hint: hint }));
    const refreshed = await app.rp.refresh(tokens.refresh_token ?? '');
    expect(refreshed.claims()?.sub).toBe(user.account.id);
  });

  it('needs no confirmation without a session', async () => {
    const browser = httpClient(idp.issuer);
    const page = await ask(browser, { client_id: app.clientId, post_logout_redirect_uri: home });
    expect(asksThePerson(page)).toBe(false);
    expect((await browser.submit(page)).location).toBe(home);
  });

  it('is recorded in the audit log, with the requesting client', async () => {
    const { browser, hint } = await signedIn();
    await browser.submit(await ask(browser, { id_token_hint: hint }));
    const event = await idp.services.db.auditEvent.findFirst({
      where: { type: 'session.ended' },
      orderBy: { id: 'desc' },
    });
    expect(event).toMatchObject({ subjectId: user.account.id, clientId: app.clientId, outcome: 'success' });
    expect(event?.requestId).toBeTruthy();
  });
});
