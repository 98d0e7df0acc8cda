// Authorization codes: exchanged once, for the client, redirect URI and verifier of the request (RFC 6749 4.1.3, RFC 7636 4.6).
import { beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let browser: HttpClient;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp, { redirect_uris: [redirectUri, 'http://127.0.0.1:4000/other'] });
  browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
});

const aCode = async (parameters = {}) =>
  (await outcome(browser, authorizeUrl(idp, app.clientId, { scope: 'openid offline_access', ...parameters }))).get(
    'code',
  ) ?? '';
const redeem = (code: string, changes: Record<string, string> = {}, application = app) =>
  postAs(idp, application, '/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...changes,
  });
const works = async (accessToken: string) =>
  (await httpClient(idp.issuer).get('/userinfo', { headers: { authorization: `Bearer ${accessToken}` } })).status ===
  200;

describe('an authorization code', () => {
  it('is exchanged for tokens once, and revokes them when it is used again', async () => {
    const code = await aCode();
    const first = await redeem(code);
    const tokens = first.json<Record<string, string>>();
    expect(first.headers['cache-control']).toContain('no-store');
    expect(await works(tokens.access_token ?? '')).toBe(true);
    const again = await redeem(code);
    expect([again.status, again.json().error]).toEqual([400, 'invalid_grant']);
    expect(await works(tokens.access_token ?? '')).toBe(false);
    const refreshed = await postAs(idp, app, '/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
    });
    expect(refreshed.status).toBe(400);
  });

  it('is exchanged once when it is redeemed ten times at the same moment, and its tokens are revoked', async () => {
    const code = await aCode();
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(code)));
    const successes = answers.filter(({ status }) => status === 200);
    expect(successes).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9);
    expect(await works(successes[0]?.json<{ access_token: string }>().access_token ?? '')).toBe(false);
  });

  it.each<[string, Record<string, string>]>([
    ['another registered address', { redirect_uri: 'http://127.0.0.1:4000/other' }],
    ['another address', { redirect_uri: 'https://attacker.example/' }],
    ['no address', { redirect_uri: '' }],
    ['another verifier', { code_verifier: 'w'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['a verifier that is too short', { code_verifier: 'v' }],
  ])('is rejected with %s', async (_what, changes) => {
    const code = await aCode();
    const answer = await redeem(code, changes);
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatch(/^invalid_(grant|request)$/);
  });

  it('is rejected for another client, and stays valid for its own', async () => {
    const code = await aCode();
    const other = await anApplication(idp);
    expect((await redeem(code, {}, other)).json().error).toBe('invalid_grant');
    expect((await redeem(code)).status).toBe(200);
  });

  it('expires after a minute', async () => {
    const code = await aCode();
    const { db } = idp.services;
    const row = await db.oidcArtifact.findFirstOrThrow({
      where: { model: 'AuthorizationCode' },
      orderBy: { expiresAt: 'desc' },
    });
    const { iat, exp } = JSON.parse(row.payload) as { iat: number; exp: number };
    expect(exp - iat).toBe(60);
    const expired = JSON.stringify({ ...JSON.parse(row.payload), exp: iat - 1 });
    await db.oidcArtifact.updateMany({ where: { model: 'AuthorizationCode' }, data: { payload: expired, mac: '' } });
    await signRows(idp.services);
    expect((await redeem(code)).json().error).toBe('invalid_grant');
  });

  it.each(['', 'abc', `#${'a'.repeat(43)}`, '\0', 'a'.repeat(50_000), '../..'])(
    'is rejected when it was never issued (%#)',
    async (code) => {
      expect((await redeem(code)).status).toBe(400);
    },
  );

  it('gives no tokens for an account that was disabled meanwhile', async () => {
    const gone = await aUser(idp.services);
    const theirs = httpClient(idp.issuer);
    await signIn(theirs, app, gone);
    const code = (await outcome(theirs, authorizeUrl(idp, app.clientId))).get('code') ?? '';
    await idp.services.accounts.setActive(gone.account.id, false);
    expect((await redeem(code)).json().error).toBe('invalid_grant');
  });
});

describe('the token endpoint', () => {
  it.each([
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'none',
    '',
    'client_credentials',
    '__proto__',
    'constructor',
  ])('rejects the grant %s for this client', async (grant) => {
    const answer = await postAs(idp, app, '/token', {
      grant_type: grant,
      username: user.username,
      password: user.password,
    });
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatch(/^(unsupported_grant_type|invalid_request|unauthorized_client)$/);
  });
});
