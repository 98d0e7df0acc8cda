// Introspection (RFC 7662) and revocation (RFC 7009): which clients may call them, and what is valid afterwards.
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TokenAnswer } from '../../support/applications/rp.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, forApi, postAs, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let api: Application;
let publicApp: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
  api = await anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'] });
  publicApp = await anApplication(idp, { token_endpoint_auth_method: 'none' });
});

const connect = async (application = app): Promise<TokenAnswer> =>
  (await signIn(httpClient(idp.issuer), application, user, { scope: 'openid email offline_access' })).tokens;
const ask = async (who: Application, token: string | undefined, more = {}) =>
  (
    await postAs(idp, who, '/introspect', {
      token: token ?? '',
      ...(who.clientSecret ? {} : { client_id: who.clientId }),
      ...more,
    })
  ).json();
const giveUp = (who: Application, token: string | undefined, more = {}) =>
  postAs(idp, who, '/revoke', {
    token: token ?? '',
    ...(who.clientSecret ? {} : { client_id: who.clientId }),
    ...more,
  });

describe('introspection', () => {
  it('describes a client’s own tokens', async () => {
    const { access_token: access, refresh_token: refresh } = await connect();
    expect(await ask(app, access)).toMatchObject({
      active: true,
      sub: user.account.id,
      client_id: app.clientId,
      scope: 'openid email offline_access',
      token_type: 'Bearer',
      iss: idp.issuer,
      exp: expect.any(Number),
    });
    expect(await ask(app, refresh, { token_type_hint: 'refresh_token' })).toMatchObject({
      active: true,
      client_id: app.clientId,
    });
    expect(await ask(app, access, { token_type_hint: 'nonsense' })).toMatchObject({ active: true });
  });

  it('describes an access token to the API that received it, and a refresh token to its own client only', async () => {
    const { access_token: access, refresh_token: refresh } = await connect();
    expect(await ask(api, access)).toMatchObject({ active: true, client_id: app.clientId });
    expect(await ask(api, refresh)).toEqual({ active: false });
    expect(await ask(publicApp, access)).toEqual({ active: false });
  });

  it('describes only its own tokens to a public client', async () => {
    const { access_token: access } = await connect(publicApp);
    expect(await ask(publicApp, access)).toMatchObject({ active: true });
  });

  it('describes client_credentials tokens', async () => {
    const { access_token: token } = await oidc.clientCredentialsGrant(api.rp.config);
    const answer = await ask(app, token);
    expect(answer).toMatchObject({ active: true, client_id: api.clientId });
    expect(answer).not.toHaveProperty('sub');
  });

  it('answers only "inactive" for an expired, unknown or malformed token', async () => {
    const { access_token: access, id_token: idToken } = await connect();
    const { db } = idp.services;
    const rows = await db.oidcArtifact.findMany({ where: { model: 'AccessToken', clientId: app.clientId } });
    for (const { id, payload } of rows) {
      const expired = { ...JSON.parse(payload), exp: Math.floor(Date.now() / 1000) - 1 };
      await db.oidcArtifact.update({ where: { id }, data: { payload: JSON.stringify(expired), mac: '' } });
    }
    await signRows(idp.services);
    expect(await ask(app, access)).toEqual({ active: false });
    for (const token of ['unknown', '\0', '#hash', 'a'.repeat(20_000)])
      expect(await ask(app, token)).toEqual({ active: false });
    expect(await ask(app, idToken)).toEqual({ active: false });
    expect((await postAs(idp, app, '/introspect', {})).status).toBe(400);
  });

  it('is rejected without client authentication', async () => {
    const answer = await httpClient(idp.issuer).post('/introspect', { form: { token: 'x' } });
    expect([400, 401]).toContain(answer.status);
    expect((await postAs(idp, { ...app, clientSecret: 'wrong' }, '/introspect', { token: 'x' })).status).toBe(401);
  });
});

describe('introspection of JWT access tokens', () => {
  const identifier = 'https://introspected.example';
  const otherApi = 'https://other-api.example';
  let caller: Application;
  let resourceServer: Application;
  let service: Application;

  beforeAll(async () => {
    const scopes = JSON.stringify(['orders:read']);
    await idp.services.db.asStored.resource.createMany({
      data: [
        { identifier, scopes, signingAlg: 'ES256' },
        { identifier: otherApi, scopes },
      ],
    });
    await signRows(idp.services);
    const registered = forApi([identifier, otherApi], 'orders:read');
    caller = await anApplication(idp, { ...registered, consent: 'implicit' });
    service = await anApplication(idp, { ...registered, redirect_uris: [], grant_types: ['client_credentials'] });
    resourceServer = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [identifier],
    });
  });

  const tokenFor = async (resource: string, application = caller, browser = httpClient(idp.issuer)) => {
    const parameters = { scope: 'openid offline_access orders:read', resource };
    const { tokens } = await signIn(browser, application, user, parameters);
    const refreshed = await application.rp.refresh(tokens.refresh_token ?? '', { resource });
    return { jwt: refreshed.access_token, refreshToken: refreshed.refresh_token ?? '' };
  };

  it('tells the API and the client itself that a token is active, and what it holds', async () => {
    const { jwt } = await tokenFor(identifier);
    const { jti, ...claims } = jose.decodeJwt(jwt);
    for (const who of [resourceServer, caller])
      expect(await ask(who, jwt)).toMatchObject({
        active: true,
        sub: user.account.id,
        client_id: caller.clientId,
        aud: identifier,
        scope: 'orders:read',
        token_type: 'Bearer',
        exp: claims.exp,
        iss: idp.issuer,
        acr: claims.acr,
        jti,
      });
    for (const hint of ['access_token', 'refresh_token', 'nonsense'])
      expect(await ask(resourceServer, jwt, { token_type_hint: hint }), hint).toMatchObject({ active: true });
    const named = await anApplication(idp, {
      client_id: identifier,
      redirect_uris: [],
      grant_types: ['client_credentials'],
    });
    expect(await ask(named, jwt)).toMatchObject({ active: true, aud: identifier });
  });

  it('describes a token that a client got for itself', async () => {
    const { access_token: jwt } = await oidc.clientCredentialsGrant(service.rp.config, { resource: identifier });
    const answer = await ask(resourceServer, jwt);
    expect(answer).toMatchObject({ active: true, client_id: service.clientId, aud: identifier });
    expect(answer).not.toHaveProperty('sub');
  });

  it('signs its answer to a client that wants it signed (RFC 9701)', async () => {
    const signing = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [identifier],
      introspection_signed_response_alg: 'ES256',
    });
    const { jwt } = await tokenFor(identifier);
    const accept = 'application/token-introspection+jwt';
    const page = await postAs(idp, signing, '/introspect', { token: jwt }, { accept });
    expect(jose.decodeJwt(page.text).token_introspection).toMatchObject({ active: true, aud: identifier });
  });

  it('uses the subject of a pairwise client', async () => {
    const pairwise = await anApplication(idp, {
      ...forApi(identifier, 'orders:read'),
      consent: 'implicit',
      subject_type: 'pairwise',
    });
    const { jwt } = await tokenFor(identifier, pairwise);
    expect(await ask(resourceServer, jwt)).toMatchObject({ active: true, sub: jose.decodeJwt(jwt).sub });
  });

  it('tells nobody else', async () => {
    const { jwt } = await tokenFor(otherApi);
    for (const who of [resourceServer, api, publicApp]) expect(await ask(who, jwt)).toEqual({ active: false });
  });

  it('answers "inactive" for a changed, foreign, expired or other JWT', async () => {
    const { jwt } = await tokenFor(identifier);
    const [head = '', body = '', signature = ''] = jwt.split('.');
    const { privateKey } = await jose.generateKeyPair('ES256');
    const claims = jose.decodeJwt(jwt);
    const { alg = '', kid = '' } = jose.decodeProtectedHeader(jwt);
    const foreign = await new jose.SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt' }).sign(privateKey);
    const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${body}.`;
    const changed = `${head}.${Buffer.from(JSON.stringify({ ...claims, scope: 'all' })).toString('base64url')}.${signature}`;
    const jwe = `${head}.a.b.c.d`;
    for (const token of [foreign, unsigned, changed, jwe, `${head}.${body}`, `${jwt}.`, `${jwt}a`, '..', 'a.b.c'])
      expect(await ask(resourceServer, token), token).toEqual({ active: false });
    expect(await ask(resourceServer, `${head}.${'a'.repeat(40_000)}.`)).toEqual({ active: false });
  });

  it('answers "inactive" once the grant, the right of the client or the account has ended', async () => {
    const { jwt, refreshToken } = await tokenFor(identifier);
    expect(await ask(resourceServer, jwt)).toMatchObject({ active: true });
    await giveUp(caller, refreshToken);
    expect(await ask(resourceServer, jwt)).toEqual({ active: false });

    const leaving = await aUser(idp.services);
    const parameters = { scope: 'openid offline_access orders:read', resource: identifier };
    const { tokens } = await signIn(httpClient(idp.issuer), caller, leaving, parameters);
    const theirs = await caller.rp.refresh(tokens.refresh_token ?? '', { resource: identifier });
    expect(await ask(resourceServer, theirs.access_token)).toMatchObject({ active: true });
    await idp.services.accounts.setActive(leaving.account.id, false);
    expect(await ask(resourceServer, theirs.access_token)).toEqual({ active: false });

    const mine = await tokenFor(otherApi);
    expect(await ask(caller, mine.jwt)).toMatchObject({ active: true });
    await idp.services.db.resource.delete({ where: { identifier: otherApi } });
    expect(await ask(caller, mine.jwt)).toEqual({ active: false });
  });
});

describe('revocation', () => {
  it('ends a refresh token and the tokens issued with it', async () => {
    const { access_token: access, refresh_token: refresh } = await connect();
    const answer = await giveUp(app, refresh);
    expect([answer.status, answer.json()]).toEqual([200, {}]);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(await ask(app, refresh)).toEqual({ active: false });
    expect(await ask(app, access)).toEqual({ active: false });
    await expect(app.rp.refresh(refresh ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('ends an access token', async () => {
    const { access_token: access } = await connect();
    await app.rp.revoke(access);
    expect(await ask(app, access)).toEqual({ active: false });
  });

  it('leaves a token of another client valid, and does not reveal that it exists', async () => {
    const { access_token: access, refresh_token: refresh } = await connect();
    for (const who of [api, publicApp]) {
      for (const token of [access, refresh]) expect((await giveUp(who, token)).status).toBe(200);
    }
    expect(await ask(app, access)).toMatchObject({ active: true });
    expect(await ask(app, refresh)).toMatchObject({ active: true });
  });

  it('succeeds for an unknown token, and fails without a token or client authentication', async () => {
    expect((await giveUp(app, 'unknown', { token_type_hint: 'x' })).status).toBe(200);
    expect((await postAs(idp, app, '/revoke', {})).status).toBe(400);
    expect((await giveUp({ ...app, clientSecret: 'wrong' }, 'x')).status).toBe(401);
  });

  it('leaves the tokens of other applications of the same user valid', async () => {
    const browser = httpClient(idp.issuer);
    const mine = (await signIn(browser, app, user)).tokens;
    const other = await anApplication(idp);
    const theirs = (await signIn(browser, other, user)).tokens;
    await giveUp(app, mine.access_token);
    expect(await ask(other, theirs.access_token)).toMatchObject({ active: true });
    expect((await signIn(browser, app, user)).tokens.access_token).toBeTruthy();
  });
});
