// The rules that involve several fields of one OIDC client (RFC 7591 2, OpenID Connect Dynamic Client Registration 2).

import { at, type Fault, fault } from '../base/texts/faults.ts';
import { claimsByScope } from '../people/accounts/claims.ts';
import { claimSources, permissionFilterFaults } from './fields/claim-settings.ts';
import { clientKeyFaults, hasKeyFor, signingAlgs } from './fields/client-keys.ts';
import {
  confidentialGrants,
  deviceCodeGrant,
  type OidcMetadata,
  tokenExchangeGrant,
  usesSecret,
} from './fields/oidc-client.ts';
import { provisionFaults } from './fields/provisioning.ts';
import { profileFaults } from './security-profile.ts';
import { redirectUriFault } from './uris.ts';

const hmacFields = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'request_object_signing_alg',
] as const;

const interactiveGrants: readonly string[] = ['authorization_code', deviceCodeGrant];

type Client = OidcMetadata & { client_secret?: string | undefined };

/** Rules that involve several fields of one client. */
export function oidcRules(client: Client): Fault[] {
  return [
    ...profileFaults(client),
    ...redirectUriFaults(client),
    ...grantFaults(client),
    ...secretFaults(client),
    ...keyFaults(client),
    ...scopeFaults(client),
    ...logoutFaults(client),
    ...subjectFaults(client),
    ...permissionFilterFaults(client),
    ...provisionFaults(client),
  ];
}

function redirectUriFaults(client: Client): Fault[] {
  return (['redirect_uris', 'post_logout_redirect_uris'] as const).flatMap((field) =>
    client[field].flatMap((uri, index) => {
      const found = redirectUriFault(uri, client.application_type);
      return found ? at([field, index], [found]) : [];
    }),
  );
}

/** Grants, response types and the fields that they need. */
function grantFaults(client: Client): Fault[] {
  const faults: Fault[] = [];
  const grants = new Set<string>(client.grant_types);
  const codeFlow = grants.has('authorization_code');
  if (codeFlow && client.redirect_uris.length === 0) faults.push(fault(['redirect_uris'], 'code-needs-uri'));
  if (client.response_types?.length === 0 && codeFlow) faults.push(fault(['response_types'], 'code-response'));
  if (client.response_types?.length && !codeFlow) faults.push(fault(['response_types'], 'no-response'));
  if (grants.has('refresh_token') && !codeFlow && !grants.has(deviceCodeGrant))
    faults.push(fault(['grant_types'], 'refresh-needs-grant'));
  const isPublic = client.token_endpoint_auth_method === 'none';
  const proving = confidentialGrants.find((grant) => grants.has(grant));
  if (proving !== undefined && isPublic)
    faults.push(fault(['token_endpoint_auth_method'], 'grant-auth', { grant: proving }));
  for (const field of ['may_exchange', 'id_jag_clients'] as const)
    if (client[field] && !grants.has(tokenExchangeGrant))
      faults.push(fault([field], 'needs-grant', { grant: tokenExchangeGrant }));
  if (client.require_pkce === false && isPublic) {
    faults.push(fault(['require_pkce'], 'public-pkce'));
  }
  return faults;
}

function secretFaults(client: Client): Fault[] {
  if (usesSecret(client)) return [];
  const faults: Fault[] = [];
  if (client.client_secret !== undefined) {
    const method = client.token_endpoint_auth_method;
    faults.push(fault(['client_secret'], 'unused-secret', { key: 'token_endpoint_auth_method', method }));
  }
  for (const field of hmacFields) {
    if (client[field] === 'HS256') faults.push(fault([field], 'hs256-needs-secret'));
  }
  return faults;
}

/** The client's own keys, and the algorithm of its assertions. */
function keyFaults(client: Client): Fault[] {
  const faults: Fault[] = [];
  const { jwks, jwks_uri, request_object_signing_alg: requestAlg, token_endpoint_auth_method: method } = client;
  if (jwks !== undefined) faults.push(...at(['jwks', 'keys'], clientKeyFaults(jwks)));
  if (jwks !== undefined && jwks_uri !== undefined) faults.push(fault(['jwks_uri'], 'not-with', { key: 'jwks' }));
  const needsKeys = method === 'private_key_jwt' || (requestAlg !== undefined && requestAlg !== 'HS256');
  if (needsKeys && jwks === undefined && jwks_uri === undefined) {
    const reason = method === 'private_key_jwt' ? 'private_key_jwt' : 'request_object_signing_alg';
    faults.push(fault(['jwks'], 'needs-keys', { reason, key: 'jwks', other: 'jwks_uri' }));
  }
  // Keys at a jwks_uri change without a registration, so only `jwks` is checked.
  const missing = jwks && signingUses(client).find(({ algs }) => !hasKeyFor(jwks, algs));
  if (missing) {
    const [one = '', ...more] = missing.algs;
    faults.push(more.length === 0 ? fault(['jwks'], 'no-key-for', { alg: one }) : fault(['jwks'], 'no-signing-key'));
  }
  const alg = client.token_endpoint_auth_signing_alg;
  const algFits = method === 'client_secret_jwt' ? alg === 'HS256' : method === 'private_key_jwt' && alg !== 'HS256';
  if (alg !== undefined && !algFits)
    faults.push(
      fault(['token_endpoint_auth_signing_alg'], 'alg-method', { key: 'token_endpoint_auth_method', method }),
    );
  return faults;
}

/** Which algorithms the client signs with, and for what; HMACs are made with its secret. */
export function signingUses(client: Partial<OidcMetadata>): { use: 'authentication' | 'requests'; algs: string[] }[] {
  const { token_endpoint_auth_method: method, token_endpoint_auth_signing_alg: authentication } = client;
  const { request_object_signing_alg: requests } = client;
  return [
    ...(method === 'private_key_jwt'
      ? [{ use: 'authentication' as const, algs: authentication ? [authentication] : signingAlgs }]
      : []),
    ...(requests !== undefined && requests !== 'HS256' ? [{ use: 'requests' as const, algs: [requests] }] : []),
  ];
}

/** OpenID Connect Core 3.1.2.1: claims about a user are requested with `openid`, which the list of scopes would reject. */
function scopeFaults({ scope, grant_types }: Client): Fault[] {
  const scopes = scope?.split(' ') ?? [];
  const ofUsers = scopes.some((one) => Object.hasOwn(claimsByScope, one));
  const isInteractive = grant_types.some((grant) => interactiveGrants.includes(grant));
  return ofUsers && isInteractive && !scopes.includes('openid') ? [fault(['scope'], 'include-openid')] : [];
}

function logoutFaults(client: Client): Fault[] {
  const { backchannel_logout_uri: back, frontchannel_logout_uri: front } = client;
  const faults: Fault[] = [];
  // Back-Channel Logout 1.0, 2.2.
  if (back?.includes('#')) faults.push(fault(['backchannel_logout_uri'], 'no-fragment'));
  // Front-Channel Logout 1.0, 2: the scheme, host and port of a redirect URI.
  if (front !== undefined && !client.redirect_uris.some((uri) => isSameOrigin(uri, front)))
    faults.push(fault(['frontchannel_logout_uri'], 'redirect-origin'));
  return faults;
}

function isSameOrigin(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [first, second] = [new URL(one), new URL(other)];
  return first.protocol === second.protocol && first.host === second.host;
}

/** The subject and the claims that the client receives. */
function subjectFaults(client: Client): Fault[] {
  const faults: Fault[] = [];
  const isPairwise = client.subject_type === 'pairwise';
  const usesDevices = (client.grant_types as readonly string[]).includes(deviceCodeGrant);
  if (isPairwise && client.sector_identifier_uri === undefined) {
    const hosts = new Set(client.redirect_uris.filter((uri) => URL.canParse(uri)).map((uri) => new URL(uri).host));
    const hasTwoSectors = usesDevices && client.grant_types.includes('authorization_code');
    if (hosts.size > 1 || hasTwoSectors) faults.push(fault(['sector_identifier_uri'], 'needs-sector'));
  }
  const allowed = client.scope?.split(' ');
  for (const { claim, field, scope } of claimSources(client.claims)) {
    if (isPairwise && (field === 'sub' || field === 'id')) faults.push(fault(['claims', claim], 'pairwise-subject'));
    if (scope !== undefined && allowed !== undefined && !allowed.includes(scope))
      faults.push(fault(['claims', claim], 'claim-scope', { scope }));
  }
  // oidc-provider: a device client has no redirect URI, so only the URI of its key set can determine the sector.
  const hasKeySet = client.token_endpoint_auth_method === 'private_key_jwt' && client.jwks_uri !== undefined;
  if (isPairwise && usesDevices && !hasKeySet) faults.push(fault(['subject_type'], 'pairwise-device'));
  return faults;
}
