// Patch: Client.find. At the endpoints where clients authenticate, and for a request object, the first lookup of a client is the last hook before
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

/** Whether the request carries a credential of the client, or a text that its keys must have signed. */
function provesItself({ oidc: { route, params } }: KoaContextWithOIDC): boolean {
  return AUTHENTICATING.has(route) || (route === 'authorization' && params?.request !== undefined);
}

/** @param admit called once for each such request with the client_id as it was sent; throws to reject the request */
export function limitClientAuthentication(
  provider: Provider,
  admit: (ctx: KoaContextWithOIDC, clientId: string) => Promise<void>,
): void {
  const { find } = provider.Client;
  const admitted = new WeakSet<object>();
  provider.Client.find = async function findAdmitted(id: string) {
    const { ctx } = Provider;
    if (ctx && provesItself(ctx) && ctx.oidc.client === undefined && !admitted.has(ctx.req)) {
      admitted.add(ctx.req);
      await admit(ctx, id);
    }
    return find.call(provider.Client, id);
  };
}
