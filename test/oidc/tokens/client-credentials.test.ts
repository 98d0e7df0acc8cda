// The client credentials grant (RFC 6749 4.4): with and without a scope or resource, never for a user.
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, forApi, postAs } from '../support.ts';

const api = 'https://api.example.com';
let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    ...forApi(api, 'read', 'write'),
  });
  await idp.services.db.asStored.resource.create({ data: { identifier: api, scopes: '["read","write"]' } });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

describe('client_credentials', () => {
  it('gives an opaque token of 15 minutes, and neither a refresh token nor an ID token', async () => {
    const answer = await oidc.clientCredentialsGrant(app.rp.config);
    expect(answer).toMatchObject({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_in: 900,
      token_type: 'bearer',
    });
    expect(answer.refresh_token).toBeUndefined();
    expect(answer.id_token).toBeUndefined();
    expect((await app.rp.introspect(answer.access_token)).active).toBe(true);
  });

  it('gives a JWT for a resource, with the requested scopes', async () => {
    const answer = await oidc.clientCredentialsGrant(app.rp.config, { resource: api, scope: 'read' });
    expect(answer.scope).toBe('read');
    expect(jose.decodeJwt(answer.access_token)).toMatchObject({ aud: api, scope: 'read', sub: app.clientId });
    const all = await oidc.clientCredentialsGrant(app.rp.config, { resource: api });
    expect(jose.decodeJwt(all.access_token).scope).toBe('read write');
  });

  it('revokes a token at the revocation endpoint', async () => {
    const { access_token: token } = await oidc.clientCredentialsGrant(app.rp.config);
    await app.rp.revoke(token);
    expect((await app.rp.introspect(token)).active).toBe(false);
  });

  it('gives no token for a user', async () => {
    for (const scope of ['openid', 'openid profile', 'offline_access', 'roles']) {
      const answer = await postAs(idp, app, '/token', { grant_type: 'client_credentials', scope });
      if (answer.status === 200) {
        expect(answer.json()).not.toHaveProperty('id_token');
        expect(answer.json()).not.toHaveProperty('refresh_token');
        const introspection = await app.rp.introspect(String(answer.json().access_token));
        expect(introspection).not.toHaveProperty('sub');
      } else expect(answer.json().error).toBe('invalid_scope');
    }
  });

  it('is rejected for an application without the grant', async () => {
    const web = await anApplication(idp, { grant_types: ['authorization_code'] });
    const answer = await postAs(idp, web, '/token', { grant_type: 'client_credentials' });
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
  });
});
