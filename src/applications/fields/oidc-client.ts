// The schema of an OIDC client: the field names of OpenID Connect Dynamic Client Registration, with consent and access
// rules of this server. Every way to register a client uses it.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { line, nameUpTo } from '../../base/schemas/line-schema.ts';
import { faultFrom, rule } from '../../base/texts/faults.ts';
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
import { applicationFields, fieldsIn } from './application-field.ts';
import { ownClaims, presetField, viewFields } from './claim-settings.ts';
import { provisionField, withoutToken } from './provisioning.ts';

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code';
export const tokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
/** RFC 7523, with identity assertions alone. */
export const idJagGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  deviceCodeGrant,
  tokenExchangeGrant,
  idJagGrant,
] as const;
/** Grants of programs that prove themselves: without a credential, anybody could use them. */
export const confidentialGrants: readonly string[] = ['client_credentials', tokenExchangeGrant, idJagGrant];
const grantType = z.enum(grantTypes, {
  error: ({ input }) => (input === 'implicit' || input === 'password' ? rule('no-grant').error : undefined),
});
/** For the response types of the implicit and the hybrid flow. */
const noImplicit = rule('no-implicit');
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
const displayName = nameUpTo(255);
/** The name of an application of another protocol. */
export const nameField = displayName.describe('the name that people see').register(applicationFields, {
  section: 'general',
  gives: 'nothing',
  isDescriptive: true,
  isFreeText: true,
  isRequired: true,
  isHalf: true,
});
const webUri = typedAddress(2048).superRefine(faultFrom(webUriFault)).meta(webUriSchema);
const redirectUri = typedAddress(2048).meta(redirectUriSchema);
const httpsUri = typedAddress(2048)
  .superRefine(faultFrom(httpsUriFault))
  .meta({ ...webUriSchema, allOf: [{ pattern: '^https:' }] });
const origin = typedAddress(255).superRefine(faultFrom(originFault)).meta(originSchema);
const scopes = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/, rule('scopes'));
const email = z.string().regex(/^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*$/, rule('email'));
const uniqueList = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .refine((list) => new Set(list).size === list.length, rule('unique'))
    .meta({ uniqueItems: true });

const jwks = z.object({
  keys: z
    .array(
      z
        .looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) })
        .refine((key) => !('d' in key || 'k' in key), rule('public-key')),
    )
    .min(1),
});

export const clientId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, rule('visible-ascii'));

/** At least 256 bits, because it may be the key of an HMAC (RFC 7518 3.2). */
export const clientSecret = z
  .string()
  .max(512)
  .regex(visible, rule('printable-ascii'))
  .refine((value) => Buffer.byteLength(value) >= limits.symmetricKey.minBytes, rule('min-bytes'))
  .meta({ minLength: limits.symmetricKey.minBytes });

/** Who may open an application, OIDC or SAML. */
const access = z.union(
  [
    z.literal('everyone'),
    z
      .strictObject({ roles: uniqueList(line).default([]), groups: uniqueList(line).min(1).optional() })
      .refine(({ roles, groups = [] }) => roles.length + groups.length > 0, rule('access')),
  ],
  rule('access'),
);
export const accessField = {
  access: access
    .default('everyone')
    .describe(
      'who can open it; `{ roles: [editor], groups: [Lab] }`: who has one of these roles or is in one of these groups',
    )
    .register(applicationFields, { section: 'who', gives: 'access' }),
};
export const consent = z.enum(['explicit', 'implicit']);

/** The connections whose users may sign in, and whether a password or passkey of this server is accepted. */
export const signInFields = {
  connections: z
    .union([z.literal('all'), uniqueList(z.string().min(1).max(64)).max(100)], rule('connections'))
    .optional()
    .describe('the [connections](connections.md) whose users can sign in, even in a session that began elsewhere')
    .register(applicationFields, { section: 'where', gives: 'nothing' }),
  local_sign_in: z
    .boolean()
    .optional()
    .describe('`false`: only connections are accepted')
    .register(applicationFields, { section: 'where', gives: 'nothing', switch: { off: false } }),
};

/**
 * How strongly users must sign in whatever the settings say, how long a sign-in lasts for the application, and from where it may be used.
 * Of a lifetime and the setting of its name the shorter counts.
 */
export const useFields = {
  mfa: z
    .enum(['required', 'phishing-resistant'])
    .optional()
    .describe('users of this application need a second factor, or a passkey, whatever the settings say')
    .register(applicationFields, { section: 'requirements', gives: 'nothing' }),
  session_hours: settingSchemas.session_hours
    .unwrap()
    .optional()
    .describe('after that many hours it needs a new sign-in, while the session goes on for others')
    .register(applicationFields, { section: 'requirements', gives: 'nothing', unit: 'hours' }),
  allowed_networks: uniqueList(network)
    .min(1)
    .max(100)
    .optional()
    .describe('networks from which it may be used, by people and by its server that redeems codes and refreshes tokens')
    .register(applicationFields, { section: 'requirements', gives: 'nothing' }),
};

/** What goes to `applications.metadata`. */
export const oidcMetadata = z.strictObject({
  profile: z
    .enum(securityProfiles)
    .optional()
    .describe('FAPI 2.0: sets many of the keys below, see [security profiles](#security-profiles)')
    .register(applicationFields, { section: 'client-auth', gives: 'nothing' }),
  // The names of OpenID Connect Dynamic Client Registration, and those of this server for what the standard lacks.
  client_uri: webUri
    .optional()
    .describe('home page, which the app list opens and the consent page displays')
    .register(applicationFields, { section: 'general', gives: 'nothing', isRegistrable: true, isHalf: true }),
  logo_uri: webUri
    .optional()
    .describe('picture, read once and [served from here](branding.md#pictures-of-applications)')
    .register(applicationFields, {
      section: 'general',
      gives: 'nothing',
      isRegistrable: true,
      isDescriptive: true,
      isHalf: true,
    }),
  initiate_login_uri: httpsUri
    .optional()
    .describe('URL of the application that starts a sign-in')
    .register(applicationFields, { section: 'general', gives: 'nothing', isRegistrable: true, isHalf: true }),
  policy_uri: webUri
    .optional()
    .describe('privacy policy, linked on the consent page')
    .register(applicationFields, { section: 'general', gives: 'nothing', isRegistrable: true, isHalf: true }),
  tos_uri: webUri
    .optional()
    .describe('terms of service, linked on the consent page')
    .register(applicationFields, { section: 'general', gives: 'nothing', isRegistrable: true, isHalf: true }),
  ...presetField,
  contacts: uniqueList(email)
    .optional()
    .describe('addresses of the people who run it')
    .register(applicationFields, { section: 'general', gives: 'nothing', isRegistrable: true, isDescriptive: true }),
  application_type: z
    .enum(['web', 'native'])
    .default('web')
    .describe(
      '`native` allows redirects to `http` on loopback addresses and `*.localhost` with any port, and to private schemes',
    )
    .register(applicationFields, { section: 'general', gives: 'nothing', isRegistrable: true }),
  redirect_uris: uniqueList(redirectUri)
    .default([])
    .describe(
      'where codes may be sent, compared character by character: https, or http on a loopback address, `localhost` or `*.localhost`',
    )
    .register(applicationFields, { section: 'urls', gives: 'nothing', isRegistrable: true }),
  post_logout_redirect_uris: uniqueList(redirectUri)
    .default([])
    .describe('where a person may be sent after signing out')
    .register(applicationFields, { section: 'urls', gives: 'nothing', isRegistrable: true }),
  allowed_cors_origins: uniqueList(origin)
    .max(100)
    .optional()
    .describe(
      'origins of web views and extensions that may read token, revocation and UserInfo answers, beside those of `redirect_uris`: `capacitor://localhost`, `chrome-extension://ID`. Of a confidential client UserInfo only',
    )
    .register(applicationFields, { section: 'urls', gives: 'nothing' }),
  backchannel_logout_uri: webUri
    .optional()
    .describe('gets a logout token when a session ends; without a fragment')
    .register(applicationFields, { section: 'urls', gives: 'nothing', isRegistrable: true }),
  backchannel_logout_session_required: z
    .boolean()
    .optional()
    .describe('`false`: logout tokens name the user (`sub`) only')
    .register(applicationFields, {
      section: 'urls',
      gives: 'nothing',
      isRegistrable: true,
      switch: { off: false },
    }),
  frontchannel_logout_uri: webUri
    .optional()
    .describe(
      'opened in a frame at a sign-out in the browser; on the scheme, host and port of a redirect URI. `backchannel_logout_uri` goes first',
    )
    .register(applicationFields, { section: 'urls', gives: 'nothing', isRegistrable: true }),
  frontchannel_logout_session_required: z
    .boolean()
    .optional()
    .describe('`false`: without `iss` and `sid`')
    .register(applicationFields, { section: 'urls', gives: 'nothing', isRegistrable: true, switch: { off: false } }),
  grant_types: uniqueList(grantType)
    .min(1)
    .default(['authorization_code'])
    .describe('how it gets tokens; `refresh_token` allows access while the person is away (`offline_access`)')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', isRegistrable: true }),
  response_types: z
    .array(z.literal('code', noImplicit))
    .max(1, noImplicit)
    .optional()
    .describe('follows from the grants; only the code flow exists')
    .register(applicationFields, { section: null, gives: 'nothing', isRegistrable: true }),
  response_modes: uniqueList(z.enum(responseModes))
    .min(1)
    .optional()
    .describe('default: all of them. With `jwt` the response is signed (JARM)')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', isRegistrable: true }),
  scope: scopes
    .optional()
    .describe(
      'the scopes it may request, separated by spaces; default: all OpenID Connect scopes, no API scopes. Also the scope of [a request without one](api.md#authorization)',
    )
    .register(applicationFields, { section: 'tokens', gives: 'nothing', isRegistrable: true }),
  resources: uniqueList(line)
    .optional()
    .describe('the APIs that it may request tokens for, with the scopes that `scope` names; default: none')
    .register(applicationFields, { section: 'tokens', gives: 'apis', options: 'apis' }),
  may_exchange: uniqueList(line)
    .min(1)
    .optional()
    .describe(
      'the APIs that it runs: it may [exchange tokens](agents.md#token-exchange) for them into tokens for its `resources`',
    )
    .register(applicationFields, { section: 'tokens', gives: 'apis', options: 'apis' }),
  id_jag_clients: z
    .record(line, clientId)
    .refine((value) => Object.keys(value).length > 0)
    .optional()
    .describe(
      'its client ID at authorization servers elsewhere, for [identity assertions](agents.md#enterprise-managed-authorization): `{ https://auth.partner.example: crm }`. Each is an API here, among its `resources`',
    )
    .register(applicationFields, { section: 'tokens', gives: 'apis' }),
  access_token_minutes: settingSchemas.access_token_minutes
    .unwrap()
    .optional()
    .describe('only shortens the setting')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', unit: 'minutes', isHalf: true }),
  refresh_token_days: settingSchemas.refresh_token_days
    .unwrap()
    .optional()
    .describe('only shortens the setting')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', unit: 'days', isHalf: true }),
  default_max_age: z
    .int()
    .min(0)
    .optional()
    .describe('seconds after which people must sign in again')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', isRegistrable: true, unit: 'seconds' }),
  require_auth_time: z
    .boolean()
    .optional()
    .describe('ID tokens always contain `auth_time`')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', isRegistrable: true }),
  dpop_bound_access_tokens: z
    .boolean()
    .optional()
    .describe('every token must be bound to a key of the client (DPoP, RFC 9449)')
    .register(applicationFields, { section: 'tokens', gives: 'nothing', isRegistrable: true }),
  access_evaluation: z
    .enum(['own_users', 'all_users'])
    .optional()
    .describe('whose access it may [evaluate](api.md#access-evaluation); default: users who have signed in to it')
    .register(applicationFields, { section: 'tokens', gives: 'evaluation', switch: { on: 'all_users' } }),
  require_pkce: z
    .boolean()
    .optional()
    .describe("`false`: only for confidential software that can't send PKCE; the console and `gatehouse doctor` warn")
    .register(applicationFields, { section: 'signing', gives: 'nothing', switch: { off: false } }),
  require_pushed_authorization_requests: z
    .boolean()
    .optional()
    .describe('rejects authorization requests that were not pushed (RFC 9126)')
    .register(applicationFields, { section: 'signing', gives: 'nothing', isRegistrable: true }),
  require_signed_request_object: z
    .boolean()
    .optional()
    .describe('rejects authorization requests without a signed request object')
    .register(applicationFields, { section: 'signing', gives: 'nothing', isRegistrable: true }),
  request_object_signing_alg: z
    .enum(assertionAlgs)
    .optional()
    .describe('algorithm of its request objects (RFC 9101)')
    .register(applicationFields, { section: 'signing', gives: 'nothing', isRegistrable: true, isHalf: true }),
  id_token_signed_response_alg: z
    .enum(idTokenAlgs)
    .default('RS256')
    .describe('`HS256` signs with the client secret')
    .register(applicationFields, {
      section: 'signing',
      gives: 'nothing',
      isRegistrable: true,
      options: 'signing algorithms',
      isHalf: true,
    }),
  userinfo_signed_response_alg: z
    .enum(idTokenAlgs)
    .optional()
    .describe('the UserInfo endpoint responds with a signed JWT')
    .register(applicationFields, {
      section: 'signing',
      gives: 'nothing',
      isRegistrable: true,
      options: 'signing algorithms',
      isHalf: true,
    }),
  authorization_signed_response_alg: z
    .enum(keyAlgs)
    .optional()
    .describe('for signed responses (JARM); default: `RS256`')
    .register(applicationFields, {
      section: 'signing',
      gives: 'nothing',
      isRegistrable: true,
      options: 'signing algorithms',
      isHalf: true,
    }),
  introspection_signed_response_alg: z
    .enum(keyAlgs)
    .optional()
    .describe('for signed introspection responses (RFC 9701)')
    .register(applicationFields, {
      section: 'signing',
      gives: 'nothing',
      isRegistrable: true,
      options: 'signing algorithms',
      isHalf: true,
    }),
  ...useFields,
  default_acr_values: uniqueList(z.enum(acrValues))
    .optional()
    .describe('the strength of sign-in that it needs if a request names none')
    .register(applicationFields, { section: 'requirements', gives: 'nothing', isRegistrable: true }),
  ...signInFields,
  ask_group: z
    .boolean()
    .optional()
    .describe(
      '`true`: each sign-in is for one of the [groups](groups.md#one-group-for-a-sign-in) of the user, who chooses; default: for all',
    )
    .register(applicationFields, { section: 'requirements', gives: 'nothing' }),
  claims: ownClaims
    .optional()
    .describe(
      'claims for this client only: `{ groups: roles, dept: { field: attributes.department, scope: hr } }`. One with a `scope` needs it to be requested and granted; a new scope name needs consent',
    )
    .register(applicationFields, { section: 'claims', gives: 'user fields' }),
  id_token_claims: z
    .enum(['always', 'conform'])
    .optional()
    .describe(
      '`conform`: claims of scopes are at UserInfo only (Core 5.4), except with an access token for an API; default: in ID tokens too',
    )
    .register(applicationFields, { section: 'claims', gives: 'nothing', switch: { off: 'conform' } }),
  subject_type: z
    .enum(['public', 'pairwise'])
    .default('public')
    .describe('`pairwise`: each client gets a different `sub`')
    .register(applicationFields, { section: 'subject', gives: 'nothing', isRegistrable: true }),
  sector_identifier_uri: httpsUri
    .optional()
    .describe('for `pairwise` with redirect URIs on several hosts')
    .register(applicationFields, { section: 'subject', gives: 'nothing', isRegistrable: true }),
  ...viewFields,
  ...provisionField,
  token_endpoint_auth_method: z
    .enum(authMethods)
    .default('client_secret_basic')
    .describe('how it authenticates at the token endpoint; `none` is for browser and mobile applications')
    .register(applicationFields, { section: 'client-auth', gives: 'nothing', isRegistrable: true }),
  token_endpoint_auth_signing_alg: z
    .enum(assertionAlgs)
    .optional()
    .describe(
      'for `private_key_jwt` and `client_secret_jwt`. `Ed25519` (RFC 9864) and `EdDSA` are one algorithm: the JWT must use the name that is set',
    )
    .register(applicationFields, { section: 'client-auth', gives: 'nothing', isRegistrable: true }),
  jwks_uri: webUri
    .optional()
    .describe('where its public keys are read from')
    .register(applicationFields, { section: 'public-keys', gives: 'nothing', isRegistrable: true }),
  jwks: jwks
    .optional()
    .describe('its public keys')
    .register(applicationFields, { section: 'public-keys', gives: 'nothing', isRegistrable: true }),
});
export type OidcMetadata = z.output<typeof oidcMetadata>;

/** The whole entry of `clients:` in the configuration file. */
export const oidcClient = z.strictObject({
  client_id: clientId
    .describe('identifies the client in the protocol; never changes')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  client_secret: clientSecret
    .optional()
    .describe('letters, digits, `-` and `_` (`openssl rand -hex 32`). Without it, the existing secret stays')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  client_name: displayName
    .optional()
    .describe('the name that people see; default: the `client_id`')
    .register(applicationFields, {
      section: 'general',
      gives: 'nothing',
      isDescriptive: true,
      isFreeText: true,
      isRequired: true,
      isHalf: true,
    }),
  enabled: z
    .boolean()
    .default(true)
    .describe('`false` rejects every request of this client')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  consent: consent
    .default('explicit')
    .describe(
      '`implicit` never asks, for your own applications. For permissions in Gatehouse, people are asked unless this file declares the application',
    )
    .register(applicationFields, { section: 'consent', gives: 'nothing', switch: { on: 'explicit', off: 'implicit' } }),
  ...accessField,
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
export function signsUsersIn({ grant_types: grants }: OidcMetadata): boolean {
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
  return {
    ...fieldsIn(oidcMetadata, withoutToken(client)),
    response_types: client.grant_types.includes('authorization_code') ? ['code'] : [],
  };
}

/** The fields that a client metadata document decides, also as it changes; an administrator decides the others. */
export const documentFields: readonly string[] = [
  'client_name',
  'redirect_uris',
  'application_type',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  'token_endpoint_auth_signing_alg',
  'jwks',
  'jwks_uri',
  'dpop_bound_access_tokens',
];
