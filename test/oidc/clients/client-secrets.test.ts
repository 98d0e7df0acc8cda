// Client secrets over time: two at once during a rotation, an end date, and a disabled application.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relyingParty } from '../../support/applications/rp.ts';
import { testClock } from '../../support/clock.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, authorizeUrl, basic, type ClientInput, postAs, signIn } from '../support.ts';

const clock = testClock();
let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  user = await aUser(idp.services);
});
afterAll(() => idp?.stop());

const machine = (input: ClientInput = {}) =>
  anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'], ...input });
const withSecret = async ({ clientId }: Application, secret: string) =>
  (
    await httpClient(idp.issuer).post('/token', {
      form: { grant_type: 'client_credentials' },
      headers: { authorization: basic(clientId, secret) },
    })
  ).status;

describe('a disabled application', () => {
  it('is rejected everywhere and loses its tokens for good; enabled again, it needs a new sign-in', async () => {
    const app = await anApplication(idp, {
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    const judge = await machine();
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    await idp.services.applications.setEnabled(app.applicationId, false);

    const page = await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.text).toContain('is disabled');
    const posts: [string, Record<string, string>][] = [
      ['/token', { grant_type: 'client_credentials' }],
      ['/token', refresh],
      ['/introspect', { token: tokens.access_token }],
      ['/revoke', { token: tokens.access_token }],
      ['/par', { response_type: 'code' }],
      ['/device/code', { scope: 'openid' }],
    ];
    for (const [path, form] of posts) {
      const answer = await postAs(idp, app, path, form);
      expect({ status: answer.status, error: answer.json().error }, path).toEqual({
        status: 401,
        error: 'invalid_client',
      });
    }
    const userinfo = await browser.get('/userinfo', { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(userinfo.status).toBe(401);
    expect((await browser.get(`/end-session?id_token_hint=${tokens.id_token}`)).status).toBe(400);
    // Another application learns nothing either, and asking does not fail.
    for (const token of [tokens.access_token, tokens.refresh_token ?? '']) {
      const answer = await postAs(idp, judge, '/introspect', { token });
      expect([answer.status, answer.json()]).toEqual([200, { active: false }]);
    }

    await idp.services.applications.setEnabled(app.applicationId, true);
    const again = await postAs(idp, app, '/token', refresh);
    expect([again.status, again.json().error]).toEqual([400, 'invalid_grant']);
    expect((await signIn(browser, app, user)).tokens.access_token).toBeTruthy();
  });
});

// Last, because the clock of the engine does not go with this one.
describe('a client secret', () => {
  it('stays valid beside a new one, until its end', async () => {
    const app = await machine();
    const added = await idp.services.applications.addSecret(app.applicationId, { replace: 3600 });
    expect(await withSecret(app, app.clientSecret)).toBe(200);
    expect(await withSecret(app, added.value)).toBe(200);
    clock.advance({ hours: 2 });
    expect(await withSecret(app, app.clientSecret)).toBe(401);
    expect(await withSecret(app, added.value)).toBe(200);
  });

  it('is rejected from the moment it is removed', async () => {
    const app = await machine();
    const added = await idp.services.applications.addSecret(app.applicationId);
    await idp.services.applications.removeSecret(app.applicationId, added.id);
    expect(await withSecret(app, added.value)).toBe(401);
    expect(await withSecret(app, app.clientSecret)).toBe(200);
  });

  it('stays valid beside a new one when it is used for an HMAC', async () => {
    const app = await machine({ token_endpoint_auth_method: 'client_secret_jwt' });
    const use = async (secret: string) => {
      const rp = await relyingParty({
        issuer: idp.issuer,
        clientId: app.clientId,
        clientAuth: oidc.ClientSecretJwt(secret),
        redirectUri: app.redirectUri,
      });
      return oidc.clientCredentialsGrant(rp.config);
    };
    expect((await use(app.clientSecret)).access_token).toBeTruthy();
    const added = await idp.services.applications.addSecret(app.applicationId, { replace: 3600 });
    expect((await use(app.clientSecret)).access_token).toBeTruthy();
    expect((await use(added.value)).access_token).toBeTruthy();
    clock.advance({ hours: 2 });
    await expect(use(app.clientSecret)).rejects.toMatchObject({ error: 'invalid_client' });
    expect((await use(added.value)).access_token).toBeTruthy();
  });
});
