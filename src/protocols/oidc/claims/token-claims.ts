// Claims of access tokens beside the standard ones of the engine. Each names the sign-in behind it (acr, amr, auth_time;
// RFC 9068 2.2.1 and RFC 9470 6), for introspection where the token is opaque. JWT access tokens also hold roles and permissions
// (RFC 9068 2.2.3): those that are visible to the application, when the user has granted the scopes `roles` and `permissions`.
import { isInNetworks } from '../../../applications/access-decision.ts';
import { appContext } from '../engine/app-context.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';
import type { ClientSource } from '../store/clients.ts';
import { otherNetwork } from './find-account.ts';

interface IssuedToken {
  kind: string;
  accountId?: string;
  resourceServer?: { accessTokenFormat?: string };
}

/** Claims of JWT access tokens that have a scope of their name. */
export const BY_SCOPE = ['roles', 'permissions'] as const;

/** oidc-provider's `extraTokenClaims`. Rejects a client that gets a token for itself from outside of its networks. */
export function createExtraTokenClaims(clients: ClientSource) {
  return async (ctx: KoaContextWithOIDC, issued: unknown) => {
    const { client } = ctx.oidc;
    if ((issued as IssuedToken).kind !== 'ClientCredentials' || !client)
      return claimsOfUser(ctx, issued as IssuedToken);
    const application = await clients.applicationOf(client.clientId);
    const { address } = appContext(ctx).state.request;
    if (application && !isInNetworks(application, address)) throw otherNetwork(application, address);
    return undefined;
  };
}

async function claimsOfUser(
  { oidc }: KoaContextWithOIDC,
  token: IssuedToken,
): Promise<Record<string, unknown> | undefined> {
  const { Grant: grant, AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities;
  const source = AuthorizationCode ?? RefreshToken ?? DeviceCode;
  if (token.kind !== 'AccessToken' || !grant || !source) return undefined;
  const { acr, amr, authTime } = source;
  const signIn = { ...(acr && { acr }), ...(amr && { amr }), ...(authTime && { auth_time: authTime }) };
  if (token.resourceServer?.accessTokenFormat !== 'jwt') return signIn;
  const allowed = grant.getOIDCScopeFiltered(source.scopes).split(' ');
  const wanted = BY_SCOPE.filter((scope) => allowed.includes(scope));
  if (wanted.length === 0 || !oidc.account) return signIn;
  const claims = await oidc.account.claims('access_token', wanted.join(' '), {}, []);
  return { ...signIn, ...Object.fromEntries(wanted.map((scope) => [scope, claims[scope]])) };
}
