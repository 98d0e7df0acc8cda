// A pending AuthnRequest gets one Response, for the application that sent it, in the browser that sent it. An edited, copied
// or repeated URL gets nothing signed.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../../saml/live.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let sp: LiveSp;
let other: LiveSp;
let user: TestUser;
/** A browser that is signed in. */
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  sp = await aLiveSp(idp);
  other = await aLiveSp(idp);
  user = await aUser(idp.services);
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  browser = httpClient(idp.issuer);
  const page = await browser.follow(await redirect(browser, sp.request()));
  const answer = await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
  expect(answerIn(answer)).toContain('<saml:Assertion');
});

/** The URL of the authorization request that /saml/sso redirects to; it is not followed. */
async function pendingUrl(xml = sp.request(), by = browser): Promise<URL> {
  return new URL((await redirect(by, xml)).location ?? '');
}

function edited(url: URL, changes: Record<string, string | null>): string {
  const result = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) result.searchParams.delete(name);
    else result.searchParams.set(name, value);
  }
  return result.href;
}

function expectNothingSigned(page: Page): void {
  expect(page.status).toBe(400);
  expect([page.location, page.forms, answerIn(page)]).toEqual([undefined, [], undefined]);
}

describe('a pending AuthnRequest', () => {
  it('is answered in the browser that sent it', async () => {
    expect(answerIn(await browser.get((await pendingUrl()).href))).toContain('<saml:Assertion');
  });

  it('is answered once, also when it is opened many times at the same moment', async () => {
    const { href } = await pendingUrl();
    const pages = await Promise.all(Array.from({ length: 8 }, () => browser.get(href)));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
    expectNothingSigned(await browser.get(href));
  });

  it('is not answered in another browser, signed in or not', async () => {
    const ownUrl = (await pendingUrl()).href;
    expectNothingSigned(await httpClient(idp.issuer).get(ownUrl));
    const urlOfOther = (await pendingUrl(sp.request(), httpClient(idp.issuer))).href;
    expectNothingSigned(await browser.get(urlOfOther));
  });

  it('is not answered to another application', async () => {
    const url = await pendingUrl();
    expectNothingSigned(await browser.get(edited(url, { client_id: other.entityId, redirect_uri: other.acs })));
    expectNothingSigned(await browser.get(edited(url, { client_id: other.entityId })));
  });

  it.each<[string, Record<string, string | null>]>([
    ['without prompt=login, where a new sign-in was demanded', { prompt: null }],
    ['with another prompt', { prompt: 'consent' }],
    ['with prompt=none', { prompt: 'none' }],
    ['with acr_values', { acr_values: 'phr' }],
    ['with claims', { claims: '{}' }],
    ['with max_age', { max_age: '60' }],
    ['with a hint', { login_hint: 'other-user' }],
    ['with another scope', { scope: 'openid email' }],
    ['with another state', { state: 'guessed' }],
    ['without state', { state: null }],
    ['with an ID token hint', { id_token_hint: 'x' }],
    ['with a request object', { request: 'x.y.z' }],
    ['with a pushed request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
    ['with a nonce', { nonce: 'x' }],
    ['with another response mode', { response_mode: 'query' }],
    ['without response mode', { response_mode: null }],
    ['as a form', { response_mode: 'form_post' }],
    ['with another redirect URI', { redirect_uri: 'https://evil.example/acs' }],
    ['with a prompt that does not exist', { prompt: 'x' }],
    ['with a scope that does not exist', { scope: 'x' }],
    ['as a code flow', { response_type: 'code' }],
    ['as a code flow with PKCE', { response_type: 'code', code_challenge: 'x'.repeat(43) }],
    ['as an implicit flow', { response_type: 'id_token token' }],
    ['without response type', { response_type: null }],
    ['with a resource', { resource: 'https://api.example' }],
  ])('is neither answered nor consumed %s', async (_what, changes) => {
    const url = await pendingUrl(sp.request({ attributes: ' ForceAuthn="true"' }));
    const page = await browser.get(edited(url, changes));
    expect(page.text).not.toContain('evil.example');
    expectNothingSigned(page);
    const unanswered = { id: url.searchParams.get('state') ?? '', usedAt: null };
    expect(await idp.services.db.samlRequest.count({ where: unanswered })).toBe(1);
  });

  it('is neither answered nor consumed with the redirect URI of another application', async () => {
    const url = await pendingUrl();
    expectNothingSigned(await browser.get(edited(url, { redirect_uri: other.acs })));
    expect(answerIn(await browser.get(url.href))).toContain('<saml:Assertion');
  });

  it('is neither answered nor consumed with a parameter given twice', async () => {
    const { href } = await pendingUrl();
    for (const twice of ['response_type=code', 'response_type=none', 'prompt=none', 'state=x', 'response_mode=query']) {
      expectNothingSigned(await browser.get(`${href}&${twice}`));
    }
    expect(answerIn(await browser.get(href))).toContain('<saml:Assertion');
  });

  it('can neither be pushed nor used in a device flow', async () => {
    const form = Object.fromEntries((await pendingUrl()).searchParams);
    const pushed = await browser.post('/par', { form });
    expect(pushed.status).toBe(400);
    expect(pushed.json()).toMatchObject({ error: 'invalid_request' });
    const device = await browser.post('/device/code', { form: { client_id: sp.entityId, scope: 'openid' } });
    expect(device.status).toBe(400);
  });
});

describe('an AuthnRequest by POST', () => {
  it('continues in one browser, once', async () => {
    const { location = '' } = await post(httpClient(idp.issuer), sp.request());
    expect(location).toMatch(/\/saml\/sso\/continue\?request=/);
    const authorize = await browser.get(location);
    expect(answerIn(await browser.get(authorize.location ?? ''))).toContain('<saml:Assertion');
    expectNothingSigned(await browser.get(location));
    expectNothingSigned(await httpClient(idp.issuer).get(location));
  });

  it('cannot continue without the redirect, nor in another browser after it', async () => {
    const { location = '' } = await post(browser, sp.request());
    const id = new URL(location).searchParams.get('request') ?? '';
    const url = edited(await pendingUrl(), { state: id });
    expectNothingSigned(await browser.get(url));
    await httpClient(idp.issuer).get(location);
    expectNothingSigned(await browser.get(url));
  });
});
