// The rules between the fields of one OIDC client (RFC 7591 2, OpenID Connect Dynamic Client Registration 2).

import type { Fault } from '../platform/faults.ts';
import { claimSources } from './fields/claim-settings.ts';
import { deviceCodeGrant, type OidcMetadata, usesSecret } from './fields/oidc-client.ts';
import { profileFaults } from './security-profile.ts';
import { redirectUriFault } from './uris.ts';

const hmacFields = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'request_object_signing_alg',
] as const;

/** Rules between the fields of one client. */
export function oidcRules(client: OidcMetadata & { client_secret?: string | undefined }): Fault[] {
  const faults: Fault[] = profileFaults(client);
  const reject = (field: string, message: string, ...more: number[]) =>
    faults.push({ path: [field, ...more], message });

  for (const field of ['redirect_uris', 'post_logout_redirect_uris'] as const) {
    for (const [index, uri] of client[field].entries()) {
      const wrong = redirectUriFault(uri, client.application_type);
      if (wrong !== undefined) reject(field, wrong, index);
    }
  }
  const grants = new Set<string>(client.grant_types);
  const method = client.token_endpoint_auth_method;
  const codeFlow = grants.has('authorization_code');
  if (codeFlow && client.redirect_uris.length === 0)
    reject('redirect_uris', 'missing: the authorization_code grant needs one');
  if (client.response_types?.length === 0 && codeFlow)
    reject('response_types', 'must be [code] with the authorization_code grant');
  if (client.response_types?.length && !codeFlow)
    reject('response_types', 'must be [] without the authorization_code grant');
  if (grants.has('refresh_token') && !codeFlow && !grants.has(deviceCodeGrant)) {
    reject('grant_types', 'refresh_token needs authorization_code or the device grant beside it');
  }
  if (grants.has('client_credentials') && method === 'none') {
    reject(
      'token_endpoint_auth_method',
      'must not be none: client_credentials is for applications that can prove who they are',
    );
  }

  if (client.require_pkce === false && method === 'none')
    reject('require_pkce', 'must not be false: a client without authentication is protected by PKCE alone');
  if (!usesSecret(client) && client.client_secret !== undefined) {
    reject('client_secret', `must not be set: nothing here uses it (token_endpoint_auth_method is ${method})`);
  }
  for (const field of hmacFields) {
    if (client[field] === 'HS256' && !usesSecret(client)) {
      reject(field, 'must not be HS256: that needs a shared secret (a client_secret_* method)');
    }
  }
  if (client.jwks !== undefined && client.jwks_uri !== undefined) reject('jwks_uri', 'must not be set beside jwks');
  const asymmetricRequests =
    client.request_object_signing_alg !== undefined && client.request_object_signing_alg !== 'HS256';
  if (
    (method === 'private_key_jwt' || asymmetricRequests) &&
    client.jwks === undefined &&
    client.jwks_uri === undefined
  ) {
    reject(
      'jwks',
      `missing: ${method === 'private_key_jwt' ? 'private_key_jwt' : 'request_object_signing_alg'} needs jwks or jwks_uri`,
    );
  }
  const alg = client.token_endpoint_auth_signing_alg;
  const algFits = method === 'client_secret_jwt' ? alg === 'HS256' : method === 'private_key_jwt' && alg !== 'HS256';
  if (alg !== undefined && !algFits)
    reject('token_endpoint_auth_signing_alg', `does not fit token_endpoint_auth_method ${method}`);

  if (client.subject_type === 'pairwise' && client.sector_identifier_uri === undefined) {
    const hosts = new Set(client.redirect_uris.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri).host));
    if (hosts.size > 1)
      reject('sector_identifier_uri', 'missing: pairwise subjects of several redirect hosts need one');
  }
  const allowed = client.scope?.split(' ');
  for (const { claim, field, scope } of claimSources(client.claims)) {
    if (client.subject_type === 'pairwise' && (field === 'sub' || field === 'id'))
      faults.push({ path: ['claims', claim], message: 'must not be the subject: this application gets pairwise ones' });
    if (scope !== undefined && allowed !== undefined && !allowed.includes(scope))
      faults.push({ path: ['claims', claim], message: `belongs to ${scope}, which is not in scope` });
  }
  // oidc-provider: a device has no redirect URI that would name the sector, only its key does.
  if (client.subject_type === 'pairwise' && grants.has(deviceCodeGrant) && method !== 'private_key_jwt') {
    reject('subject_type', 'pairwise with the device grant needs private_key_jwt');
  }
  return faults;
}
