// The settings of an OpenID Connect upstream.

import { z } from 'zod';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import type { Fault } from '../../../base/platform/faults.ts';
import { line, lineUpTo } from '../../../base/platform/line-schema.ts';
import { commonHead, commonSettings, logout, trustedEmail } from './common.ts';
import { claimPath, issuerUrl, scope, secretValues, webUri } from './fields.ts';

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
  .refine((value) => !Object.keys(value).some((name) => ownParameters.test(name)), faultMessage('own-parameter'))
  .default({});

export const oidcSettings = {
  ...commonSettings,
  /** Contains `{tenantid}` for the preset entra with several tenants. */
  issuer: issuerUrl,
  discovery_url: webUri.optional(), // absent: at the issuer (OpenID Connect Discovery 4)
  client_id: lineUpTo(1024),
  token_endpoint_auth_method: z.enum(clientAuthMethods).default('client_secret_basic'),
  scopes: z.array(scope).max(50).default(['openid', 'profile', 'email']),
  pkce: z.boolean().default(true),
  nonce: z.boolean().default(true),
  response_mode: z.enum(['query', 'form_post']).default('query'),
  userinfo: z.boolean().default(true), // read the claims of the userinfo endpoint, too
  id_token_signing_algs: z.array(z.enum(signingAlgs)).min(1).default(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']),
  subject_claim: claimPath.default('sub'),
  authorization_parameters: extraParameters,
  tenant: lineUpTo(100).optional(), // Entra: the tenant in the issuer
  allowed_tenants: z.array(line).max(100).default([]), // Entra: accepted values of `tid`
  allowed_hosted_domains: z.array(line).max(100).default([]), // Google: accepted values of `hd`
  team_id: lineUpTo(40).optional(), // Apple
  key_id: lineUpTo(40).optional(), // Apple; also the kid of private_key_jwt
  trusted_email: trustedEmail.default('verified'),
  logout: logout.default('always'),
};

export const oidcEntry = z.strictObject({
  ...commonHead,
  kind: z.literal('oidc'),
  ...oidcSettings,
  client_secret: secretValues.optional(),
  private_key: secretValues.optional(), // PEM; of private_key_jwt and of Apple's secret
});

export type OidcSettings = z.output<z.ZodObject<typeof oidcSettings>>;

/** Rules that involve several fields. */
export function checkOidcFields(entry: z.output<typeof oidcEntry>): Fault[] {
  const faults: Fault[] = [];
  const reject = (field: string, message: string) => faults.push({ path: [field], message });
  const checked = webUri.safeParse(entry.issuer.replace('{tenantid}', 'x'));
  if (!checked.success) reject('issuer', checked.error.issues[0]?.message ?? faultMessage('https-url'));
  else if (/[?#]/.test(entry.issuer)) reject('issuer', faultMessage('no-query'));
  if (entry.issuer.includes('{tenantid}')) {
    if (entry.preset !== 'entra') reject('issuer', faultMessage('one-issuer'));
    else if (entry.allowed_tenants.length === 0) reject('allowed_tenants', faultMessage('tenants'));
  }
  const isOneTenant = entry.tenant !== undefined && !SHARED_TENANTS.includes(entry.tenant);
  if (entry.preset === 'entra' && isOneTenant && !entry.issuer.split('/').includes(entry.tenant ?? ''))
    reject('tenant', faultMessage('tenant'));
  if (!entry.scopes.includes('openid')) reject('scopes', faultMessage('include-openid'));
  // LinkedIn supports neither, so the response is bound only to the browser.
  if (!entry.nonce && !entry.pkce && entry.preset !== 'linkedin') reject('pkce', faultMessage('pkce-or-nonce'));
  if (entry.required_for_domains && entry.domains.length === 0)
    reject('required_for_domains', faultMessage('needs-domains'));
  return faults;
}
