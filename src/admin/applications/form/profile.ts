// The security profile of an OpenID Connect application in the console: the choice with what it demands, and the keys that it needs.
import type { OidcApplication } from '../../../applications/application.ts';
import type { SecurityProfile } from '../../../applications/fields/oidc-client.ts';
import { fixedFields, isSecurityProfile } from '../../../applications/security-profile.ts';
import { badRequest } from '../../../http/errors.ts';
import type { Block, Field } from '../../console/blocks.ts';
import type { Declaration } from '../saml-declarations.ts';

const names: Record<SecurityProfile, string> = {
  fapi2: 'High security (FAPI 2)',
  'fapi2-signing': 'High security with signed messages (FAPI 2 Message Signing)',
};

const DEMANDS =
  'The application signs in with a key of its own (private_key_jwt), pushes its requests (PAR) with PKCE, and binds its tokens to a key ' +
  '(DPoP). Only PS256, ES256 and EdDSA are accepted. Its addresses have to be https. With signed messages, its requests (JAR) and ' +
  'the responses (JARM) are signed too.';

/** The list of profiles; the first one is none. */
export const profileField = (profile: SecurityProfile | undefined): Field => ({
  name: 'profile',
  label: 'Security',
  type: 'select',
  value: profile ?? '',
  options: [
    { value: '', label: 'Standard' },
    ...Object.entries(names).map(([value, label]) => ({ value, label: String(label) })),
  ],
  hint: `High security: ${DEMANDS}`,
});

export const keyFields = (metadata: Partial<OidcApplication['metadata']> = {}): Field[] => [
  {
    name: 'jwks_uri',
    label: 'Address of its public keys',
    value: metadata.jwks_uri ?? '',
    hint: 'A JWK Set, read again when the application signs with a new key. Or:',
  },
  {
    name: 'jwks',
    label: 'Its public keys',
    type: 'textarea',
    rows: 4,
    value: metadata.jwks === undefined ? '' : JSON.stringify(metadata.jwks, undefined, 2),
    hint: 'The JWK Set itself: {"keys": […]}. For applications that sign their requests or sign in with a key.',
  },
];

/**
 * The part of the JSON merge patch that is about profile and keys; empty when the form has none of these fields. A chosen profile sets
 * the fields that it fixes. Removing it clears them, but the application keeps private_key_jwt, because it has no secret. Throws
 * invalid_input.
 */
export function profilePatch(given: Record<string, string>, before: SecurityProfile | undefined): Declaration {
  const keys = {
    ...(given.jwks_uri !== undefined && { jwks_uri: given.jwks_uri || null }),
    ...(given.jwks !== undefined && { jwks: jwksOf(given.jwks) }),
  };
  const { profile } = given;
  if (profile === undefined || profile === (before ?? '')) return keys;
  const cleared = before ? Object.fromEntries(Object.keys(fixedFields(before)).map((field) => [field, null])) : {};
  if (!isSecurityProfile(profile))
    return { ...keys, ...cleared, token_endpoint_auth_method: 'private_key_jwt', profile: null };
  return { ...keys, ...cleared, ...resetAlgorithms, ...fixedFields(profile), profile };
}

/** Clears the algorithms that the application chose before, so that those of the profile apply. */
const resetAlgorithms = {
  id_token_signed_response_alg: null,
  authorization_signed_response_alg: null,
  introspection_signed_response_alg: null,
  userinfo_signed_response_alg: null,
  token_endpoint_auth_signing_alg: null,
  request_object_signing_alg: null,
};

/** What the profile of an application demands. */
export function profileNotice(profile: SecurityProfile | undefined): Block[] {
  return profile ? [{ kind: 'text', tone: 'small', text: `${names[profile]}: ${DEMANDS}` }] : [];
}

/** The name of a profile, for the list of facts. */
export const profileName = (profile: SecurityProfile): string => names[profile];

function jwksOf(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('invalid_input', { fields: [{ field: 'jwks', message: 'is not JSON' }] });
  }
}
