// Discovery (OIDC Discovery 1.0, RFC 8414): lists everything that the server supports, and nothing else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingSchemas } from '../../../src/core/settings/settings.ts';
import { createRegistrationTokens } from '../../../src/protocols/oidc/store/registration-tokens.ts';
import { aClient } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp({ hasTamperedRows: true });
});
afterAll(() => idp?.stop());

const client = () => httpClient(idp.issuer);

describe('discovery', () => {
  it('lists what the server supports and nothing else', async () => {
    const document = (await client().get('/.well-known/openid-configuration')).json();
    expect(document).toMatchObject({
      issuer: idp.issuer,
      authorization_endpoint: `${idp.issuer}/authorize`,
      token_endpoint: `${idp.issuer}/token`,
      jwks_uri: `${idp.issuer}/jwks`,
      userinfo_endpoint: `${idp.issuer}/userinfo`,
      introspection_endpoint: `${idp.issuer}/introspect`,
      revocation_endpoint: `${idp.issuer}/revoke`,
      pushed_authorization_request_endpoint: `${idp.issuer}/par`,
      device_authorization_endpoint: `${idp.issuer}/device/code`,
      end_session_endpoint: `${idp.issuer}/end-session`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      subject_types_supported: ['public', 'pairwise'],
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      claims_parameter_supported: true,
      request_parameter_supported: true,
    });
    expect(new Set(document.grant_types_supported as string[])).toEqual(
      new Set([
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
        'urn:ietf:params:oauth:grant-type:token-exchange',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
      ]),
    );
    expect(document.id_token_signing_alg_values_supported).toEqual(['HS256', 'RS256', 'PS256', 'ES256', 'EdDSA']);
    expect(JSON.stringify(document)).not.toMatch(/saml|implicit|"plain"|code id_token/);
    expect(JSON.stringify(document.id_token_signing_alg_values_supported)).not.toContain('none');
    expect((document.response_modes_supported as string[]).sort()).toEqual([
      'form_post',
      'form_post.jwt',
      'fragment',
      'fragment.jwt',
      'jwt',
      'query',
      'query.jwt',
    ]);
    const serverAlgs = ['RS256', 'PS256', 'ES256', 'EdDSA'];
    expect(document.authorization_signing_alg_values_supported).toEqual(serverAlgs);
    expect(document.introspection_signing_alg_values_supported).toEqual(serverAlgs);
    expect(document.dpop_signing_alg_values_supported).toEqual(['PS256', 'ES256', 'EdDSA', 'Ed25519']);
    // Required by profile for some clients, not for all.
    expect(document).not.toHaveProperty('require_pushed_authorization_requests');
    expect(document).not.toHaveProperty('require_signed_request_object');
    expect((await client().get('/.well-known/oauth-authorization-server')).json()).toMatchObject({
      issuer: idp.issuer,
    });
  });

  it('announces the registration endpoint while an initial access token exists', async () => {
    const documents = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];
    const announced = () =>
      Promise.all(documents.map(async (path) => (await client().get(path)).json().registration_endpoint));
    const tokens = createRegistrationTokens(idp.services);
    expect(await announced()).toEqual([undefined, undefined]);
    expect((await client().post('/register', { json: {} })).status).toBe(401);
    const { token } = await tokens.issue();
    await expect.poll(announced).toEqual(documents.map(() => `${idp.issuer}/register`));
    const headers = { authorization: `Bearer ${token}` };
    const json = { redirect_uris: ['https://app.example/cb'] };
    expect((await client().post('/register', { json, headers })).status).toBe(201);
    await tokens.revokeAll();
    await expect.poll(announced).toEqual([undefined, undefined]);
  });

  it('publishes the algorithms of the setting, and those that an application or an API uses', async () => {
    const { settings } = idp.services;
    const published = async () => {
      const document = (await client().get('/.well-known/openid-configuration')).json();
      const { keys } = (await client().get('/jwks')).json<{ keys: { alg: string }[] }>();
      return {
        keys: [...new Set(keys.map(({ alg }) => alg))].sort(),
        document: ['id_token', 'userinfo', 'introspection', 'authorization'].map(
          (use) => document[`${use}_signing_alg_values_supported`],
        ),
      };
    };
    await settings.set('signing_algorithms', ['RS256']);
    await settings.reload();
    /** What is registered before the setting changes stays. */
    const withEveryAlgorithm = async (register: () => Promise<unknown>) => {
      await settings.unset('signing_algorithms');
      await settings.reload();
      await register();
      await settings.set('signing_algorithms', ['RS256']);
      await settings.reload();
    };
    const only = (...algs: string[]) => ({ keys: [...algs].sort(), document: [algs, algs, algs, algs] });
    expect(await published()).toEqual(only('RS256'));
    await withEveryAlgorithm(() =>
      aClient(idp.services, { redirect_uris: ['https://app.example/cb'], id_token_signed_response_alg: 'ES256' }),
    );
    expect(await published()).toEqual(only('RS256', 'ES256'));
    await idp.services.db.asStored.resource.create({
      data: { identifier: 'https://api.example', scopes: '[]', signingAlg: 'EdDSA' },
    });
    await expect.poll(published).toEqual(only('RS256', 'ES256', 'EdDSA'));
    await settings.unset('signing_algorithms');
    await settings.reload();
    expect((await published()).keys).toEqual(['ES256', 'EdDSA', 'PS256', 'RS256']);
    expect(settingSchemas.signing_algorithms.safeParse(['ES256']).success).toBe(false);
  });

  it('publishes only public keys', async () => {
    const { keys } = (await client().get('/jwks')).json<{ keys: Record<string, unknown>[] }>();
    expect(new Set(keys.map(({ alg }) => alg))).toEqual(new Set(['RS256', 'PS256', 'ES256', 'EdDSA']));
    for (const key of keys)
      for (const part of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'x5c']) expect(key).not.toHaveProperty(part);
  });
});
