// The rules that involve several fields of one OIDC client (RFC 7591 2, OpenID Connect Dynamic Client Registration 2).

import { faultMessage } from '../platform/fault-messages.ts';
import { at, type Fault } from '../platform/faults.ts';
import { claimSources, permissionFilterFaults } from './fields/claim-settings.ts';
import { clientKeyFaults } from './fields/client-keys.ts';
import { deviceCodeGrant, type OidcMetadata, usesSecret } from './fields/oidc-client.ts';
import { profileFaults } from './security-profile.ts';
import { redirectUriFault } from './uris.ts';

const hmacFields = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'request_object_signing_alg',
] as const;

type Client = OidcMetadata & { client_secret?: string | undefined };

/** Rules that involve several fields of one client. */
export function oidcRules(client: Client): Fault[] {
  return [
    ...profileFaults(client),
    ...redirectUriFaults(client),
    ...grantFaults(client),
    ...secretFaults(client),
    ...keyFaults(client),
    ...subjectFaults(client),
    ...permissionFilterFaults(client),
  ];
}

const fault = (field: string, message: string): Fault => ({ path: [field], message });

function redirectUriFaults(client: Client): Fault[] {
  return (['redirect_uris', 'post_logout_redirect_uris'] as const).flatMap((field) =>
    client[field].flatMap((uri, index) => {
      const message = redirectUriFault(uri, client.application_type);
      return message === undefined ? [] : [{ path: [field, index], message }];
    }),
  );
}

/** Grants, response types and the fields that they need. */
function grantFaults(client: Client): Fault[] {
  const faults: Fault[] = [];
  const grants = new Set<string>(client.grant_types);
  const codeFlow = grants.has('authorization_code');
  if (codeFlow && client.redirect_uris.length === 0)
    faults.push(fault('redirect_uris', faultMessage('code-needs-uri')));
  if (client.response_types?.length === 0 && codeFlow)
    faults.push(fault('response_types', faultMessage('code-response')));
  if (client.response_types?.length && !codeFlow) faults.push(fault('response_types', faultMessage('no-response')));
  if (grants.has('refresh_token') && !codeFlow && !grants.has(deviceCodeGrant))
    faults.push(fault('grant_types', faultMessage('refresh-needs-grant')));
  const isPublic = client.token_endpoint_auth_method === 'none';
  if (grants.has('client_credentials') && isPublic) {
    const message = faultMessage('client-credentials-auth');
    faults.push(fault('token_endpoint_auth_method', message));
  }
  if (client.require_pkce === false && isPublic) {
    const message = faultMessage('public-pkce');
    faults.push(fault('require_pkce', message));
  }
  return faults;
}

function secretFaults(client: Client): Fault[] {
  if (usesSecret(client)) return [];
  const faults: Fault[] = [];
  if (client.client_secret !== undefined) {
    const method = client.token_endpoint_auth_method;
    const message = faultMessage('unused-secret', { key: 'token_endpoint_auth_method', method });
    faults.push(fault('client_secret', message));
  }
  for (const field of hmacFields) {
    if (client[field] === 'HS256') faults.push(fault(field, faultMessage('hs256-needs-secret')));
  }
  return faults;
}

/** The client's own keys, and the algorithm of its assertions. */
function keyFaults(client: Client): Fault[] {
  const faults: Fault[] = [];
  const { jwks, jwks_uri, request_object_signing_alg: requestAlg, token_endpoint_auth_method: method } = client;
  if (jwks !== undefined) faults.push(...at(['jwks', 'keys'], clientKeyFaults(jwks)));
  if (jwks !== undefined && jwks_uri !== undefined)
    faults.push(fault('jwks_uri', faultMessage('not-with', { key: 'jwks' })));
  const needsKeys = method === 'private_key_jwt' || (requestAlg !== undefined && requestAlg !== 'HS256');
  if (needsKeys && jwks === undefined && jwks_uri === undefined) {
    const reason = method === 'private_key_jwt' ? 'private_key_jwt' : 'request_object_signing_alg';
    faults.push(fault('jwks', faultMessage('needs-keys', { reason, key: 'jwks', other: 'jwks_uri' })));
  }
  const alg = client.token_endpoint_auth_signing_alg;
  const algFits = method === 'client_secret_jwt' ? alg === 'HS256' : method === 'private_key_jwt' && alg !== 'HS256';
  if (alg !== undefined && !algFits)
    faults.push(
      fault(
        'token_endpoint_auth_signing_alg',
        faultMessage('alg-method', { key: 'token_endpoint_auth_method', method }),
      ),
    );
  return faults;
}

/** The subject and the claims that the client receives. */
function subjectFaults(client: Client): Fault[] {
  const faults: Fault[] = [];
  const isPairwise = client.subject_type === 'pairwise';
  if (isPairwise && client.sector_identifier_uri === undefined) {
    const hosts = new Set(client.redirect_uris.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri).host));
    if (hosts.size > 1) faults.push(fault('sector_identifier_uri', faultMessage('needs-sector')));
  }
  const allowed = client.scope?.split(' ');
  for (const { claim, field, scope } of claimSources(client.claims)) {
    if (isPairwise && (field === 'sub' || field === 'id'))
      faults.push({
        path: ['claims', claim],
        message: faultMessage('pairwise-subject'),
      });
    if (scope !== undefined && allowed !== undefined && !allowed.includes(scope))
      faults.push({ path: ['claims', claim], message: faultMessage('claim-scope', { scope }) });
  }
  // oidc-provider: a device client has no redirect URI, so only its key set can determine the sector.
  const usesDevices = (client.grant_types as readonly string[]).includes(deviceCodeGrant);
  if (isPairwise && usesDevices && client.token_endpoint_auth_method !== 'private_key_jwt')
    faults.push(fault('subject_type', faultMessage('pairwise-device')));
  return faults;
}
