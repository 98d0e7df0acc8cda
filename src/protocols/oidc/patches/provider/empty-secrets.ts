// Patch: OIDCContext.prototype.params. RFC 6749 2.3.1 lets a client identify itself by Basic with an empty password, as golang.org/x/oauth2
// tries first for every public client. The engine rejects it; here it is the `client_id` of a public client.
import { type KoaContextWithOIDC, Provider } from '../../engine/library.ts';
import type { ClientSource } from '../../store/clients.ts';

type Params = Record<string, unknown>;

/** Apply it after the patch of parameters.ts, whose accessor it completes. */
export function acceptEmptySecrets(
  { OIDCContext: { prototype } }: Provider,
  { clients }: { clients: Pick<ClientSource, 'cachedApplicationOf'> },
): void {
  const { get, set } = Object.getOwnPropertyDescriptor(prototype, 'params') ?? {};
  Object.defineProperty(prototype, 'params', {
    configurable: true,
    get,
    set(this: object, params: Params | undefined) {
      const { ctx } = Provider;
      const clientId = ctx && params && idWithoutSecret(ctx);
      const method = clientId && clients.cachedApplicationOf(clientId)?.metadata.token_endpoint_auth_method;
      // A confidential client gets the engine's error with its WWW-Authenticate header. Two different ids stay an error, too.
      if (ctx && params && clientId && (method ?? 'none') === 'none' && (params.client_id ?? clientId) === clientId) {
        delete ctx.req.headers.authorization;
        params.client_id = clientId;
      }
      set?.call(this, params);
    },
  });
}

/** The client_id in `Authorization: Basic` with an empty password. */
function idWithoutSecret(ctx: KoaContextWithOIDC): string | undefined {
  const [, encoded = ''] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(ctx.get('Authorization')) ?? [];
  const [, id] = /^([^:]+):$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  try {
    return id && decodeURIComponent(id.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
