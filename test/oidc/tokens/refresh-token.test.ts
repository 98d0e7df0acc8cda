// Refresh tokens: offline_access issues one, each is used once, and a second use revokes the grant (OIDC Core 11 and 12,
// RFC 9700 4.14).
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { DatabaseUnavailable } from '../../../src/base/storage/unavailable.ts';
import { artifactId, createArtifactAdapter } from '../../../src/protocols/oidc/store/adapter.ts';
import { testClock } from '../../support/clock.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, basic, completeSignIn, postAs, signIn } from '../support.ts';

const offline = { scope: 'openid profile offline_access' };
let idp: TestIdp;
let user: TestUser;
let app: Application;
const clock = testClock();

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
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
      expect(tokens.refresh_token, Object.keys(way).join()).toBeTruthy();
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

  it('revokes all tokens of its grant when it is used again after its successor was used', async () => {
    const first = await connect();
    const second = await app.rp.refresh(first.refresh_token ?? '');
    const third = await app.rp.refresh(second.refresh_token ?? '');
    const reused = await redeem(first.refresh_token);
    expect([reused.status, reused.json().error]).toEqual([400, 'invalid_grant']);
    expect((await redeem(third.refresh_token)).status).toBe(400);
    for (const { access_token } of [first, second, third]) expect(await works(access_token)).toBe(false);
  });

  it('revokes all tokens of its grant when it is used again after the time for a retry', async () => {
    const first = await connect();
    const second = await app.rp.refresh(first.refresh_token ?? '');
    clock.advance({ seconds: limits.refreshToken.defaultRetrySeconds });
    expect((await redeem(first.refresh_token)).json().error).toBe('invalid_grant');
    expect((await redeem(second.refresh_token)).status).toBe(400);
    expect(await works(second.access_token)).toBe(false);
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

  it('stays the same for a confidential client whose tokens are bound to its key', async () => {
    const keys = await oidc.randomDPoPKeyPair('ES256');
    const bound = await anApplication(idp, { dpop_bound_access_tokens: true });
    const options = { DPoP: oidc.getDPoPHandle(bound.rp.config, keys) };
    const started = await bound.rp.start(offline);
    const { location } = await completeSignIn(httpClient(idp.issuer), started.url, { user });
    const back = new URL(location ?? '');
    const before = await oidc.authorizationCodeGrant(bound.rp.config, back, started.checks, undefined, options);
    for (let use = 1; use <= 2; use += 1) {
      const after = await oidc.refreshTokenGrant(bound.rp.config, before.refresh_token ?? '', undefined, options);
      expect(after.refresh_token).toBe(before.refresh_token);
      expect(after.access_token).not.toBe(before.access_token);
    }
    const row = await idp.services.db.oidcArtifact.findFirstOrThrow({
      where: { model: 'RefreshToken', clientId: bound.clientId },
    });
    const days = (Number(row.expiresAt) - Date.now() / 1000) / (24 * 3600);
    expect(Math.round(days)).toBe(limits.refreshToken.defaultDays);
  });

  it.each(['', 'abc', '#abc', '\0', 'a'.repeat(10_000)])('is rejected when it was never issued (%#)', async (token) => {
    const answer = await redeem(token);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toContain('application/json');
  });
});

describe('a refresh whose answer was lost', () => {
  it('is repeated with the same token, and gets the same successor', async () => {
    const before = await connect();
    const lost = await app.rp.refresh(before.refresh_token ?? '');
    const again = await app.rp.refresh(before.refresh_token ?? '');
    expect(again.refresh_token).toBe(lost.refresh_token);
    expect(again.claims()).toMatchObject({ sub: user.account.id });
    const valid = { first: await works(lost.access_token), repeated: await works(again.access_token) };
    expect(valid).toEqual({ first: true, repeated: true });
    expect((await redeem(again.refresh_token)).status).toBe(200);
  });

  it('gets the same successor when it is sent ten times at the same moment, to two instances', async () => {
    const environment = { DATABASE_URL: String(idp.environment.DATABASE_URL) };
    const second = await startIdp({ now: clock.now, environment });
    const { refresh_token: token = '' } = await connect();
    const form = { grant_type: 'refresh_token', refresh_token: token };
    const headers = { authorization: basic(app.clientId, app.clientSecret ?? '') };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index % 2 === 0 ? redeem(token) : httpClient(second.issuer).post('/token', { form, headers }),
      ),
    );
    await second.stop();
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const successors = new Set(answers.map((answer) => answer.json().refresh_token));
    expect(successors.size).toBe(1);
    const [successor] = successors;
    expect(successor).not.toBe(token);
    expect((await redeem(String(successor))).status).toBe(200);
    expect((await redeem(token)).status).toBe(400);
  });

  it('is rejected from another client, and does not make the used token active', async () => {
    const { refresh_token: token = '' } = await connect();
    const { refresh_token: successor } = await app.rp.refresh(token);
    const other = await anApplication(idp);
    expect((await redeem(token, other)).json().error).toBe('invalid_grant');
    const introspected = await postAs(idp, app, '/introspect', { token });
    expect(introspected.json()).toEqual({ active: false });
    expect((await redeem(successor)).status).toBe(200);
  });

  it('is not possible where the setting allows none', async () => {
    const { settings } = idp.services;
    await settings.set('refresh_token_retry_seconds', 0);
    await settings.reload();
    const { refresh_token: token = '' } = await connect();
    const { refresh_token: successor } = await app.rp.refresh(token);
    expect((await redeem(token)).json().error).toBe('invalid_grant');
    expect((await redeem(successor)).status).toBe(400);
    await settings.unset('refresh_token_retry_seconds');
    await settings.reload();
  });

  it('is possible again when it failed after its successor was stored, counted from the answer', async () => {
    const { refresh_token: token = '' } = await connect();
    const { sql } = idp.services;
    const later = sql.later.bind(sql);
    const failing = vi.spyOn(sql, 'later').mockImplementation((statement, values, onFailure) => {
      if (values[1] !== 'AccessToken') return later(statement, values, onFailure);
      clock.advance({ seconds: 45 });
      throw new DatabaseUnavailable('busy', new Error('frozen'));
    });
    const failed = await redeem(token);
    const answered = Math.floor(clock.now().getTime() / 1000);
    expect([failed.status, failed.json().error]).toEqual([503, 'temporarily_unavailable']);
    failing.mockRestore();
    const used = async () => {
      const where = { id: artifactId('RefreshToken', token) };
      return Number((await idp.services.db.oidcArtifact.findUniqueOrThrow({ where })).consumedAt);
    };
    // Stored before the answer: the client may try again at once, at another instance.
    const consumedAt = await used();
    expect(consumedAt).toBeGreaterThan(answered - 45);
    expect(consumedAt).toBeLessThanOrEqual(answered);
    clock.advance({ seconds: 20 });
    const { refresh_token: successor } = (await redeem(token)).json();
    expect((await redeem(String(successor))).status).toBe(200);
    // The successor was used.
    expect((await redeem(token)).json().error).toBe('invalid_grant');
  });

  it('is possible for its time without that in which the database could not be used', async () => {
    const [{ refresh_token: token = '' }, { refresh_token: old = '' }] = [await connect(), await connect()];
    await app.rp.refresh(token);
    await app.rp.refresh(old);
    clock.advance({ seconds: 50 });
    const outage = vi.spyOn(idp.services.sql, 'lastOutage');
    const at = performance.now();
    outage.mockReturnValue({ from: at - 45_000, to: at - 30_000 });
    expect((await redeem(old)).json().error, '35 seconds without the outage').toBe('invalid_grant');
    outage.mockReturnValue({ from: at - 45_000, to: at - 5000 });
    expect((await redeem(token)).status, '10 seconds without the outage').toBe(200);
    outage.mockRestore();
  });

  // The last one: the clock of the client is the real one.
  it('gets the successor when the server was stopped before it had stored one, up to an hour later', async () => {
    const [{ refresh_token: token = '' }, { refresh_token: old = '' }] = [await connect(), await connect()];
    const { consume } = createArtifactAdapter('RefreshToken', idp.services);
    await consume(old);
    clock.advance({ minutes: 2 });
    await consume(token);
    clock.advance({ minutes: 58 });
    expect((await redeem(old)).json().error).toBe('invalid_grant');
    const { refresh_token: successor } = (await redeem(token)).json();
    expect(successor).toBeTruthy();
    // It has a successor now, and the time for a retry is over.
    expect((await redeem(token)).json().error).toBe('invalid_grant');
    expect((await redeem(String(successor))).status).toBe(400);
  });
});
