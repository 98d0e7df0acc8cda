// Roles and permissions in JWT access tokens (RFC 9068 2.2.3): those that are visible to the application, when the user has
// granted the scopes `roles` and `permissions`. Opaque tokens hold none, because their reader uses introspection.
import type { KoaContextWithOIDC } from '../engine/library.ts';

interface IssuedToken {
  kind: string;
  accountId?: string;
  resourceServer?: { accessTokenFormat?: string };
}

const BY_SCOPE = ['roles', 'permissions'] as const;

/** oidc-provider's `extraTokenClaims`. */
export async function extraTokenClaims(
  { oidc }: KoaContextWithOIDC,
  issued: unknown,
): Promise<Record<string, unknown> | undefined> {
  const token = issued as IssuedToken;
  const { Grant: grant, AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities;
  const source = AuthorizationCode ?? RefreshToken ?? DeviceCode;
  if (token.kind !== 'AccessToken' || token.resourceServer?.accessTokenFormat !== 'jwt' || !grant || !source) {
    return undefined;
  }
  const allowed = grant.getOIDCScopeFiltered(source.scopes).split(' ');
  const wanted = BY_SCOPE.filter((scope) => allowed.includes(scope));
  if (wanted.length === 0 || !oidc.account) return undefined;
  const claims = await oidc.account.claims('access_token', wanted.join(' '), {}, []);
  return Object.fromEntries(wanted.map((scope) => [scope, claims[scope]]));
}
