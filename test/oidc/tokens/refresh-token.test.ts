// Refresh tokens: offline_access issues one, each is used once, and a second use revokes the grant (OIDC Core 11 and 12,
// RFC 9700 4.14).
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, completeSignIn, postAs, signIn } from '../support.ts';

const offline = { scope: 'openid profile offline_access' };
let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

const connect = async (application = app) => (await signIn(httpClient(idp.issuer), application, user, offline)).tokens;
const redeem = (token: string | undefined, application = app, more: Record<string, string> = {}) =>
  postAs(idp, application, '/token', { grant_type: 'refresh_token', refresh_token: token ?? '', ...more });
const works = async (accessToken: string) =>
  (await httpClient(idp.issuer).get('/userinfo', { headers: { authorization: `Bearer ${accessToken}` } })).status ===
  200;

describe('a refresh token', () => {
  it('is issued for offline_access without a prompt, and for nothing else', async () => {
    expect((await connect()).refresh_token).toBeTruthy();
    expect((await signIn(httpClient(idp.issuer), app, user)).tokens.refresh_token).toBeUndefined();
  });

  it('is not issued to an application without the grant', async () => {
    const other = await anApplication(idp, { grant_types: ['authorization_code'] });
    expect((await connect(other)).refresh_token).toBeUndefined();
  });

  it('is issued for a request that was pushed, signed, or both', async () => {
    const pair = await jose.generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await jose.exportJWK(pair.publicKey)), kty: 'EC' as const, alg: 'ES256' };
    const signing = await anApplication(idp, { jwks: { keys: [jwk] }, request_object_signing_alg: 'ES256' });
    const started = await signing.rp.start(offline);
    const parameters = Object.fromEntries(new URL(started.url).searchParams);
    const request = await new jose.SignJWT({ ...parameters, iss: signing.clientId, aud: idp.issuer })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('1m')
      .sign(pair.privateKey);
    const byValue = { client_id: signing.clientId, request };
    const ways: Record<string, string>[] = [byValue];
    for (const form of [parameters, byValue]) {
      const target = form === parameters ? app : signing;
      const pushed = await postAs(idp, target, '/par', { ...form, client_id: target.clientId });
      ways.push({ client_id: target.clientId, request_uri: String(pushed.json().request_uri) });
    }
    for (const way of ways) {
      const target = way.client_id === app.clientId ? app : signing;
      const url = `${idp.issuer}/authorize?${new URLSearchParams(way)}`;
      const page = await completeSignIn(httpClient(idp.issuer), url, { user });
      const tokens = await target.rp.finish(page.location ?? '', started);
      expect([Object.keys(way), Boolean(tokens.refresh_token)]).toEqual([Object.keys(way), true]);
    }
  });

  it('is exchanged for new tokens and replaced', async () => {
    const before = await connect();
    const after = await app.rp.refresh(before.refresh_token ?? '');
    expect(after.refresh_token).toBeTruthy();
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect(after.claims()).toMatchObject({ sub: user.account.id, auth_time: before.claims()?.auth_time });
    expect(await works(after.access_token)).toBe(true);
  });

  it('revokes all tokens of its grant when it is used a second time', async () => {
    const first = await connect();
    const second = await app.rp.refresh(first.refresh_token ?? '');
    const reused = await redeem(first.refresh_token);
    expect([reused.status, reused.json().error]).toEqual([400, 'invalid_grant']);
    expect((await redeem(second.refresh_token)).status).toBe(400);
    expect(await works(second.access_token)).toBe(false);
    expect(await works(first.access_token)).toBe(false);
  });

  it('is exchanged once when it is used ten times at the same moment, and its tokens are revoked', async () => {
    const { refresh_token: token } = await connect();
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(token)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9);
    const { access_token: access, refresh_token: next } = won[0]?.json<Record<string, string>>() ?? {};
    expect(await works(access ?? '')).toBe(false);
    expect((await redeem(next)).status).toBe(400);
  });

  it('is rejected for another application, or without the secret', async () => {
    const { refresh_token: token } = await connect();
    const other = await anApplication(idp);
    expect((await redeem(token, other)).json().error).toBe('invalid_grant');
    expect((await redeem(token, { ...app, clientSecret: 'wrong' })).status).toBe(401);
    expect((await redeem(token)).status).toBe(200);
  });

  it('gives fewer scopes on request, never more', async () => {
    const { refresh_token: token } = await connect();
    const more = await redeem(token, app, { scope: 'openid profile email' });
    expect([more.status, more.json().error]).toEqual([400, 'invalid_scope']);
    const fewer = await oidc.refreshTokenGrant(app.rp.config, token ?? '', { scope: 'openid' });
    expect(fewer.scope).toBe('openid');
  });

  it('does not outlive the first one’s lifetime for a public client', async () => {
    const browserApp = await anApplication(idp, { token_endpoint_auth_method: 'none' });
    const before = await connect(browserApp);
    const expiry = async () =>
      Number(
        (
          await idp.services.db.oidcArtifact.findFirstOrThrow({
            where: { model: 'RefreshToken', clientId: browserApp.clientId, consumedAt: null },
          })
        ).expiresAt,
      );
    const first = await expiry();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await browserApp.rp.refresh(before.refresh_token ?? '')).refresh_token).toBeTruthy();
    expect(await expiry()).toBeLessThanOrEqual(first);
  });

  it.each(['', 'abc', '#abc', '\0', 'a'.repeat(10_000)])('is rejected when it was never issued (%#)', async (token) => {
    const answer = await redeem(token);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toContain('application/json');
  });
});
