// The scopes that the engine knows: those for claims about users. All others belong to APIs.

import { ownScopes } from '../../../applications/fields/claim-settings.ts';
import type { OidcMetadata } from '../../../applications/fields/oidc-client.ts';
import { languagesOf } from '../../../base/http/pages/language.ts';
import { claimsByScope } from '../../../people/accounts/claims.ts';
import { type RequestedLanguages, taggableClaims, taggedName } from '../../../people/accounts/tagged-values.ts';

export const engineScopes: readonly string[] = ['offline_access', ...Object.keys(claimsByScope)];

/** The scopes with which this client learns something about a user: those of OpenID Connect, and its own. */
export function userScopes(metadata: Pick<Partial<OidcMetadata>, 'claims' | 'scope'>): string[] {
  return [...Object.keys(claimsByScope), ...ownScopes(metadata)];
}

/**
 * The part of a client's registered `scope` that the engine gets: it rejects a client with a scope that it does not know,
 * and the scopes of an API are checked when the API is requested (resource-servers.ts). Without any it is `openid`, because
 * an empty scope would allow all of them.
 */
export function engineScope(scope: string): string {
  const known = scope.split(' ').filter((one) => engineScopes.includes(one));
  return known.join(' ') || 'openid';
}

// Claims in other languages (OpenID Connect Core 5.2). The engine stores the parameter `claims` with codes and tokens, but not
// `claims_locales`, so it is stored as a member of `claims`. Members that are not understood are ignored (5.5).

const MEMBER = 'claims_locales';
const USES = ['id_token', 'userinfo'] as const;

type Members = Record<string, unknown>;
const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

/** `claims` with a member of this server, in place of one that the client sent; undefined: without it. The engine demands `id_token` or `userinfo`. */
export function withClaimsMember(claims: object, name: string, value: string | undefined): object {
  const { [name]: _sent, ...others } = claims as Members;
  return value === undefined ? others : { id_token: {}, ...others, [name]: value };
}

/**
 * Adds `claims_locales` to the parameter `claims`, and the claim `name` for each `name#ja`, so that the user consents to the claim that the
 * engine knows. `params` are those of a checked request.
 */
export function recordRequestedLanguages(params: { claims?: unknown; claims_locales?: unknown }): void {
  const locales = languagesOf(params.claims_locales).join(' ');
  if (!locales && !String(params.claims ?? '').includes('#')) return;
  const sent = membersOf(params.claims === undefined ? {} : JSON.parse(String(params.claims)));
  const uses = USES.filter((use) => sent[use] !== undefined).map((use) => [use, withBases(membersOf(sent[use]))]);
  params.claims = JSON.stringify(
    withClaimsMember({ ...sent, ...Object.fromEntries(uses) }, MEMBER, locales || undefined),
  );
}

function withBases(claims: Members): Members {
  const bases = Object.entries(claims).flatMap(([name, value]) => {
    const base = taggedName(name)?.base;
    return base !== undefined && taggableClaims.has(base) && typeof value === 'object' ? [[base, null] as const] : [];
  });
  return { ...Object.fromEntries(bases), ...claims };
}

/** The languages that the request of a code or token asked for; undefined for none. */
export function requestedLanguages(token: object | undefined, use: string): RequestedLanguages | undefined {
  const claims = membersOf((token as { claims?: unknown } | undefined)?.claims);
  const locales = languagesOf(claims[MEMBER]);
  const names = Object.keys(membersOf(claims[use])).filter((name) => name.includes('#'));
  return locales.length === 0 && names.length === 0 ? undefined : { locales, names };
}
