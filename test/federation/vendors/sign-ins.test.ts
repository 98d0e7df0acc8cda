// Whole sign-ins as vendors do them: Apple's form_post and client secret, Facebook's proof, groups of an OAuth 2.0 API, assertions of
// the client, and new keys of the upstream.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { decodeJwt, exportJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectUri } from '../../oidc/support.ts';
import { anRsaKey } from '../../support/applications/rsa-keys.ts';
import { aClient, aUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { expectSignedIn } from '../../support/pages/enter.ts';
import { sharedIdpWithConnections } from '../../support/shared-idp.ts';
import { type FakeApi, startApi } from '../../support/upstream/oauth2-api.ts';
import { aConnection, accountOf, anUpstream, isAtApplication, openSignIn, signInOver } from '../support.ts';

let idp: TestIdp;
let api: FakeApi;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  api = await startApi();
});
afterAll(() => api.stop());

const pemOf = ({ privateKey }: { privateKey: KeyObject }) =>
  privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

describe('sign-in with Apple', () => {
  it('takes the answer of a form without cookies, the name of its user field, and no address of it', async () => {
    const victim = await aUser(idp.services);
    const key = {
      team_id: 'TEAM',
      key_id: 'KEY',
      private_key: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
    };
    const apple = await anUpstream(
      idp,
      { preset: 'apple', client_secret: undefined, ...key },
      {
        client: { token_endpoint_auth_method: 'client_secret_post' },
      },
    );
    apple.upstream.user = { sub: 'apple-1', email: 'relay@apple.example', email_verified: 'true' };
    apple.upstream.quirks = { acceptsAnySecret: true };
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const browser = httpClient(idp.issuer);
    const form = await openSignIn(idp, { clientId, browser });
    const sent = await browser.submit(form, {}, { form: `/connections/${apple.connection}` });
    const page = await browser.follow(sent);
    const [answer] = page.forms;
    expect(answer?.action).toBe(`${idp.issuer}/upstream/${apple.connection}/callback`);
    const name = { firstName: 'Ada', lastName: 'Apple' };
    const user = JSON.stringify({ name, email: victim.account.email, sub: victim.account.id });
    // A cross-site POST brings no Lax cookie: another client sends it.
    const headers = { origin: 'https://appleid.apple.com', 'sec-fetch-site': 'cross-site' };
    const stored = await httpClient(idp.issuer).post(answer?.action ?? '', {
      form: { ...answer?.fields, user } as Record<string, string>,
      headers,
    });
    const done = await browser.follow(await browser.get(stored.location ?? ''), isAtApplication);
    expectSignedIn(done);
    const claims = decodeJwt(String(apple.upstream.lastTokenRequest.client_secret));
    expect(claims).toMatchObject({ iss: 'TEAM', sub: 'gatehouse', aud: apple.upstream.issuer });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(300);
    const account = await accountOf(idp, apple.connection, 'apple-1');
    expect(account).toMatchObject({ name: 'Ada Apple', email: 'relay@apple.example' });
    expect(account?.id).not.toBe(victim.account.id);
    await apple.remove();
  });
});

describe('an assertion of the client', () => {
  it.each(['client_secret_jwt', 'private_key_jwt'])('is for the issuer only with %s', async (method) => {
    const key = anRsaKey();
    const isKey = method === 'private_key_jwt';
    const strict = await anUpstream(
      idp,
      { token_endpoint_auth_method: method, ...(isKey && { private_key: pemOf(key), client_secret: undefined }) },
      {
        client: {
          token_endpoint_auth_method: method,
          ...(isKey && { client_secret: undefined, jwks: { keys: [await exportJWK(key.publicKey)] } }),
        },
      },
    );
    strict.upstream.user = { sub: 'assertion-1' };
    const { page } = await signInOver(idp, strict.connection);
    await strict.remove();
    expectSignedIn(page);
    const { aud } = decodeJwt(String(strict.upstream.lastTokenRequest.client_assertion));
    expect(aud).toBe(strict.upstream.issuer);
  });
});

describe('an upstream whose key changes', () => {
  it('signs users in with the new key, as soon as its JWKS is read again', async () => {
    const corp = await anUpstream(idp);
    corp.upstream.user = { sub: 'rollover-1' };
    expectSignedIn((await signInOver(idp, corp.connection)).page);
    corp.upstream.rotateKey();
    // The JWKS was read more than a minute ago.
    await idp.services.db.asStored.connectionDocument.updateMany({
      where: { connectionId: corp.connection, kind: 'jwks' },
      data: { readAt: new Date(Date.now() - 120_000) },
    });
    const { page } = await signInOver(idp, corp.connection);
    await corp.remove();
    expectSignedIn(page);
  });
});

describe('sign-in at an OAuth 2.0 API', () => {
  const oauth2 = (id: string, fields: Record<string, unknown>) =>
    aConnection(idp, {
      id,
      kind: 'oauth2',
      name: 'Example API',
      client_id: 'client',
      client_secret: 'api-secret',
      authorization_url: `${api.origin}/authorize`,
      token_url: `${api.origin}/token`,
      userinfo_url: `${api.origin}/me`,
      subject_claim: 'id',
      create_users: true,
      ...fields,
    });

  it('proves at Facebook that it has the app secret, and confirms the address here', async () => {
    const id = `facebook-${process.pid}`;
    await oauth2(id, { preset: 'facebook', attributes: { email: 'email', name: 'name' } });
    api.proofSecret = 'api-secret';
    api.user = { id: '10150', name: 'Fay Book', email: 'fay@facebook.example', email_verified: true };
    const { page } = await signInOver(idp, id);
    api.proofSecret = undefined;
    expectSignedIn(page);
    expect(await accountOf(idp, id, '10150')).toMatchObject({ name: 'Fay Book', email: null, emailVerified: false });
    await idp.services.connections.remove(id);
  });

  it('takes the groups of a list of their own, and changes no role by one that is forbidden or has more pages', async () => {
    const id = `groups-${process.pid}`;
    const role = `api-staff-${process.pid}`;
    await idp.services.roles.create({ name: role });
    await oauth2(id, {
      groups_url: `${api.origin}/orgs`,
      groups_claim: 'login',
      role_mappings: { staff: role },
      attributes: { name: 'profile.name' },
    });
    api.user = { id: 7, profile: { name: 'Gus' } };
    const rolesAfter = async (groups: FakeApi['groups']) => {
      api.groups = groups;
      expectSignedIn((await signInOver(idp, id)).page);
      return (await accountOf(idp, id, '7'))?.roles;
    };
    expect(await rolesAfter({ body: [{ login: 'staff' }, { login: 'x' }] })).toEqual([role]);
    expect(await accountOf(idp, id, '7')).toMatchObject({ name: 'Gus' });
    expect(await rolesAfter({ status: 403, body: { message: 'no' } })).toEqual([role]);
    expect(await rolesAfter({ body: [], link: `<${api.origin}/orgs?page=2>; rel="next"` })).toEqual([role]);
    expect(await rolesAfter({ body: { not: 'a list' } })).toEqual([role]);
    expect(await rolesAfter({ body: [{ login: 'x' }] })).toEqual([]);
    await idp.services.connections.remove(id);
  });
});
