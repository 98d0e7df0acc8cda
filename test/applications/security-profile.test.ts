// A security profile by its registration: what it fills in, and that no field, whatever way it comes, makes it weaker.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { oidcClient } from '../../src/applications/fields/oidc-client.ts';
import { oidcRules } from '../../src/applications/oidc-rules.ts';
import { withProfileFields } from '../../src/applications/security-profile.ts';
import { check, faultLine } from '../../src/base/texts/faults.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const ed = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const rsa = (modulusLength: number, more: object = {}) => ({
  ...generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' }),
  ...more,
});
const least = { client_id: 'bank', redirect_uris: ['https://bank.example.com/cb'], jwks: { keys: [ec] } };
const registered = (more: object) => check(oidcClient, withProfileFields({ ...least, ...more }), oidcRules);
const faults = (more: object) => {
  const checked = registered(more);
  return checked.ok ? [] : checked.faults.map(faultLine);
};

describe('a security profile', () => {
  it('fills in everything that FAPI 2.0 demands', () => {
    const fapi2 = {
      token_endpoint_auth_method: 'private_key_jwt',
      require_pushed_authorization_requests: true,
      require_pkce: true,
      dpop_bound_access_tokens: true,
      id_token_signed_response_alg: 'PS256',
    };
    const plain = registered({ profile: 'fapi2' });
    expect(plain.ok && plain.value).toMatchObject(fapi2);
    expect(plain.ok && plain.value).not.toHaveProperty('response_modes');
    const signing = registered({ profile: 'fapi2-signing' });
    const messages = {
      require_signed_request_object: true,
      response_modes: ['jwt'],
      authorization_signed_response_alg: 'PS256',
      introspection_signed_response_alg: 'PS256',
    };
    expect(signing.ok && signing.value).toMatchObject({ ...fapi2, ...messages });
  });

  it.each<[string, object]>([
    ['id_token_signed_response_alg', { id_token_signed_response_alg: 'ES256' }],
    ['grant_types', { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] }],
    ['jwks', { jwks: { keys: [ec, rsa(2048), ed, rsa(3072, { alg: 'PS256' })] } }],
    ['jwks_uri', { jwks: undefined, jwks_uri: 'https://bank.example.com/jwks' }],
    ['redirect_uris', { application_type: 'native', redirect_uris: ['http://127.0.0.1/cb'] }],
  ])('leaves a choice within it: %s', (_field, more) => {
    expect(faults({ profile: 'fapi2', ...more })).toEqual([]);
  });

  it.each<[string, object]>([
    ['token_endpoint_auth_method', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['token_endpoint_auth_method', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['token_endpoint_auth_method', { token_endpoint_auth_method: 'none' }],
    ['client_secret', { client_secret: 's'.repeat(40) }],
    ['token_endpoint_auth_signing_alg', { token_endpoint_auth_signing_alg: 'RS256' }],
    ['token_endpoint_auth_signing_alg', { token_endpoint_auth_signing_alg: 'HS256' }],
    ['require_pushed_authorization_requests', { require_pushed_authorization_requests: false }],
    ['require_pkce', { require_pkce: false }],
    ['dpop_bound_access_tokens', { dpop_bound_access_tokens: false }],
    ['require_signed_request_object', { require_signed_request_object: false }],
    ['response_modes', { response_modes: ['query'] }],
    ['response_modes', { response_modes: ['jwt', 'query'] }],
    ['id_token_signed_response_alg', { id_token_signed_response_alg: 'RS256' }],
    ['id_token_signed_response_alg', { id_token_signed_response_alg: 'HS256' }],
    ['userinfo_signed_response_alg', { userinfo_signed_response_alg: 'RS256' }],
    ['authorization_signed_response_alg', { authorization_signed_response_alg: 'RS256' }],
    ['introspection_signed_response_alg', { introspection_signed_response_alg: 'RS256' }],
    ['request_object_signing_alg', { request_object_signing_alg: 'RS256' }],
    ['request_object_signing_alg', { request_object_signing_alg: 'HS256' }],
    ['grant_types[1]', { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] }],
    ['redirect_uris[0]', { redirect_uris: ['http://127.0.0.1/cb'] }],
    ['redirect_uris[0]', { redirect_uris: ['com.example.app:/cb'], application_type: 'native' }],
    ['jwks_uri', { jwks: undefined, jwks_uri: 'http://127.0.0.1/jwks' }],
    ['jwks', { jwks: undefined }],
    ['jwks.keys[0]', { jwks: { keys: [rsa(1024)] } }],
    ['jwks.keys[0]', { jwks: { keys: [rsa(2048, { alg: 'RS256' })] } }],
    ['jwks.keys[1]', { jwks: { keys: [ec, { ...ec, crv: 'P-384' }] } }],
    ['jwks.keys[0]', { jwks: { keys: [generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' })] } }],
    ['profile', { profile: 'fapi1' }],
  ])('is not weakened by %s (%#)', (field, more) => {
    const found = faults({ profile: 'fapi2-signing', ...more });
    expect(found.filter((fault) => fault.startsWith(`${field} `) || fault.startsWith(`${field}: `))).not.toEqual([]);
  });
});
