// Scopes of APIs: closed until the registration of the client names them; a scope that is tied to a permission is only for users
// who have it.
import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  forApi,
  outcome,
  postAs,
  signIn,
} from '../support.ts';

const api = 'https://api-scopes.example.com';
const openApi = 'https://open-api.example.com';
const machine = { redirect_uris: [], grant_types: ['client_credentials' as const] };
const wanted = { scope: 'openid offline_access scoped:read scoped:write', resource: api };
let idp: TestIdp;
let writer: TestUser;
let reader: TestUser;

beforeAll(async () => {
  idp = await sharedIdp();
  const { db, roles } = idp.services;
  const scopes = JSON.stringify(['scoped:read', 'scoped:write']);
  const scopePermissions = JSON.stringify({ 'scoped:write': 'scoped-articles:write' });
  await db.asStored.resource.createMany({
    data: [
      { identifier: openApi, scopes },
      { identifier: api, scopes, scopePermissions },
    ],
  });
  await signRows(idp.services);
  await roles.create({ name: 'scoped-writer', permissions: ['scoped-articles:write'] });
  writer = await aUser(idp.services);
  reader = await aUser(idp.services);
  await roles.setRoles(writer.account.id, ['scoped-writer']);
});

/** The scopes of a new access token for the API, by the refresh token of a sign-in. */
async function refreshedScope(app: Application, refreshToken: string): Promise<{ scope: unknown; next: string }> {
  const tokens = await app.rp.refresh(refreshToken, { resource: api });
  return { scope: decodeJwt(tokens.access_token).scope, next: tokens.refresh_token ?? '' };
}

async function tokensFor(app: Application, user: TestUser) {
  const browser = httpClient(idp.issuer);
  const started = await app.rp.start(wanted);
  const page = await completeSignIn(browser, started.url, { user });
  const tokens = await oidc.authorizationCodeGrant(app.rp.config, new URL(page.location ?? ''), started.checks, {
    resource: api,
  });
  return { browser, tokens, scope: decodeJwt(tokens.access_token).scope, refreshToken: tokens.refresh_token ?? '' };
}

describe('a client', () => {
  it.each([
    ['neither', {}],
    ['only scopes', { scope: 'openid scoped:read' }],
    ['another API', { resources: ['https://elsewhere.example'], scope: 'openid scoped:read' }],
    ['no API', { resources: [], scope: 'openid scoped:read' }],
  ])('gets no token for an API when its registration names %s', async (_what, registered) => {
    const app = await anApplication(idp, registered);
    const parameters = { resource: openApi, scope: 'openid scoped:read' };
    const page = await outcome(httpClient(idp.issuer), authorizeUrl(idp, app.clientId, parameters));
    expect(page.get('error')).toBe('invalid_target');
    const worker = await anApplication(idp, { ...machine, ...registered });
    const form = { grant_type: 'client_credentials', resource: openApi, scope: 'scoped:read' };
    const answer = await postAs(idp, worker, '/token', form);
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_target']);
  });

  it('gets only those scopes of an API that its registration names too', async () => {
    const scopeOf = async (registered: { resources: string[]; scope?: string }) => {
      const worker = await anApplication(idp, { ...machine, ...registered });
      const scope = 'scoped:read scoped:write';
      const tokens = await oidc.clientCredentialsGrant(worker.rp.config, { resource: openApi, scope });
      return decodeJwt(tokens.access_token).scope;
    };
    expect(await scopeOf({ resources: [openApi] })).toBeUndefined();
    expect(await scopeOf({ resources: [openApi], scope: 'openid profile' })).toBeUndefined();
    expect(await scopeOf({ resources: [openApi], scope: 'scoped:read' })).toBe('scoped:read');
    expect(await scopeOf(forApi(openApi, 'scoped:read', 'scoped:write'))).toBe('scoped:read scoped:write');
  });
});

describe('a scope that is tied to a permission', () => {
  it('is only for users who have the permission', async () => {
    const app = await anApplication(idp, forApi(api, 'scoped:read', 'scoped:write'));
    expect((await tokensFor(app, writer)).scope).toBe('scoped:read scoped:write');
    expect((await tokensFor(app, reader)).scope).toBe('scoped:read');
  });

  it('is not on the consent page of another user', async () => {
    const app = await anApplication(idp, { consent: 'explicit', ...forApi(api, 'scoped:read', 'scoped:write') });
    for (const [user, isOffered] of [[writer, true] as const, [reader, false] as const]) {
      const browser = httpClient(idp.issuer);
      const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, wanted)));
      const page = await browser.follow(
        await browser.submit(form, { username: user.username, password: user.password }),
      );
      expect(textOf(page.text)).toContain('scoped:read');
      expect(textOf(page.text).includes('scoped:write')).toBe(isOffered);
    }
  });

  it('is lost at the next refresh after the permission, and is back after it returns', async () => {
    const app = await anApplication(idp, forApi(api, 'scoped:read', 'scoped:write'));
    const { refreshToken } = await tokensFor(app, writer);
    const { roles } = idp.services;
    const before = await refreshedScope(app, refreshToken);
    await roles.setRoles(writer.account.id, []);
    const without = await refreshedScope(app, before.next);
    await roles.setRoles(writer.account.id, ['scoped-writer']);
    const after = await refreshedScope(app, without.next);
    expect([before.scope, without.scope, after.scope]).toEqual([
      'scoped:read scoped:write',
      'scoped:read',
      'scoped:read scoped:write',
    ]);
  });

  it('is not granted through the session of another user in the same browser', async () => {
    const app = await anApplication(idp, forApi(api, 'scoped:read', 'scoped:write'));
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, writer, wanted);
    const started = await app.rp.start({ ...wanted, prompt: 'login' });
    const page = await completeSignIn(browser, started.url, { user: reader });
    const code = new URL(page.location ?? '');
    const tokens = await oidc.authorizationCodeGrant(app.rp.config, code, started.checks, { resource: api });
    expect(tokens.claims()?.sub).toBe(reader.account.id);
    expect(decodeJwt(tokens.access_token).scope).toBe('scoped:read');
  });

  it('is not for a client that acts for itself', async () => {
    const worker = await anApplication(idp, { ...machine, ...forApi(api, 'scoped:read', 'scoped:write') });
    const scope = 'scoped:read scoped:write';
    const tokens = await oidc.clientCredentialsGrant(worker.rp.config, { resource: api, scope });
    expect(decodeJwt(tokens.access_token).scope).toBe('scoped:read');
  });
});
