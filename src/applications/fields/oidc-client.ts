// The schema of an OIDC client: the field names of OpenID Connect Dynamic Client Registration, with consent and access
// rules of this server. Every way to register a client uses it.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { line, nameUpTo } from '../../base/platform/line-schema.ts';
import { keyAlgs } from '../../core/keys/rotation.ts';
import { settingSchemas } from '../../core/settings/settings.ts';
import { network } from '../../core/settings/value-schemas.ts';
import { acrValues } from '../../people/mfa/acr.ts';
import {
  httpsUriFault,
  originFault,
  originSchema,
  redirectUriSchema,
  typedAddress,
  webUriFault,
  webUriSchema,
} from '../uris.ts';
import { ownClaims, presetField, viewFields } from './claim-settings.ts';

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials', deviceCodeGrant] as const;
const grantType = z.enum(grantTypes, {
  error: ({ input }) =>
    input === 'implicit' || input === 'password'
      ? faultMessage('no-grant', { grant: input, values: grantTypes.join(', ') })
      : undefined,
});
/** For the response types of the implicit and the hybrid flow. */
const noImplicit = () => faultMessage('no-implicit');
const authMethods = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'none',
] as const;
export const idTokenAlgs = [...keyAlgs, 'HS256'] as const;
/** What clients sign with: Ed25519 is the name of RFC 9864 for what is EdDSA in RFC 8037. */
const assertionAlgs = [...keyAlgs, 'Ed25519', 'HS256'] as const;

/** `fapi2`: FAPI 2.0 Security Profile. `fapi2-signing`: FAPI 2.0 Message Signing as well (JAR, JARM, signed introspection). */
export const securityProfiles = ['fapi2', 'fapi2-signing'] as const;
export type SecurityProfile = (typeof securityProfiles)[number];

/** OAuth 2.0 Multiple Response Types 2.1, Form Post, and JARM 2.3. */
const responseModes = ['query', 'fragment', 'form_post', 'jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'] as const;

const visible = /^[\x20-\x7e]+$/; // VSCHAR, RFC 6749 appendix A
/** The name of an application, as users read it when they give consent. */
export const displayName = nameUpTo(255);
const webUri = typedAddress(2048).superRefine(reject(webUriFault)).meta(webUriSchema);
const redirectUri = typedAddress(2048).meta(redirectUriSchema);
const httpsUri = typedAddress(2048)
  .superRefine(reject(httpsUriFault))
  .meta({ ...webUriSchema, allOf: [{ pattern: '^https:' }] });
const origin = typedAddress(255).superRefine(reject(originFault)).meta(originSchema);
const scopes = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/, faultMessage('scopes'));
const email = z
  .string()
  .regex(/^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*$/, 'must be an email address');
const uniqueList = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .refine((list) => new Set(list).size === list.length, faultMessage('unique'))
    .meta({ uniqueItems: true });

const jwks = z.object({
  keys: z
    .array(
      z
        .looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) })
        .refine((key) => !('d' in key || 'k' in key), faultMessage('public-key')),
    )
    .min(1),
});

export const clientId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, faultMessage('visible-ascii'));

/** At least 256 bits, because it may be the key of an HMAC (RFC 7518 3.2). */
export const clientSecret = z
  .string()
  .max(512)
  .regex(visible, faultMessage('printable-ascii'))
  .refine((value) => Buffer.byteLength(value) >= limits.symmetricKey.minBytes, faultMessage('min-bytes'))
  .meta({ minLength: limits.symmetricKey.minBytes });

/** Who may open an application, OIDC or SAML. */
export const access = z.union([z.literal('everyone'), z.strictObject({ roles: uniqueList(line).min(1) })], {
  error: faultMessage('access'),
});
export const consent = z.enum(['explicit', 'implicit']);

/** The connections whose users may sign in, and whether a password or passkey of this server is accepted. */
export const signInFields = {
  connections: z
    .union([z.literal('all'), uniqueList(z.string().min(1).max(64)).max(100)], {
      error: faultMessage('connections'),
    })
    .optional(),
  local_sign_in: z.boolean().optional(),
};

/** From where the application may be used, and how long a sign-in lasts for it. Of a lifetime and the setting of its name the shorter counts. */
export const useFields = {
  allowed_networks: uniqueList(network).min(1).max(100).optional(),
  session_hours: settingSchemas.session_hours.unwrap().optional(),
};

/** Users must sign in with a second factor, or a passkey, whatever the settings say. */
export const mfaRule = z.enum(['required', 'phishing-resistant']);

/** What goes to `applications.metadata`. */
export const oidcMetadata = z.strictObject({
  profile: z.enum(securityProfiles).optional(), // not in the standard: fixes many of the fields below
  application_type: z.enum(['web', 'native']).default('web'),
  redirect_uris: uniqueList(redirectUri).default([]),
  post_logout_redirect_uris: uniqueList(redirectUri).default([]),
  allowed_cors_origins: uniqueList(origin).max(100).optional(), // not in the standard: beside those of redirect_uris
  grant_types: uniqueList(grantType).min(1).default(['authorization_code']),
  response_types: z
    .array(z.literal('code', { error: noImplicit }))
    .max(1, { error: noImplicit })
    .optional(),
  response_modes: uniqueList(z.enum(responseModes)).min(1).optional(),
  token_endpoint_auth_method: z.enum(authMethods).default('client_secret_basic'),
  token_endpoint_auth_signing_alg: z.enum(assertionAlgs).optional(),
  id_token_signed_response_alg: z.enum(idTokenAlgs).default('RS256'),
  userinfo_signed_response_alg: z.enum(idTokenAlgs).optional(),
  introspection_signed_response_alg: z.enum(keyAlgs).optional(),
  authorization_signed_response_alg: z.enum(keyAlgs).optional(),
  request_object_signing_alg: z.enum(assertionAlgs).optional(),
  require_signed_request_object: z.boolean().optional(),
  require_pushed_authorization_requests: z.boolean().optional(),
  dpop_bound_access_tokens: z.boolean().optional(),
  require_pkce: z.boolean().optional(), // not in the standard: false lets a confidential client leave PKCE out
  jwks: jwks.optional(),
  jwks_uri: webUri.optional(),
  subject_type: z.enum(['public', 'pairwise']).default('public'),
  sector_identifier_uri: httpsUri.optional(),
  scope: scopes.optional(),
  resources: uniqueList(line).optional(), // not in the standard: which APIs it may ask for; none when absent
  claims: ownClaims.optional(), // not in the standard: claim -> user field, or { field, scope }
  id_token_claims: z.enum(['always', 'conform']).optional(), // not in the standard: whether ID tokens hold the claims of scopes; always when absent
  ...viewFields, // not in the standard: which roles and permissions it receives
  access_evaluation: z.enum(['own_users', 'all_users']).optional(), // not in the standard: whom it may evaluate; own_users when absent
  mfa: mfaRule.optional(), // not in the standard: how strongly users must sign in
  ...signInFields, // not in the standard: where users may sign in
  ...useFields, // not in the standard: from where and how long it may be used
  access_token_minutes: settingSchemas.access_token_minutes.unwrap().optional(), // not in the standard: the shorter one counts
  refresh_token_days: settingSchemas.refresh_token_days.unwrap().optional(), // not in the standard: the shorter one counts
  default_acr_values: uniqueList(z.enum(acrValues)).optional(),
  default_max_age: z.int().min(0).optional(),
  require_auth_time: z.boolean().optional(),
  backchannel_logout_uri: webUri.optional(),
  backchannel_logout_session_required: z.boolean().optional(),
  frontchannel_logout_uri: webUri.optional(),
  frontchannel_logout_session_required: z.boolean().optional(),
  initiate_login_uri: httpsUri.optional(),
  client_uri: webUri.optional(),
  logo_uri: webUri.optional(),
  policy_uri: webUri.optional(),
  tos_uri: webUri.optional(),
  contacts: uniqueList(email).optional(),
  ...presetField, // not in the standard: whose setup guide the console displays
});
export type OidcMetadata = z.output<typeof oidcMetadata>;

/** The whole entry of `clients:` in the configuration file. */
export const oidcClient = z.strictObject({
  client_id: clientId,
  client_secret: clientSecret.optional(),
  client_name: displayName.optional(),
  enabled: z.boolean().default(true),
  consent: consent.default('explicit'),
  access: access.default('everyone'),
  ...oidcMetadata.shape,
});
export type OidcClientInput = z.input<typeof oidcClient>;
export type OidcClient = z.output<typeof oidcClient>;
export type Access = z.output<typeof access>;

/** Whether the client proves itself, or has something signed, with a shared secret. */
export function usesSecret(client: Pick<OidcMetadata, 'token_endpoint_auth_method'>): boolean {
  return client.token_endpoint_auth_method.startsWith('client_secret_');
}

/** Whether it has a grant that begins with a person; the others are for programs. */
export function signsUsersIn({ grant_types: grants }: Pick<OidcMetadata, 'grant_types'>): boolean {
  return grants.includes('authorization_code') || grants.includes(deviceCodeGrant);
}

/** Whether a request of the client needs a PKCE challenge: always, unless a confidential client is registered without. */
export function needsPkce(client: Partial<OidcMetadata>): boolean {
  return client.require_pkce !== false || client.token_endpoint_auth_method === 'none';
}

/** Whether the secret's value is needed, because an HMAC cannot be checked against a hash. */
export function needsSecretValue(client: Partial<OidcMetadata>): boolean {
  return (
    client.token_endpoint_auth_method === 'client_secret_jwt' ||
    client.id_token_signed_response_alg === 'HS256' ||
    client.userinfo_signed_response_alg === 'HS256' ||
    client.request_object_signing_alg === 'HS256'
  );
}

/** The metadata of a client in one order, with the response types that follow from its grants. */
export function metadataOf(client: OidcMetadata): OidcMetadata {
  const entries = Object.keys(oidcMetadata.shape)
    .map((key) => [key, client[key as keyof OidcMetadata]])
    .filter(([, value]) => value !== undefined);
  const metadata = Object.fromEntries(entries) as OidcMetadata;
  return { ...metadata, response_types: client.grant_types.includes('authorization_code') ? ['code'] : [] };
}

function reject(fault: (value: string) => string | undefined) {
  return (value: string, context: z.RefinementCtx) => {
    const message = fault(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  };
}
