// Which claims an application receives, by scope, in ID token and userinfo (OIDC Core 5.3 and 5.4).
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services, {
    name: 'Zoë “Z” O’Neil <b>',
    givenName: 'Zoë',
    familyName: 'O’Neil',
    locale: 'de-DE',
    zoneinfo: 'Europe/Berlin',
    phoneNumber: '+4915112345678',
  });
  await idp.services.roles.create({ name: 'editor' });
  await idp.services.roles.assign(user.account.id, 'editor');
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

const protocol = ['iss', 'aud', 'iat', 'exp', 'nonce', 'at_hash', 'sid', 'sub', 'acr', 'amr', 'auth_time'];
const about = (claims: object | undefined) =>
  Object.fromEntries(Object.entries(claims ?? {}).filter(([name]) => !protocol.includes(name)));

describe('claims', () => {
  it('have the subject that the account had in another system, also with a bar in it', async () => {
    const id = 'auth0|5f7c8ec7c33c6c004bbafe82';
    const moved = await aUser(idp.services, { id });
    const { tokens } = await signIn(httpClient(idp.issuer), app, moved, { scope: 'openid' });
    expect(tokens.claims()).toMatchObject({ sub: id });
    expect(await app.rp.userinfo(tokens)).toMatchObject({ sub: id });
  });

  it.each<[string, Record<string, unknown>]>([
    ['openid', {}],
    ['openid email', { email: expect.stringContaining('@'), email_verified: true }],
    ['openid phone', { phone_number: '+4915112345678', phone_number_verified: false }],
    ['openid roles', { roles: ['editor'] }],
    [
      'openid profile',
      {
        name: 'Zoë “Z” O’Neil <b>',
        given_name: 'Zoë',
        family_name: 'O’Neil',
        preferred_username: expect.any(String),
        locale: 'de-DE',
        zoneinfo: 'Europe/Berlin',
        updated_at: expect.any(Number),
      },
    ],
    ['openid address nonsense', {}],
  ])('are in the ID token and in userinfo by the scope "%s", and no others', async (scope, expected) => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope });
    expect(about(tokens.claims())).toEqual(expected);
    const info = await app.rp.userinfo(tokens);
    expect(info.sub).toBe(user.account.id);
    expect(about(info)).toEqual(expected);
  });

  it('may be requested one by one, for the ID token or for userinfo', async () => {
    const claims = JSON.stringify({
      id_token: { email: null },
      userinfo: { given_name: { essential: true }, nonsense: null },
    });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid', claims });
    expect(about(tokens.claims())).toEqual({ email: user.account.email });
    expect(about(await app.rp.userinfo(tokens))).toEqual({ given_name: 'Zoë' });
  });

  it('follow a change of the account at once, and sub stays', async () => {
    const other = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const first = (await signIn(browser, app, other)).tokens;
    await idp.services.accounts.update(other.account.id, { username: 'new.name', email: 'new@example.com' });
    const info = await app.rp.userinfo(first);
    expect(info).toMatchObject({
      sub: other.account.id,
      preferred_username: 'new.name',
      email: 'new@example.com',
      email_verified: false,
    });
    expect((await signIn(browser, app, other)).tokens.claims()?.sub).toBe(other.account.id);
  });

  it('are signed for an application that registers it', async () => {
    const signed = await anApplication(idp, { userinfo_signed_response_alg: 'ES256' });
    const { tokens } = await signIn(httpClient(idp.issuer), signed, user);
    const page = await httpClient(idp.issuer).get('/userinfo', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(page.headers['content-type']).toContain('application/jwt');
    const keys = jose.createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
    const { payload } = await jose.jwtVerify(page.text, keys, { issuer: idp.issuer, audience: signed.clientId });
    expect(payload).toMatchObject({ sub: user.account.id, email: user.account.email });
  });
});

describe('userinfo', () => {
  const ask = (
    method: string,
    options: { authorization?: string; form?: Record<string, string>; query?: string } = {},
  ) =>
    httpClient(idp.issuer).request(method, `/userinfo${options.query ?? ''}`, {
      headers: { accept: 'text/html', ...(options.authorization && { authorization: options.authorization }) },
      ...(options.form && { form: options.form }),
    });

  it('answers GET and POST, with the token in the header or in a form', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    const authorization = `Bearer ${tokens.access_token}`;
    for (const answer of [
      await ask('GET', { authorization }),
      await ask('POST', { authorization }),
      await ask('POST', { form: { access_token: tokens.access_token } }),
      await ask('GET', { authorization: `bearer ${tokens.access_token}` }),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toContain('no-store');
      expect(answer.json()).toMatchObject({ sub: user.account.id });
    }
  });

  it('answers errors in WWW-Authenticate and as JSON, whatever the Accept header is', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    const wrong = await ask('GET', { authorization: 'Bearer wrong' });
    expect([wrong.status, wrong.json().error]).toEqual([401, 'invalid_token']);
    expect(wrong.headers['www-authenticate']).toMatch(/^Bearer realm=.*error="invalid_token"/);
    const none = await ask('GET');
    expect(none.status).toBe(401);
    expect(none.headers['www-authenticate']).toMatch(/^Bearer/);
    const rejected = [
      await ask('GET', { query: `?access_token=${tokens.access_token}` }),
      await ask('POST', {
        authorization: `Bearer ${tokens.access_token}`,
        form: { access_token: tokens.access_token },
      }),
      await ask('GET', { authorization: tokens.access_token }),
      await ask('GET', { authorization: `Basic ${tokens.access_token}` }),
      await ask('GET', { authorization: `Bearer ${tokens.id_token}` }),
      await ask('GET', { authorization: `Bearer ${'a'.repeat(5000)}` }),
    ];
    for (const answer of rejected) {
      expect([400, 401]).toContain(answer.status);
      expect(answer.headers['content-type']).toContain('application/json');
    }
  });

  it('rejects a token from the second it expires', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, user);
    const { db } = idp.services;
    for (const row of await db.oidcArtifact.findMany({ where: { model: 'AccessToken' } })) {
      const payload = { ...JSON.parse(row.payload), exp: Math.floor(Date.now() / 1000) };
      await db.oidcArtifact.update({ where: { id: row.id }, data: { payload: JSON.stringify(payload), mac: '' } });
    }
    await signRows(idp.services);
    const answer = await ask('GET', { authorization: `Bearer ${tokens.access_token}` });
    expect([answer.status, answer.json().error]).toEqual([401, 'invalid_token']);
  });

  it('rejects a client_credentials token', async () => {
    const machine = await anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'] });
    const { access_token: token } = await oidc.clientCredentialsGrant(machine.rp.config);
    expect((await ask('GET', { authorization: `Bearer ${token}` })).status).toBe(401);
  });
});
