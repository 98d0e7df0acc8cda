// The security profiles of OIDC clients: one word that turns on everything that FAPI 2.0 demands of a client. The fields of a
// profile are filled in where the registration leaves them out, and no other field can weaken it.

import { defined } from '../base/platform/defined.ts';
import { type Fault, fault } from '../base/texts/faults.ts';
import { type OidcMetadata, type SecurityProfile, securityProfiles } from './fields/oidc-client.ts';

/** FAPI 2.0 Security Profile 5.4.1. EdDSA is Ed25519 here; clients may sign under either name (RFC 9864). */
export const profileAlgs: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];
const DEFAULT_ALG = 'PS256';

/** What is signed by this server, with the default algorithm of a profile. */
const serverAlgFields = [
  'id_token_signed_response_alg',
  'authorization_signed_response_alg',
  'introspection_signed_response_alg',
] as const;
const otherAlgFields = [
  'userinfo_signed_response_alg',
  'token_endpoint_auth_signing_alg',
  'request_object_signing_alg',
] as const;

export const isSecurityProfile = (value: unknown): value is SecurityProfile =>
  securityProfiles.includes(value as SecurityProfile);

/** The fields that a profile fixes (FAPI 2.0 Security Profile 5.3.2, Message Signing 5.3 to 5.5). */
export function fixedFields(profile: SecurityProfile) {
  return {
    token_endpoint_auth_method: 'private_key_jwt',
    require_pushed_authorization_requests: true,
    require_pkce: true,
    dpop_bound_access_tokens: true,
    ...(profile === 'fapi2-signing' && { require_signed_request_object: true, response_modes: ['jwt' as const] }),
  } as const;
}

/** The input of a registration with the fields of its profile filled in; other input as it is. */
export function withProfileFields(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('profile' in input)) return input;
  const { profile } = input;
  if (!isSecurityProfile(profile)) return input;
  return {
    ...Object.fromEntries(serverAlgFields.map((field) => [field, DEFAULT_ALG])),
    ...fixedFields(profile),
    ...defined(input),
  };
}

/**
 * The same for metadata whose absent fields the engine has filled in: what weakens the profile is replaced (RFC 7591 2), except
 * the algorithms that the client signs with, which only the client can change.
 */
export function enforceProfileFields(profile: SecurityProfile, metadata: Record<string, unknown>): void {
  Object.assign(metadata, fixedFields(profile));
  for (const field of serverAlgFields)
    if (!profileAlgs.includes(String(metadata[field]))) metadata[field] = DEFAULT_ALG;
  delete metadata.client_secret;
  delete metadata.client_secret_expires_at;
}

/** Where a client contradicts its profile. */
export function profileFaults(client: OidcMetadata): Fault[] {
  const { profile } = client;
  if (profile === undefined) return [];
  const faults: Fault[] = [];
  const reject = (path: Fault['path'], sentence: Fault) =>
    faults.push(fault(path, 'in-profile', { sentence, profile }));

  for (const [field, value] of Object.entries(fixedFields(profile))) {
    if (JSON.stringify(client[field as keyof OidcMetadata]) !== JSON.stringify(value))
      reject([field], fault([], 'fixed-value', { value: Array.isArray(value) ? `[${value}]` : String(value) }));
  }
  for (const field of [...serverAlgFields, ...otherAlgFields]) {
    const alg = client[field];
    if (alg !== undefined && !profileAlgs.includes(alg)) reject([field], fault([], 'profile-algs'));
  }
  for (const [index, grant] of client.grant_types.entries()) {
    if (!profileGrants.includes(grant)) reject(['grant_types', index], fault([], 'profile-grant', { grant }));
  }
  for (const [index, uri] of client.redirect_uris.entries()) {
    const isLoopback = client.application_type === 'native' && uri.startsWith('http:');
    if (!uri.startsWith('https:') && !isLoopback) reject(['redirect_uris', index], fault([], 'https-url'));
  }
  if (client.jwks_uri !== undefined && !client.jwks_uri.startsWith('https:'))
    reject(['jwks_uri'], fault([], 'https-url'));
  for (const [index, key] of client.jwks?.keys.entries() ?? []) {
    const found = keyFault(key);
    if (found) reject(['jwks', 'keys', index], found);
  }
  return faults;
}

const profileGrants: readonly string[] = ['authorization_code', 'refresh_token', 'client_credentials'];

/** FAPI 2.0 Security Profile 5.4.1: the curves of the allowed algorithms. RSA keys have 2048 bits or more by the rule for all keys. */
function keyFault(jwk: Record<string, unknown>): Fault | undefined {
  if (jwk.use !== undefined && jwk.use !== 'sig') return undefined;
  if (jwk.alg !== undefined && !profileAlgs.includes(String(jwk.alg))) return fault([], 'profile-key-algs');
  if (jwk.kty === 'EC') return jwk.crv === 'P-256' ? undefined : fault([], 'on-curve', { curve: 'P-256' });
  if (jwk.kty === 'OKP') return jwk.crv === 'Ed25519' ? undefined : fault([], 'on-curve', { curve: 'Ed25519' });
  return undefined;
}
