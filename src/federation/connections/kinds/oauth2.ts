// The settings of an OAuth 2.0 upstream without OpenID Connect: the user is read from an API with the access token.

import { z } from 'zod';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import type { Fault } from '../../../base/platform/faults.ts';
import { lineUpTo } from '../../../base/platform/line-schema.ts';
import { commonHead, commonSettings, trustedEmail } from './common.ts';
import { claimPath, scope, secretValues, webUri } from './fields.ts';
import { extraParameters } from './oidc.ts';

export const oauth2Settings = {
  ...commonSettings,
  authorization_url: webUri,
  token_url: webUri,
  userinfo_url: webUri,
  emails_url: webUri.optional(), // a list of addresses with `primary` and `verified`, as at GitHub
  groups_url: webUri.optional(), // a list of groups, such as GitHub's organizations
  client_id: lineUpTo(1024),
  token_endpoint_auth_method: z
    .enum(['client_secret_basic', 'client_secret_post', 'none'])
    .default('client_secret_basic'),
  scopes: z.array(scope).max(50).default([]),
  pkce: z.boolean().default(true),
  issuer: webUri.optional(), // compared with `iss` of the response (RFC 9207) if the upstream sends it
  subject_claim: claimPath, // never the email address, which may change or be reused
  authorization_parameters: extraParameters,
  trusted_email: trustedEmail.default('never'),
  logout: z.literal('never').default('never'),
};

export const oauth2Entry = z.strictObject({
  ...commonHead,
  kind: z.literal('oauth2'),
  ...oauth2Settings,
  client_secret: secretValues.optional(),
});

export type OAuth2Settings = z.output<z.ZodObject<typeof oauth2Settings>>;

/** Rules that involve several fields. */
export function oauth2Rules(entry: z.output<typeof oauth2Entry>): Fault[] {
  const faults: Fault[] = [];
  if (/(^|\.)e?mail$/i.test(entry.subject_claim))
    faults.push({
      path: ['subject_claim'],
      message: faultMessage('subject-email'),
    });
  if (entry.required_for_domains && entry.domains.length === 0)
    faults.push({ path: ['required_for_domains'], message: faultMessage('needs-domains') });
  return faults;
}
