// FAPI 2.0 by openid-client: pushed requests, private_key_jwt, DPoP with nonces, signed requests (JAR), signed responses (JARM)
// and signed introspection (RFC 9701).
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  aFapiClient,
  assertion,
  type ClientAlg,
  callback,
  type ServerAlg,
  signInWithPar,
  sound,
  tokensOf,
  withAssertion,
} from './support.ts';

let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
});

const keys = () => jose.createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));

describe('a client with the profile fapi2', () => {
  it.each<[ClientAlg, ServerAlg]>([
    ['ES256', 'ES256'],
    ['PS256', 'PS256'],
    ['Ed25519', 'EdDSA'],
  ])('signs a user in with keys for %s and tokens signed with %s', async (alg, serverAlg) => {
    const client = await aFapiClient(idp, 'fapi2', { alg, serverAlg });
    const { back, checks, url } = await signInWithPar(idp, client, user, false);
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    expect(back.searchParams.get('iss')).toBe(idp.issuer);
    const tokens = await oidc.authorizationCodeGrant(client.config, back, checks, undefined, { DPoP: client.dpop });
    expect(tokens.token_type).toBe('dpop');
    const { protectedHeader } = await jose.jwtVerify(tokens.id_token ?? '', keys(), { audience: client.clientId });
    expect(protectedHeader.alg).toBe(serverAlg);
    const info = await oidc.fetchUserInfo(client.config, tokens.access_token, user.account.id, { DPoP: client.dpop });
    expect(info.sub).toBe(user.account.id);
    const refreshed = await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '', undefined, {
      DPoP: client.dpop,
    });
    expect(refreshed.refresh_token).toBe(tokens.refresh_token);
    expect((await oidc.tokenIntrospection(client.config, refreshed.access_token)).cnf).toEqual({
      jkt: await client.dpop.calculateThumbprint(),
    });
  });

  it('is redirected by 303 all the way, never by 302 or 307', async () => {
    const client = await aFapiClient(idp, 'fapi2');
    const pushed = await withAssertion(idp, '/par', await sound(client), await assertion(idp, client));
    const query = new URLSearchParams({ client_id: client.clientId, request_uri: String(pushed.json().request_uri) });
    const browser = httpClient(idp.issuer);
    const redirects: number[] = [];
    let page = await browser.get(`/authorize?${query}`);
    for (let pages = 0; pages < 20 && !page.location?.startsWith(callback); pages += 1) {
      if (page.location) {
        redirects.push(page.status);
        page = await browser.get(page.location);
      } else if (page.forms[0]?.action.endsWith('/consent')) {
        page = await browser.submit(page, {}, { button: 'Allow' });
      } else page = await browser.submit(page, { username: user.username, password: user.password });
    }
    expect(page.location).toContain('code=');
    expect(new Set([...redirects, page.status])).toEqual(new Set([303]));
    expect(redirects.length).toBeGreaterThan(1);
  });

  it('gets a token for itself that is bound to its key, for an API that signs with an allowed algorithm only', async () => {
    const apis = { good: 'https://api-ps256.example', weak: 'https://api-rs256.example' };
    const { db } = idp.services;
    for (const [identifier, signingAlg] of [
      [apis.good, 'PS256'],
      [apis.weak, 'RS256'],
    ] as const)
      await db.asStored.resource.create({ data: { identifier, scopes: '["read"]', signingAlg } });
    await signRows(idp.services);
    const client = await aFapiClient(idp, 'fapi2', { resources: Object.values(apis), scope: 'openid read' });
    const ask = (resource: string) =>
      oidc.clientCredentialsGrant(client.config, { resource, scope: 'read' }, { DPoP: client.dpop });
    const { access_token: token } = await ask(apis.good);
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys(), { audience: apis.good });
    expect(protectedHeader.alg).toBe('PS256');
    expect(payload.cnf).toEqual({ jkt: await client.dpop.calculateThumbprint() });
    await expect(ask(apis.weak)).rejects.toMatchObject({ error: 'invalid_target' });
  });
});

describe('a client with the profile fapi2-signing', () => {
  it.each<[ClientAlg, ServerAlg]>([
    ['ES256', 'ES256'],
    ['PS256', 'PS256'],
  ])('sends a request signed with %s, and gets a response signed with %s', async (alg, serverAlg) => {
    const client = await aFapiClient(idp, 'fapi2-signing', { alg, serverAlg });
    const { back, checks } = await signInWithPar(idp, client, user, true);
    expect([...back.searchParams.keys()]).toEqual(['response']);
    const response = back.searchParams.get('response') ?? '';
    const { payload, protectedHeader } = await jose.jwtVerify(response, keys(), {
      issuer: idp.issuer,
      audience: client.clientId,
    });
    expect(protectedHeader.alg).toBe(serverAlg);
    expect(Object.keys(payload).sort()).toEqual(['aud', 'code', 'exp', 'iss', 'state']);
    const tokens = await oidc.authorizationCodeGrant(client.config, back, checks, undefined, { DPoP: client.dpop });
    expect(tokens.claims()?.sub).toBe(user.account.id);

    const introspection = await withAssertion(
      idp,
      '/introspect',
      { token: tokens.access_token },
      await assertion(idp, client),
      { accept: 'application/token-introspection+jwt' },
    );
    expect(introspection.headers['content-type']).toContain('application/token-introspection+jwt');
    const signed = await jose.jwtVerify(introspection.text, keys(), {
      issuer: idp.issuer,
      audience: client.clientId,
      typ: 'token-introspection+jwt',
    });
    expect(signed.protectedHeader.alg).toBe(serverAlg);
    expect(signed.payload.token_introspection).toMatchObject({
      active: true,
      client_id: client.clientId,
      cnf: { jkt: await client.dpop.calculateThumbprint() },
    });
  });

  it('gets the rejection of its request signed as well', async () => {
    const client = await aFapiClient(idp, 'fapi2-signing');
    oidc.useJwtResponseMode(client.config);
    const parameters = { ...(await sound(client)), prompt: 'none', state: 'x' };
    const request = await oidc.buildAuthorizationUrlWithJAR(client.config, parameters, client.keys.privateKey);
    const url = await oidc.buildAuthorizationUrlWithPAR(client.config, request.searchParams, { DPoP: client.dpop });
    const page = await httpClient(idp.issuer).get(url.href);
    const back = new URL(page.location ?? '');
    expect([...back.searchParams.keys()]).toEqual(['response']);
    const { payload } = await jose.jwtVerify(back.searchParams.get('response') ?? '', keys());
    expect(payload).toMatchObject({ error: 'login_required', state: 'x', iss: idp.issuer, aud: client.clientId });
  });
});

describe('signed introspection', () => {
  it('names the user by the subject of the client that asks, also to a pairwise one', async () => {
    const site = await aFapiClient(idp, 'fapi2');
    const { access_token: token } = await tokensOf(idp, site, user);
    const api = await aFapiClient(idp, 'fapi2-signing', { subject_type: 'pairwise' });
    const accept = { accept: 'application/token-introspection+jwt' };
    const signed = await withAssertion(idp, '/introspect', { token }, await assertion(idp, api), accept);
    const { sub } = jose.decodeJwt<{ token_introspection: { sub: string } }>(signed.text).token_introspection;
    const plain = await withAssertion(idp, '/introspect', { token }, await assertion(idp, api));
    expect(plain.json().sub).toBe(sub);
    expect(sub).toMatch(/^\S{20,}$/);
    expect(sub).not.toBe(user.account.id);
  });
});
