// The settings of an OpenID Connect upstream.

import { z } from 'zod';
import { line, lineUpTo } from '../../../base/schemas/line-schema.ts';
import { at, check, type Fault, fault, rule } from '../../../base/texts/faults.ts';
import { commonHead, commonSettings, logout, trustedEmail } from './common.ts';
import { claimPath, connectionFields, inSection, issuerUrl, scope, secretValues, webUri } from './fields.ts';

export const clientAuthMethods = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'none',
] as const;
const signingAlgs = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Entra: values of `tenant` that stand for several tenants; the issuer of each token names the real one. */
export const SHARED_TENANTS: readonly string[] = ['common', 'organizations', 'consumers'];

/** Parameters of the authorization request that the server sets itself. */
const ownParameters =
  /^(client_id|redirect_uri|response_type|response_mode|scope|state|nonce|code_challenge|code_challenge_method|request|request_uri|max_age|prompt|login_hint|acr_values)$/;

/** Extra parameters of the authorization request, such as `audience` or `hd`. */
export const extraParameters = z
  .record(z.string().regex(/^[\w.-]{1,64}$/), lineUpTo(1024))
  .refine((value) => !Object.keys(value).some((name) => ownParameters.test(name)), rule('own-parameter'))
  .default({});

export const oidcSettings = {
  ...commonSettings,
  ...inSection('upstream', {
    issuer: issuerUrl.describe('compared character by character; a slash at the end counts'),
    discovery_url: webUri.optional().describe('default: `/.well-known/openid-configuration` below the issuer'),
    client_id: lineUpTo(1024).describe('as the provider issued it'),
    token_endpoint_auth_method: z
      .enum(clientAuthMethods)
      .default('client_secret_basic')
      .describe('how this server authenticates at the token endpoint'),
    scopes: z.array(scope).max(50).default(['openid', 'profile', 'email']).describe('`openid` must be among them'),
    pkce: z.boolean().default(true).describe('S256 (RFC 7636)'),
    nonce: z.boolean().default(true).describe('`nonce` or `pkce` must stay on, except for LinkedIn'),
    response_mode: z.enum(['query', 'form_post']).default('query').describe('`form_post` only for Apple and the like'),
    userinfo: z.boolean().default(true).describe('reads UserInfo too; its `sub` must equal that of the ID token'),
    id_token_signing_algs: z
      .array(z.enum(signingAlgs))
      .min(1)
      .default(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])
      .describe('never `none` or shared keys'),
    subject_claim: claimPath
      .default('sub')
      .describe('the claim that identifies the user at this issuer, never an address'),
    authorization_parameters: extraParameters.describe('more parameters of the request'),
    tenant: lineUpTo(100)
      .optional()
      .describe('Entra: the GUID of the directory, or `organizations` with `allowed_tenants`')
      .register(connectionFields, { section: 'upstream', vendor: '' }),
    allowed_tenants: z
      .array(line)
      .max(100)
      .default([])
      .describe('Entra: the tenants (`tid`) whose users may sign in')
      .register(connectionFields, { section: 'upstream', vendor: 'entra' }),
    allowed_hosted_domains: z
      .array(line)
      .max(100)
      .default([])
      .describe('Google: the Workspace domains (`hd`) whose users may sign in')
      .register(connectionFields, { section: 'upstream', vendor: 'google' }),
    team_id: lineUpTo(40)
      .optional()
      .describe('Apple: the team')
      .register(connectionFields, { section: 'upstream', vendor: 'apple' }),
    key_id: lineUpTo(40).optional().describe('Apple, and `private_key_jwt`: the ID of the private key'),
  }),
  ...inSection('users', {
    trusted_email: trustedEmail
      .default('verified')
      .describe(
        '`never`: confirmed here; `verified`: as `email_verified` says; `domains`: those of its proven domains',
      ),
  }),
  ...inSection('assurance', {
    logout: logout
      .default('always')
      .describe('whether a [logout](logout.md#upstream-identity-providers) here continues at the upstream'),
    security_events_audience: lineUpTo(1024)
      .optional()
      .describe('`aud` of the [security events](events.md#shared-signals) of the provider; absent: none are accepted'),
    accept_id_jag: z
      .boolean()
      .default(false)
      .describe(
        'believes its [identity assertions](agents.md#enterprise-managed-authorization) about linked people: clients get tokens without a page',
      ),
  }),
};

export const oidcEntry = z.strictObject({
  ...commonHead,
  kind: z.literal('oidc'),
  ...oidcSettings,
  ...inSection(null, {
    client_secret: secretValues.optional().describe('one value, or several with their ends, see [secrets](#secrets)'),
    private_key: secretValues.optional().describe('in PEM form, for Apple and `private_key_jwt`'),
  }),
});

export type OidcSettings = z.output<z.ZodObject<typeof oidcSettings>>;

/** Rules that involve several fields. */
export function checkOidcFields(entry: z.output<typeof oidcEntry>): Fault[] {
  const faults: Fault[] = [];
  const checked = check(webUri, entry.issuer.replace('{tenantid}', 'x'));
  if (!checked.ok) faults.push(...at(['issuer'], checked.faults.slice(0, 1)));
  else if (/[?#]/.test(entry.issuer)) faults.push(fault(['issuer'], 'no-query'));
  if (entry.issuer.includes('{tenantid}')) {
    if (entry.preset !== 'entra') faults.push(fault(['issuer'], 'one-issuer'));
    else if (entry.allowed_tenants.length === 0) faults.push(fault(['allowed_tenants'], 'tenants'));
  }
  const isOneTenant = entry.tenant !== undefined && !SHARED_TENANTS.includes(entry.tenant);
  if (entry.preset === 'entra' && isOneTenant && !entry.issuer.split('/').includes(entry.tenant ?? ''))
    faults.push(fault(['tenant'], 'tenant'));
  if (!entry.scopes.includes('openid')) faults.push(fault(['scopes'], 'include-openid'));
  // LinkedIn supports neither, so the response is bound only to the browser.
  if (!entry.nonce && !entry.pkce && entry.preset !== 'linkedin') faults.push(fault(['pkce'], 'pkce-or-nonce'));
  if (entry.required_for_domains && entry.domains.length === 0)
    faults.push(fault(['required_for_domains'], 'needs-domains'));
  return faults;
}
