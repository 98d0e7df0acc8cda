// Patch: Client.find. At the endpoints where clients authenticate, the first lookup of a client is the last hook before
// a credential is checked; a client with too many failures is rejected there.
import { type KoaContextWithOIDC, Provider } from '../../engine/library.ts';

/** The engine's names of the endpoints at which clients authenticate. */
const AUTHENTICATING = new Set([
  'token',
  'introspection',
  'revocation',
  'pushed_authorization_request',
  'device_authorization',
]);

/** @param admit called once for each such request with the client_id as it was sent; throws to reject the request */
export function limitClientAuthentication(
  provider: Provider,
  admit: (ctx: KoaContextWithOIDC, clientId: string) => Promise<void>,
): void {
  const { find } = provider.Client;
  const admitted = new WeakSet<object>();
  provider.Client.find = async function findAdmitted(id: string) {
    const { ctx } = Provider;
    const isAuthenticating = ctx && AUTHENTICATING.has(ctx.oidc.route) && ctx.oidc.client === undefined;
    if (isAuthenticating && !admitted.has(ctx.req)) {
      admitted.add(ctx.req);
      await admit(ctx, id);
    }
    return find.call(provider.Client, id);
  };
}
