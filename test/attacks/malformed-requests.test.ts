// Any input at the OAuth and OpenID Connect endpoints gets a status below 500, without an error in the log.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, basic, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import fc, { anyCharacter, numRuns } from '../support/property.ts';

let idp: TestIdp;
let app: Application;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp, { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
  browser = httpClient(idp.issuer);
  await signIn(browser, app, await aUser(idp.services));
});
afterAll(() => idp?.stop());
afterEach(() => {
  expect(idp.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

function expectRejection(page: Page): void {
  expect(page.status).toBeLessThan(500);
  expect(page.location ?? '').not.toContain('server_error');
  expect(page.text).not.toMatch(/\bat \S+ \(|node_modules|prisma/i);
}

const nasty = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '%00',
    '\u202e',
    '../..',
    '[]',
    '{}',
    'null',
    '__proto__',
    'constructor',
    '-1',
    '1e999',
    "'; --",
  ),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .constantFrom('x', 'é', '\u{1f600}')
    .chain((letter) => fc.integer({ min: 1, max: 1500 }).map((n) => letter.repeat(n))),
);
const names = `client_id redirect_uri response_type response_mode scope state nonce prompt max_age claims acr_values
  ui_locales id_token_hint login_hint resource request request_uri registration code_challenge
  code_challenge_method dpop_jkt screen_hint display token token_type_hint code code_verifier
  refresh_token grant_type device_code user_code client_secret client_assertion client_assertion_type
  post_logout_redirect_uri logout_hint xsrf confirm toString __proto__`.split(/\s+/);
const parameters = fc.array(fc.tuple(fc.constantFrom(...names), nasty), { maxLength: 4 });
const runs = { numRuns: numRuns(60) };

/** Percent-encoded here, because URLSearchParams would replace lone surrogates. */
const encode = (text: string) =>
  [...Buffer.from(text, 'utf8')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const query = (pairs: [string, string][]) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');

describe('the server handles any parameters without a server error', () => {
  it('in an otherwise valid authorization request', async () => {
    await fc.assert(
      fc.asyncProperty(parameters, async (pairs) => {
        const url = new URL(authorizeUrl(idp, app.clientId));
        for (const [name] of pairs) url.searchParams.delete(name);
        expectRejection(await browser.get(`${url}&${query(pairs)}`));
      }),
      runs,
    );
  });

  it.each([
    '/end-session',
    '/device',
    '/authorize',
    '/authorize/x',
    '/signin/x',
    '/end-session/success',
    '/userinfo',
    '/jwks',
  ])('in the query of %s', async (path) => {
    await fc.assert(
      fc.asyncProperty(parameters, async (pairs) => expectRejection(await browser.get(`${path}?${query(pairs)}`))),
      { numRuns: numRuns(15) },
    );
  });

  it.each([
    '/token',
    '/introspect',
    '/revoke',
    '/par',
    '/device/code',
    '/userinfo',
    '/device',
    '/authorize',
    '/end-session',
    '/end-session/confirm',
  ])('in a form to %s', async (path) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' };
    const authorization = basic(app.clientId, app.clientSecret);
    const grants = [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ];
    await fc.assert(
      fc.asyncProperty(parameters, fc.constantFrom(...grants), fc.boolean(), async (pairs, grant, known) => {
        const body = query([['grant_type', grant] as [string, string], ...pairs]);
        expectRejection(await browser.post(path, { body, headers: known ? { ...headers, authorization } : headers }));
      }),
      { numRuns: numRuns(25) },
    );
  });

  it('in a registration', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async (body) => {
        expectRejection(await browser.post('/register', { json: body, headers: { authorization: 'Bearer x' } }));
      }),
      { numRuns: numRuns(30) },
    );
  });
});
