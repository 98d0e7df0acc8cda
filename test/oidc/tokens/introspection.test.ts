// Introspection (RFC 7662) and revocation (RFC 7009): which clients may call them, and what is valid afterwards.
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TokenAnswer } from '../../support/applications/rp.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, postAs, signIn } from '../support.ts';

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
    expect((await postAs(idp, app, '/introspect', { token: idToken ?? '' })).status).toBe(400);
    expect((await postAs(idp, app, '/introspect', {})).status).toBe(400);
  });

  it('is rejected without client authentication', async () => {
    const answer = await httpClient(idp.issuer).post('/introspect', { form: { token: 'x' } });
    expect([400, 401]).toContain(answer.status);
    expect((await postAs(idp, { ...app, clientSecret: 'wrong' }, '/introspect', { token: 'x' })).status).toBe(401);
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
