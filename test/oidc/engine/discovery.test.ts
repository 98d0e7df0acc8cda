// Discovery (OIDC Discovery 1.0, RFC 8414): lists everything that the server supports, and nothing else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp();
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
      registration_endpoint: `${idp.issuer}/register`,
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

  it('publishes only public keys', async () => {
    const { keys } = (await client().get('/jwks')).json<{ keys: Record<string, unknown>[] }>();
    expect(new Set(keys.map(({ alg }) => alg))).toEqual(new Set(['RS256', 'PS256', 'ES256', 'EdDSA']));
    for (const key of keys)
      for (const part of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'x5c']) expect(key).not.toHaveProperty(part);
  });
});
