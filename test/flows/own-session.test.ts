// The session of Gatehouse's own pages: state and PKCE verifier of 32 random bytes, the cookie sessionId for an hour with a
// new value at each sign-in, and its refresh in the last five minutes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';

const clock = testClock();
let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
});
afterAll(() => idp?.stop());

const ownCookie = (page: Page) => page.setCookie.find((cookie) => cookie.startsWith('sessionId='));

describe('a sign-in to the account pages', () => {
  it('begins with state and code challenge of 32 random bytes, new ones each time', async () => {
    const states = new Set<string>();
    for (let times = 0; times < 3; times += 1) {
      const page = await httpClient(idp.issuer).get('/login');
      const parameters = new URL(page.location ?? '').searchParams;
      const state = parameters.get('state') ?? '';
      states.add(state);
      expect(Buffer.from(state, 'base64url')).toHaveLength(32);
      expect(Buffer.from(parameters.get('code_challenge') ?? '', 'base64url')).toHaveLength(32);
      expect(parameters.get('code_challenge_method')).toBe('S256');
    }
    expect(states.size).toBe(3);
  });

  it('ends with the cookie sessionId, HttpOnly, Lax, for 3600 seconds, and a new value each time', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const values = [];
    for (const start of ['/login', '/login?prompt=login']) {
      const form = await browser.follow(await browser.get(start));
      let page = await browser.submit(form, { username: user.username, password: user.password });
      while (page.location && !ownCookie(page)) page = await browser.get(page.location);
      const cookie = ownCookie(page) ?? '';
      expect(cookie.toLowerCase()).toContain('httponly');
      expect(cookie.toLowerCase()).toContain('samesite=lax');
      expect(cookie.toLowerCase()).toContain('max-age=3600');
      values.push(cookie.split(';')[0]);
    }
    expect(values[0]).not.toBe(values[1]);
  });

  it.each([
    ['server_error', 500, undefined],
    ['invalid_request', 500, undefined],
    ['temporarily_unavailable', 503, undefined],
    ['access_denied', 303, '/'],
  ])('that fails with %s does not begin again by itself', async (error, status, location) => {
    const browser = httpClient(idp.issuer);
    const { location: request = '' } = await browser.get('/login');
    const state = new URL(request).searchParams.get('state') ?? '';
    const page = await browser.get(`/auth/callback?${new URLSearchParams({ error, state })}`);
    expect([page.status, page.location]).toEqual([status, location && `${idp.issuer}${location}`]);
  });
});

describe('the address to return to', () => {
  const FOREIGN = [
    '/.//evil.example/x',
    '/%2e//evil.example',
    '/x/..//evil.example',
    '//evil.example',
    '/\\evil.example',
  ];

  it('is a page of this server, whatever a link to /login names', async () => {
    const browser = await signedIn(idp, await aUser(idp.services));
    const endOf = async (returnTo: string) => {
      let page = await browser.get(`/login?return_to=${encodeURIComponent(returnTo)}`);
      while (page.location && !ownCookie(page)) page = await browser.get(page.location);
      return page.location;
    };
    expect(await endOf('/account/browsers?x=1')).toBe(`${idp.issuer}/account/browsers?x=1`);
    for (const returnTo of [...FOREIGN, '/\t/evil.example', 'https://evil.example']) {
      expect(await endOf(returnTo), returnTo).toBe(`${idp.issuer}/dashboard`);
    }
  });
});

describe('the session', () => {
  const refresh = async (browser: HttpClient): Promise<number> => {
    const page = await browser.get('/account/browsers');
    const token = page.forms[0]?.fields._csrf ?? '';
    const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
    return (await browser.post('/api/auth/refresh', { form: { _csrf: token }, headers })).status;
  };
  const account = async (browser: HttpClient) => (await browser.get('/account')).status;

  it('is extended by an hour in the last five minutes, not before', async () => {
    const [early, late] = await Promise.all(
      [await aUser(idp.services), await aUser(idp.services)].map((user) => signedIn(idp, user)),
    );
    if (!early || !late) throw new Error('the browser has no session');
    clock.advance({ minutes: 54 });
    expect(await refresh(early)).toBe(200);
    clock.advance({ minutes: 2 });
    expect(await refresh(late)).toBe(200);
    clock.advance({ minutes: 5 });
    expect(await account(early), 'refreshed after 54 minutes').toBe(303);
    expect(await account(late), 'refreshed after 56 minutes').toBe(200);
  });

  it('is not refreshed without its cookie', async () => {
    const headers = { origin: idp.issuer };
    expect((await httpClient(idp.issuer).post('/api/auth/refresh', { form: {}, headers })).status).toBe(403);
  });
});
