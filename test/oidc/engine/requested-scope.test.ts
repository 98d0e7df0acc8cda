// The scope of a request (RFC 6749 3.3): white space, none, unknown ones, the default by registration, and what the consent page then lists.
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  basic,
  type ClientInput,
  completeSignIn,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../support.ts';

const api = 'https://scopes.example.com';
let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services, { name: 'Ann Example' });
  const scopes = '["articles:read","articles:write"]';
  const tied = '{"articles:read":"articles","articles:write":"articles"}';
  await idp.services.db.asStored.resource.create({ data: { identifier: api, scopes } });
  await idp.services.db.asStored.resource.create({
    data: { identifier: `${api}/tied`, scopes, scopePermissions: tied },
  });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

const registered = (scope: string | undefined, more: ClientInput = {}) =>
  anApplication(idp, { resources: [api], ...(scope !== undefined && { scope }), ...more });
const isThere = (url: string) => url.startsWith(redirectUri);
const at = (app: Application, parameters: Record<string, string | null>) => authorizeUrl(idp, app.clientId, parameters);

/** The scope of the token of a whole sign-in. */
async function grantedScope(app: Application, parameters: Record<string, string | null>): Promise<unknown> {
  const page = await completeSignIn(httpClient(idp.issuer), at(app, parameters), { user });
  const answer = new URL(page.location ?? expect.fail(textOf(page.text))).searchParams;
  const code = answer.get('code') ?? expect.fail(answer.toString());
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
  const tokens = await postAs(idp, app, '/token', form);
  return tokens.json().scope;
}

/** The page after the sign-in. */
async function consentPage(
  app: Application,
  parameters: Record<string, string | null>,
  browser = httpClient(idp.issuer),
) {
  const page = await browser.follow(await browser.get(at(app, parameters)), isThere);
  if (!page.forms.some(({ fields }) => 'password' in fields)) return page;
  return browser.follow(await browser.submit(page, { username: user.username, password: user.password }), isThere);
}
const listed = (page: Page) =>
  page.text.match(/<ul class="ticks">[\s\S]*?<\/ul>/)?.[0] ?? expect.fail(textOf(page.text));

describe('white space in a scope', () => {
  it.each([' openid email', 'openid email ', 'openid  email', '\topenid\n email '])(
    'is forgiven: %j',
    async (scope) => {
      expect(await grantedScope(await registered('openid email'), { scope })).toBe('openid email');
    },
  );

  it('is forgiven in a pushed request, a request object, a device request, a refresh and for a client itself', async () => {
    const app = await registered('openid email offline_access articles:read', {
      grant_types: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
    const form = Object.fromEntries(new URL(at(app, { scope: ' openid  email ' })).searchParams);
    expect((await postAs(idp, app, '/par', form)).status).toBe(201);
    expect((await postAs(idp, app, '/device/code', { scope: ' openid  email ' })).status).toBe(200);
    const own = { grant_type: 'client_credentials', resource: api, scope: ' articles:read ' };
    expect((await postAs(idp, app, '/token', own)).json().scope).toBe('articles:read');
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid email offline_access' });
    const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', scope: ' openid  email ' };
    expect((await postAs(idp, app, '/token', again)).json().scope).toBe('openid email');
  });

  it('is forgiven in prompt and response_type, and after the scheme of the Authorization header', async () => {
    const app = await registered('openid email');
    const page = await httpClient(idp.issuer).get(at(app, { prompt: ' login  consent ', response_type: 'code ' }));
    expect(page.location).toContain('/signin/');
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid email' });
    const authorization = `Bearer  ${tokens.access_token}`;
    const answer = await httpClient(idp.issuer).get('/userinfo', { headers: { authorization } });
    expect([answer.status, answer.json().sub]).toEqual([200, user.account.id]);
  });

  it('is forgiven in a request object', async () => {
    const { privateKey, publicKey } = await jose.generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await jose.exportJWK(publicKey)), kty: 'EC' as const, kid: 'k', alg: 'ES256', use: 'sig' };
    const app = await registered('openid email', { jwks: { keys: [jwk] } });
    const parameters = Object.fromEntries(new URL(at(app, { scope: ' openid  email' })).searchParams);
    const request = await new jose.SignJWT(parameters)
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(app.clientId)
      .setAudience(idp.issuer)
      .sign(privateKey);
    expect(await grantedScope(app, { request })).toBe('openid email');
  });
});

describe('a request without a usable scope', () => {
  it.each([
    ['no scope', null],
    ['an empty one', ''],
    ['only white space', '  '],
    ['only unknown ones', 'read:everything write'],
  ])('with %s is for the registered scope', async (_what, scope) => {
    const app = await registered('openid email articles:read');
    expect(await grantedScope(app, { scope, nonce: 'n' })).toBe('openid email');
  });

  it('with `resource` is for the registered scopes of that API', async () => {
    const app = await registered('openid email articles:read');
    for (const scope of [null, '', 'read:everything'])
      expect(await grantedScope(app, { scope, resource: api })).toBe('articles:read');
  });

  it('gets offline access where that is registered', async () => {
    const app = await registered('openid offline_access');
    expect(await grantedScope(app, { scope: null })).toBe('openid offline_access');
  });

  it.each([
    ['no scope', null],
    ['an empty one', ''],
    ['only unknown ones', 'read:everything'],
    ['only offline_access', 'offline_access'],
  ])('with %s is rejected before the sign-in where none is registered', async (_what, scope) => {
    const app = await registered(undefined);
    for (const more of [{}, { resource: api }] as Record<string, string>[]) {
      const answer = await outcome(httpClient(idp.issuer), at(app, { scope, ...more }));
      expect(Object.fromEntries(answer)).toMatchObject({ error: 'invalid_scope', state: 'the-state' });
    }
  });

  it('is rejected in a pushed request and at a device too', async () => {
    const app = await registered(undefined, {
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    });
    const form = Object.fromEntries(new URL(at(app, { scope: null })).searchParams);
    for (const [path, fields] of [
      ['/par', form],
      ['/device/code', { client_id: app.clientId }],
    ] as const) {
      const answer = await postAs(idp, app, path, fields, {
        authorization: basic(app.clientId, app.clientSecret ?? ''),
      });
      expect([answer.status, answer.json().error]).toEqual([400, 'invalid_scope']);
    }
  });
});

describe('the consent page', () => {
  const asking = (scope: string, more: ClientInput = {}) => registered(scope, { consent: 'explicit', ...more });

  it('lists the registered scope of a request without one', async () => {
    const page = await consentPage(await asking('openid email'), { scope: null });
    expect(listed(page)).toContain(user.account.email);
  });

  it('lists everything that the token will have, the second time too', async () => {
    const app = await asking('openid email profile hr articles:read articles:write', {
      claims: { groups: 'roles', dept: { field: 'name', scope: 'hr' } },
    });
    const browser = httpClient(idp.issuer);
    const claims = JSON.stringify({ userinfo: { phone_number: null } });
    const first = { scope: 'openid email hr articles:read', resource: api, claims };
    const page = await consentPage(app, first, browser);
    await browser.follow(await browser.submit(page, {}, { button: 'Allow' }), isThere);
    const second = listed(
      await consentPage(app, { ...first, scope: `${first.scope} profile articles:write` }, browser),
    );
    for (const one of [
      user.account.email ?? '',
      'Ann Example',
      'hr',
      'Phone',
      'groups',
      'articles:read · articles:write',
    ])
      expect(second).toContain(one);
    const third = listed(await consentPage(app, { ...first, prompt: 'consent' }, browser));
    for (const one of [user.account.email ?? '', 'hr', 'Phone', 'groups', 'articles:read'])
      expect(third).toContain(one);
  });

  it('is never empty: a user who may have nothing of the request is an error for the application', async () => {
    const scope = 'openid articles:read articles:write';
    for (const more of [{}, { application_type: 'native' as const }]) {
      const app = await asking(scope, { resources: [`${api}/tied`], ...more });
      const request = { scope: 'articles:read', resource: `${api}/tied`, prompt: 'consent' };
      const page = await consentPage(app, request);
      expect(new URL(page.location ?? expect.fail(textOf(page.text))).searchParams.get('error')).toBe('access_denied');
    }
  });
});
