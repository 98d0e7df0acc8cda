// Rules that came after earlier versions had stored clients. A value that is stored stays as it is, the configuration file gets a warning,
// and everything else is rejected.
import { claimsByScope } from '../../accounts/claims.ts';
import { faultMessage } from '../../platform/fault-messages.ts';
import type { Fault } from '../../platform/faults.ts';
import { hasKeyFor, signingAlgs } from '../fields/client-keys.ts';
import { deviceCodeGrant, type OidcMetadata } from '../fields/oidc-client.ts';

const interactiveGrants: readonly string[] = ['authorization_code', deviceCodeGrant];

/** Every fault, whatever is stored. */
export function laterFaults(client: OidcMetadata): Fault[] {
  return [...keyFaults(client), ...scopeFaults(client), ...logoutFaults(client)];
}

/** Those that `before` did not have already with the same value. */
export function newLaterFaults(client: OidcMetadata, before: OidcMetadata | undefined): Fault[] {
  const faults = laterFaults(client);
  if (!before || faults.length === 0) return faults;
  const idOf = ({ path, message }: Fault) => JSON.stringify([path, message]);
  const known = new Set(laterFaults(before).map(idOf));
  const isStored = (field: keyof OidcMetadata) => JSON.stringify(before[field]) === JSON.stringify(client[field]);
  return faults.filter((fault) => !(known.has(idOf(fault)) && isStored(fault.path[0] as keyof OidcMetadata)));
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

/** Whether a key fits each signature of the client. Those of a jwks_uri change without a registration. */
function keyFaults(client: OidcMetadata): Fault[] {
  const { jwks } = client;
  if (jwks === undefined) return [];
  const missing = signingUses(client).find(({ algs }) => !hasKeyFor(jwks, algs));
  if (!missing) return [];
  const [alg = '', ...more] = missing.algs;
  return [
    {
      path: ['jwks'],
      message: more.length === 0 ? faultMessage('no-key-for', { alg }) : faultMessage('no-signing-key'),
    },
  ];
}

/** OpenID Connect Core 3.1.2.1: claims about a user are requested with `openid`, which the list of scopes would reject. */
function scopeFaults({ scope, grant_types }: OidcMetadata): Fault[] {
  const scopes = scope?.split(' ') ?? [];
  const ofUsers = scopes.some((one) => Object.hasOwn(claimsByScope, one));
  const isInteractive = grant_types.some((grant) => interactiveGrants.includes(grant));
  if (!ofUsers || !isInteractive || scopes.includes('openid')) return [];
  return [{ path: ['scope'], message: faultMessage('include-openid') }];
}

function logoutFaults(client: OidcMetadata): Fault[] {
  const { backchannel_logout_uri: back, frontchannel_logout_uri: front } = client;
  const faults: Fault[] = [];
  // Back-Channel Logout 1.0, 2.2.
  if (back?.includes('#')) faults.push({ path: ['backchannel_logout_uri'], message: faultMessage('no-fragment') });
  // Front-Channel Logout 1.0, 2: the scheme, host and port of a redirect URI.
  if (front !== undefined && !client.redirect_uris.some((uri) => isSameOrigin(uri, front)))
    faults.push({ path: ['frontchannel_logout_uri'], message: faultMessage('redirect-origin') });
  return faults;
}

function isSameOrigin(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [first, second] = [new URL(one), new URL(other)];
  return first.protocol === second.protocol && first.host === second.host;
}
