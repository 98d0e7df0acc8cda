// What an authorization request must and must not hold (OIDC Core 3.1.2, RFC 7636, RFC 9207).
import { beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  postAs,
  redirectUri,
  signIn,
} from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
});

/** The answer to a request by POST from the application, whose form the server may send again. */
async function posted(form: URLSearchParams, browser = httpClient(idp.issuer)) {
  const isThere = (url: string) => url.startsWith(redirectUri);
  const page = await browser.follow(await browser.post('/authorize', { form }), isThere);
  return page.text.includes('One moment') ? browser.follow(await browser.submit(page), isThere) : page;
}

const errorFor = (parameters: Record<string, string | null>) =>
  outcome(httpClient(idp.issuer), authorizeUrl(idp, app.clientId, parameters)).then(Object.fromEntries);

describe('an authorization request', () => {
  it('is answered with state and iss beside the code, and with the nonce in the ID token', async () => {
    const { callback, tokens, started } = await signIn(httpClient(idp.issuer), app, user);
    expect([...callback.searchParams.keys()].sort()).toEqual(['code', 'iss', 'state']);
    expect(callback.searchParams.get('state')).toBe(started.checks.expectedState);
    expect(callback.searchParams.get('iss')).toBe(idp.issuer);
    expect(tokens.claims()?.nonce).toBe(started.checks.expectedNonce);
  });

  it('is rejected without PKCE, and the error holds state and iss', async () => {
    expect(await errorFor({ code_challenge: null, code_challenge_method: null })).toMatchObject({
      error: 'invalid_request',
      state: 'the-state',
      iss: idp.issuer,
    });
  });

  it.each([
    ['plain', { code_challenge_method: 'plain' }],
    ['an unnamed method, which would be plain', { code_challenge_method: null }],
    ['an unknown method', { code_challenge_method: 'S512' }],
    ['a method without a challenge', { code_challenge: null }],
    ['a challenge that is too short', { code_challenge: 'abc' }],
    ['a challenge of other letters', { code_challenge: `${'a'.repeat(42)}+` }],
  ])('is rejected with %s as PKCE', async (_what, parameters) => {
    expect(await errorFor(parameters)).toMatchObject({ error: 'invalid_request', state: 'the-state' });
  });

  it.each([
    'token',
    'id_token',
    'id_token token',
    'code id_token',
    'code token',
    'code id_token token',
    'none',
    'code none',
    'saml',
  ])('is rejected with the response type %s', async (type) => {
    const answer = await httpClient(idp.issuer).get(
      authorizeUrl(idp, app.clientId, { response_type: type, nonce: 'n' }),
    );
    const url = new URL(answer.location ?? '');
    const parameters = new URLSearchParams(url.search || url.hash.slice(1));
    expect(parameters.get('error')).toMatch(/^(unsupported_response_type|invalid_request)$/);
    expect(url.href).toContain(redirectUri);
    expect(url.href).not.toMatch(/[?#&](code|access_token|id_token)=/);
  });

  it('is rejected without a response type', async () => {
    expect(await errorFor({ response_type: null })).toMatchObject({ error: 'invalid_request' });
  });

  it('may be sent by POST', async () => {
    const browser = httpClient(idp.issuer);
    const form = new URL(authorizeUrl(idp, app.clientId)).searchParams;
    const page = await completeSignIn(browser, await browser.post('/authorize', { form }), { user });
    expect(page.location).toMatch(/[?&]code=/);
  });

  it('may hold languages and parameters that are unknown', async () => {
    const browser = httpClient(idp.issuer);
    const page = await completeSignIn(
      browser,
      authorizeUrl(idp, app.clientId, { ui_locales: 'de fr', claims_locales: 'de', unknown_parameter: 'x' }),
      { user },
    );
    expect(page.location).toMatch(/[?&]code=/);
  });

  it.each([
    ['a state', { state: 's'.repeat(6000) }],
    ['a nonce', { nonce: 'n'.repeat(6000) }],
    ['a login_hint', { login_hint: 'a'.repeat(6000) }],
    ['languages', { ui_locales: 'de '.repeat(2000) }],
    ['scopes', { scope: `openid ${'some:scope '.repeat(500)}` }],
    [
      'claims',
      {
        claims: JSON.stringify({
          userinfo: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`claim${i}`, null])),
        }),
      },
    ],
    ['acr_values', { acr_values: 'urn:example:acr '.repeat(300) }],
  ])('may have %s of several kilobytes, by GET, POST and PAR', async (_what, parameters: Record<string, string>) => {
    const url = authorizeUrl(idp, app.clientId, parameters);
    const form = new URL(url).searchParams;
    const state = parameters.state ?? 'the-state';
    const pushed = await postAs(idp, app, '/par', Object.fromEntries(form));
    const byPar = `/authorize?${new URLSearchParams({ client_id: app.clientId, request_uri: String(pushed.json().request_uri) })}`;
    const browser = httpClient(idp.issuer);
    for (const from of [url, await browser.post('/authorize', { form }), byPar]) {
      const callback = await completeSignIn(browser, from, { user });
      const answer = new URL(callback.location ?? expect.fail(callback.text)).searchParams;
      expect(Object.fromEntries(answer)).toMatchObject({ code: expect.any(String), state });
    }
  });

  it('returns to the application with an error and the state when its parameters are too long together', async () => {
    const long = { claims: JSON.stringify({ userinfo: {}, other: 'c'.repeat(9000) }), state: 's'.repeat(2400) };
    const url = authorizeUrl(idp, app.clientId, long);
    const form = new URL(url).searchParams;
    for (const page of [await httpClient(idp.issuer).get(url), await posted(form)]) {
      const answer = new URL(page.location ?? expect.fail(page.text)).searchParams;
      expect(Object.fromEntries(answer)).toMatchObject({ error: 'invalid_request', state: long.state });
    }
    const pushed = await postAs(idp, app, '/par', Object.fromEntries(form));
    expect([pushed.status, pushed.json().error]).toEqual([400, 'invalid_request']);
    expect(await idp.services.db.oidcArtifact.count({ where: { payload: { contains: 'c'.repeat(9000) } } })).toBe(0);
  });

  it('is rejected when it is too long to be answered', async () => {
    const long = { state: 's'.repeat(9000) };
    const form = new URL(authorizeUrl(idp, app.clientId, long)).searchParams;
    for (const page of [await httpClient(idp.issuer).get(authorizeUrl(idp, app.clientId, long)), await posted(form)]) {
      expect([page.status, page.location]).toEqual([400, undefined]);
      expect(page.text).toContain('shorter state parameter');
    }
    const huge = await httpClient(idp.issuer).post('/authorize', { form: { state: 's'.repeat(100_000) } });
    expect(huge.status).toBe(413);
    const overflow = await httpClient(idp.issuer).get(`/authorize?state=${'s'.repeat(200_000)}`);
    expect(overflow.status).toBe(431);
  });

  it('is rejected when a parameter is repeated, also by POST', async () => {
    const twice = `${authorizeUrl(idp, app.clientId)}&nonce=1&nonce=2`;
    expect((await outcome(httpClient(idp.issuer), twice)).get('error')).toBe('invalid_request');
    const page = await posted(new URL(twice).searchParams);
    expect(new URL(page.location ?? expect.fail(page.text)).searchParams.get('error')).toBe('invalid_request');
  });

  it('is rejected with a scope that the application may not request', async () => {
    const narrow = await anApplication(idp, { scope: 'openid email', grant_types: ['authorization_code'] });
    const answer = await outcome(httpClient(idp.issuer), authorizeUrl(idp, narrow.clientId, { scope: 'openid roles' }));
    expect(answer.get('error')).toBe('invalid_scope');
  });

  it('is rejected with an unsigned request object, by value or by reference', async () => {
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa(`{"iss":"${app.clientId}","aud":"${idp.issuer}"}`)}.`;
    expect((await errorFor({ request: unsigned.replaceAll('=', '') })).error).toBe('invalid_request_object');
    expect((await errorFor({ request_uri: 'https://attacker.example/request' })).error).toMatch(/request_uri/);
    expect((await errorFor({ registration: '{}' })).error).toBe('registration_not_supported');
  });
});
