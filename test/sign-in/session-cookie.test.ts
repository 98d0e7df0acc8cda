// The cookies of a sign-in: their attributes on http and behind an https proxy, a new session identifier at each
// sign-in, and no effect of a planted, copied or modified cookie.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, outcome, redirectUri, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { formsOf } from '../support/pages/html.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

const SESSION = 'gatehouse_session';
const sessionOf = (browser: HttpClient) => browser.cookies.get(SESSION)?.value ?? '';
const isThere = (url: string) => url.startsWith(redirectUri);
const attributesOf = (cookie: string) =>
  cookie
    .split('; ')
    .slice(1)
    .map((part) => part.toLowerCase());
const isSignedIn = async (browser: HttpClient) =>
  (await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('code') !== null;

describe('the session cookie', () => {
  it('is HttpOnly, SameSite=Lax and signed, ends with the session, and is not marked Secure on plain http', async () => {
    const browser = httpClient(idp.issuer);
    const pages: Page[] = [];
    const started = await browser.get(authorizeUrl(idp, app.clientId));
    const form = await browser.follow(started);
    const submitted = await browser.submit(form, { username: user.username, password: user.password });
    const resumed = await browser.get(submitted.location ?? '');
    pages.push(started, form, submitted, resumed);
    const cookies = pages.flatMap((page) => page.setCookie);
    expect(cookies.length).toBeGreaterThan(6);
    for (const cookie of cookies) {
      const attributes = attributesOf(cookie);
      expect(attributes, cookie).toEqual(expect.arrayContaining(['httponly', 'samesite=lax']));
      expect(attributes, cookie).not.toContain('secure');
    }
    const session = resumed.setCookie.find((cookie) => cookie.startsWith(`${SESSION}=`)) ?? '';
    expect(attributesOf(session)).toContain('path=/');
    const expires = Date.parse(/expires=([^;]+)/i.exec(session)?.[1] ?? '');
    expect(expires - Date.now()).toBeLessThanOrEqual(12 * 3600 * 1000);
    expect(expires - Date.now()).toBeGreaterThan(11 * 3600 * 1000);
    expect(resumed.setCookie).toContainEqual(expect.stringContaining(`${SESSION}.sig=`));
  });

  it('has a new value after each sign-in, and the old value is invalid', async () => {
    const browser = httpClient(idp.issuer);
    await browser.get('/device'); // a form before anybody signed in
    expect(sessionOf(browser)).toBe('');
    await signIn(browser, app, user);
    const first = browser.cookies.all().filter(({ name }) => name.startsWith(SESSION));
    expect(first).toHaveLength(2);
    await signIn(browser, app, user, { prompt: 'login' });
    expect(sessionOf(browser)).not.toBe(first.find(({ name }) => name === SESSION)?.value);

    const attacker = httpClient(idp.issuer);
    for (const cookie of first) attacker.cookies.set(cookie);
    expect(await isSignedIn(attacker)).toBe(false);
  });

  it('does not become the victim’s session when an attacker planted it', async () => {
    const attacker = httpClient(idp.issuer);
    const page = await attacker.follow(await attacker.get(authorizeUrl(idp, app.clientId)));
    // All cookies of the attacker in the browser of the victim, who signs in on the attacker's sign-in page.
    const victim = httpClient(idp.issuer);
    for (const cookie of attacker.cookies.all()) victim.cookies.set(cookie);
    const submitted = await victim.submit(page, { username: user.username, password: user.password });
    await victim.follow(submitted, isThere);
    expect(await isSignedIn(attacker)).toBe(false);
  });

  it('is invalid when it was modified, or has no signature or another one', async () => {
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, user);
    const [value, signature] = [browser.cookies.get(SESSION), browser.cookies.get(`${SESSION}.sig`)];
    if (!value || !signature) throw new Error('cookies are missing');
    const other = httpClient(idp.issuer);
    await signIn(other, app, await aUser(idp.services));
    const modified = (text: string) => `${text.slice(0, -1)}${text.endsWith('x') ? 'y' : 'x'}`;
    const forgeries = [
      [{ ...value, value: modified(value.value) }, signature],
      [value],
      [value, { ...signature, value: modified(signature.value) }],
      [{ ...value, value: sessionOf(other) }, signature],
    ];
    for (const cookies of forgeries) {
      const thief = httpClient(idp.issuer);
      for (const cookie of cookies) thief.cookies.set(cookie);
      expect(await isSignedIn(thief)).toBe(false);
    }
  });
});

describe('a server behind a proxy with https', () => {
  const headers = { host: 'login.example.org', 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
  let secure: TestIdp;

  beforeAll(async () => {
    secure = await startIdp({ environment: { ISSUER: 'https://login.example.org', TRUST_PROXY: '1' } });
  });
  afterAll(() => secure?.stop());

  it('sets only Secure cookies, with the __Host- prefix where it names them, and signs users in', async () => {
    const person = await aUser(secure.services);
    const { applications } = secure.services;
    await applications.createOidc({
      client_id: 'web',
      client_name: 'Web',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      consent: 'implicit',
    });
    const browser = httpClient(`http://127.0.0.1:${secure.port}`, { headers });
    const local = (url: string | undefined) =>
      (url ?? '').replace(/^https?:\/\/(login\.example\.org|127\.0\.0\.1:\d+)/, `http://127.0.0.1:${secure.port}`);
    const seen: string[] = [];
    const go = async (page: Page): Promise<Page> => {
      seen.push(...page.setCookie);
      return page.location && !isThere(page.location) ? go(await browser.get(local(page.location))) : page;
    };
    const form = await go(
      await browser.get(local(authorizeUrl({ ...secure, issuer: 'https://login.example.org' }, 'web'))),
    );
    const [fields] = formsOf(form.text, 'https://login.example.org');
    const answer = await browser.post(local(fields?.action), {
      form: { ...fields?.fields, username: person.username, password: person.password },
      headers: { origin: 'https://login.example.org', 'sec-fetch-site': 'same-origin' },
    });
    const back = await go(answer);
    expect(new URL(back.location ?? '').searchParams.get('iss')).toBe('https://login.example.org');
    for (const cookie of seen) {
      expect(attributesOf(cookie), cookie).toContain('secure');
      if (attributesOf(cookie).includes('path=/')) expect(cookie).toMatch(/^__Host-/);
    }
    expect(seen).toContainEqual(expect.stringMatching(/^__Host-gatehouse_session=/));
    const discovery = await browser.get('/.well-known/openid-configuration');
    expect(discovery.json()).toMatchObject({
      issuer: 'https://login.example.org',
      token_endpoint: 'https://login.example.org/token',
    });
  });
});
