// The settings of an OAuth 2.0 upstream without OpenID Connect: the user is read from an API with the access token.

import { z } from 'zod';
import { lineUpTo } from '../../../base/schemas/line-schema.ts';
import { type Fault, fault } from '../../../base/texts/faults.ts';
import { commonHead, commonSettings, trustedEmail } from './common.ts';
import { claimPath, inSection, scope, secretValues, webUri } from './fields.ts';
import { extraParameters } from './oidc.ts';

export const oauth2Settings = {
  ...commonSettings,
  ...inSection('upstream', {
    authorization_url: webUri.describe('where the browser is sent'),
    token_url: webUri.describe('the token endpoint (RFC 6749 3.2)'),
    userinfo_url: webUri.describe('returns the user as JSON for the access token'),
    emails_url: webUri.optional().describe('a list of addresses with `primary` and `verified`, as at GitHub'),
    groups_url: webUri
      .optional()
      .describe('a list of groups; `groups_claim` is then the field that names one (default `name`)'),
    client_id: lineUpTo(1024).describe('as the provider issued it'),
    token_endpoint_auth_method: z
      .enum(['client_secret_basic', 'client_secret_post', 'none'])
      .default('client_secret_basic')
      .describe('how this server authenticates at the token endpoint'),
    scopes: z.array(scope).max(50).default([]).describe('as the provider names them'),
    pkce: z.boolean().default(true).describe('S256 (RFC 7636)'),
    issuer: webUri.optional().describe('compared with `iss` of the answer (RFC 9207)'),
    subject_claim: claimPath.describe('identifies the user, such as `id`; never the address'),
    authorization_parameters: extraParameters.describe('more parameters of the request'),
  }),
  ...inSection('users', {
    trusted_email: trustedEmail.default('never').describe('as for [oidc](#oidc)'),
  }),
  ...inSection('assurance', {
    logout: z.literal('never').default('never').describe('OAuth 2.0 has no logout'),
  }),
};

export const oauth2Entry = z.strictObject({
  ...commonHead,
  kind: z.literal('oauth2'),
  ...oauth2Settings,
  ...inSection(null, { client_secret: secretValues.optional().describe('as for [oidc](#oidc)') }),
});

export type OAuth2Settings = z.output<z.ZodObject<typeof oauth2Settings>>;

/** Rules that involve several fields. */
export function oauth2Rules(entry: z.output<typeof oauth2Entry>): Fault[] {
  const faults: Fault[] = [];
  if (/(^|\.)e?mail$/i.test(entry.subject_claim)) faults.push(fault(['subject_claim'], 'subject-email'));
  if (entry.required_for_domains && entry.domains.length === 0)
    faults.push(fault(['required_for_domains'], 'needs-domains'));
  return faults;
}
