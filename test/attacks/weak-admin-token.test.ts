// A user token of the admin API states the sign-in that it came from. No way of getting or renewing one raises its acr or makes
// its sign-in newer.
import * as oidc from 'openid-client';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { PASSWORD_ACR } from '../../src/people/mfa/acr.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { aTool, caller } from '../admin/support.ts';
import { type Application, authorizeUrl, completeSignIn, outcome, postAs } from '../oidc/support.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const SCOPE = 'openid offline_access admin:*';

let idp: TestIdp;
let app: Application;
let user: TestUser;
let browser: HttpClient;
let resource: string;

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  resource = adminApi(idp.issuer);
  const grant_types = ['authorization_code', 'refresh_token', DEVICE] as const;
  app = await aTool(idp, { scope: SCOPE, grant_types: [...grant_types], consent: 'implicit' });
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  user = await aUser(idp.services);
  await idp.services.roles.assign(user.account.id, 'admin');
  browser = httpClient(idp.issuer);
});

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** Tokens of a sign-in with the password, or of the session of this browser. */
async function tokensOf(parameters: Record<string, string> = {}): Promise<Tokens> {
  const started = await app.rp.start({ scope: SCOPE, resource, ...parameters });
  const page = await completeSignIn(browser, started.url, { user });
  const callback = new URL(page.location ?? page.url);
  const tokens = await oidc.authorizationCodeGrant(app.rp.config, callback, started.checks, { resource });
  return { access_token: tokens.access_token, refresh_token: tokens.refresh_token ?? '' };
}
const token = (form: Record<string, string>) => postAs(idp, app, '/token', { resource, ...form });
const refreshed = async ({ refresh_token }: Tokens) =>
  (await token({ grant_type: 'refresh_token', refresh_token })).json<Tokens>();

/** The account gets a second factor; the sessions and tokens from before stay. */
const withFactor = () => idp.services.mfa.totp.importSecret(user.account.id, SECRET);
async function stepUp(): Promise<void> {
  const question = await browser.follow(await browser.get('/login?acr_values=urn:gatehouse:acr:mfa'));
  await browser.follow(await browser.submit(question, { code: generateSync({ secret: SECRET }) }));
}
const call = (value: string, method = 'GET', path = '/me') => caller(idp, value, app, user).send(method, path);
const isChallenge = ({ status, headers }: Page) =>
  status === 401 && String(headers['www-authenticate']).includes('insufficient_user_authentication');
const introspected = async (value: string) => (await postAs(idp, app, '/introspect', { token: value })).json();

describe('a user token below the acr that the admin API requires', () => {
  it('stays weak when it is refreshed, with offline access, and after a step-up in its session', async () => {
    const weak = await tokensOf();
    expect((await call(weak.access_token)).status).toBe(200);
    await withFactor();
    expect(isChallenge(await call(weak.access_token))).toBe(true);
    const first = await refreshed(weak);
    expect(isChallenge(await call(first.access_token))).toBe(true);
    await stepUp();
    const second = await refreshed(first);
    expect(isChallenge(await call(second.access_token))).toBe(true);
    expect(await introspected(second.access_token)).toMatchObject({ active: true, acr: PASSWORD_ACR });
    await idp.services.endSession.one(
      (await idp.services.sessions.list(user.account.id))[0]?.uid ?? '',
      'signed-out',
      {},
    );
    expect(isChallenge(await call((await refreshed(second)).access_token))).toBe(true);
  });

  it('is not raised by parameters of the token endpoint, other grants or wider scopes', async () => {
    const weak = await tokensOf();
    await withFactor();
    const raised = {
      acr_values: 'urn:gatehouse:acr:mfa',
      acr: 'urn:gatehouse:acr:mfa',
      amr: 'mfa',
      auth_time: '9999999999',
    };
    const again = (
      await token({ grant_type: 'refresh_token', refresh_token: weak.refresh_token, ...raised })
    ).json<Tokens>();
    expect(isChallenge(await call(again.access_token))).toBe(true);
    const exchange = {
      subject_token: again.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    const grants: Record<string, string>[] = [
      { grant_type: EXCHANGE, ...exchange },
      { grant_type: 'password', username: user.username, password: user.password },
      { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: again.access_token },
      { grant_type: 'client_credentials', scope: 'admin:*' },
    ];
    for (const form of grants) {
      const page = await token(form);
      expect({ status: page.status, accessToken: page.json().access_token }, form.grant_type).toEqual({
        status: 400,
        accessToken: undefined,
      });
    }
  });

  it('is all that a session with the password alone gives, silently, by claims, or to a device', async () => {
    await tokensOf();
    await withFactor();
    const silent = { prompt: 'none', resource, scope: 'openid admin:*' };
    const stronger: Record<string, string>[] = [
      { acr_values: 'urn:gatehouse:acr:mfa' },
      { claims: JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:gatehouse:acr:mfa' } } }) },
    ];
    for (const parameters of stronger) {
      const url = authorizeUrl(idp, app.clientId, { ...silent, ...parameters });
      expect((await outcome(browser, url)).get('error')).toBe('login_required');
    }
    const plain = await tokensOf({ claims: JSON.stringify({ id_token: { acr: null, amr: { value: 'mfa' } } }) });
    expect(isChallenge(await call(plain.access_token))).toBe(true);

    const started = (await postAs(idp, app, '/device/code', { scope: 'openid admin:*', resource })).json<
      Record<string, string>
    >();
    let page = await browser.follow(await browser.get(started.verification_uri_complete ?? ''));
    for (let pages = 0; pages < 4 && page.forms[0]; pages += 1) page = await browser.follow(await browser.submit(page));
    const polled = await token({ grant_type: DEVICE, device_code: started.device_code ?? '' });
    expect(isChallenge(await call(polled.json<Tokens>().access_token))).toBe(true);
  });

  it('stays weak under the settings from before when admin_mfa is required later', async () => {
    const weak = await tokensOf();
    await idp.services.settings.set('admin_mfa', 'required');
    await idp.services.settings.reload();
    expect(isChallenge(await call(weak.access_token))).toBe(true);
    expect(isChallenge(await call((await refreshed(weak)).access_token))).toBe(true);
    await idp.services.settings.set('admin_mfa', 'optional');
    await idp.services.settings.reload();
  });
});

describe('a strong token whose sign-in was long ago', () => {
  it('is not made newer by a refresh: sensitive changes stay challenged', async () => {
    await tokensOf();
    await withFactor();
    await stepUp();
    const strong = await tokensOf();
    const { account } = await aUser(idp.services);
    const { db } = idp.services;
    for (const { id, payload } of await db.oidcArtifact.findMany({
      where: { model: 'RefreshToken', accountId: user.account.id },
    })) {
      const stored = JSON.parse(payload) as { authTime: number };
      stored.authTime -= limits.recentAuthentication.seconds + 60;
      await db.oidcArtifact.update({ where: { id }, data: { payload: JSON.stringify(stored), mac: '' } });
      await signRows(idp.services);
    }
    const again = await refreshed(strong);
    expect((await call(again.access_token)).status).toBe(200);
    expect(isChallenge(await call(again.access_token, 'POST', `/users/${account.id}/disable`))).toBe(true);
    expect((await call(strong.access_token, 'POST', `/users/${account.id}/disable`)).status).toBe(200);
  });
});
