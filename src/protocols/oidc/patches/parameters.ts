// Overrides of how oidc-provider reads the parameters of a request.

import { engineScopes, userScopes } from '../claims/scopes.ts';
import { type KoaContextWithOIDC, Provider } from '../engine/library.ts';
import type { ClientSource } from '../store/clients.ts';

// Patch: OIDCContext.prototype.params. The scope of a request is a set: white space around and between its members says nothing (the engine
// rejects it); the same is true of prompt and response_type (OpenID Connect Core 3.1.2.1). An authorization request without a scope that this server knows has the registered scope of its client, which RFC 6749 3.3
// calls a pre-defined default value. The engine checks the scope before any of its hooks that know both client and request object.
// With `resource`, the default depends on the API, which is looked up later (engine/requests/request-checks.ts). A client that acts for itself
// has its registered scopes of the API by default; without an API, a scope has no meaning for it.

const PARAMS = Symbol('params');
const WITH_DEFAULT = new Set(['authorization', 'pushed_authorization_request', 'device_authorization']);

/** The other parameters that are lists of values with one space between. */
const SETS = ['prompt', 'response_type'];

type Params = Record<string, unknown>;

interface Context {
  route: string;
  client?: { clientId: string };
  params: Params | undefined;
  [PARAMS]?: Params | undefined;
}

export function completeRequestedScope(provider: Provider, { clients }: { clients: ClientSource }): void {
  Object.defineProperty(provider.OIDCContext.prototype, 'params', {
    configurable: true,
    get(this: Context) {
      return this[PARAMS];
    },
    set(this: Context, params: Params | undefined) {
      if (params && Object.hasOwn(params, 'scope')) defineScope(this, params, clients);
      for (const name of SETS) if (params && Object.hasOwn(params, name)) defineSet(params, name);
      this[PARAMS] = params;
    },
  });
}

/** Also of a request object, whose members the engine assigns one by one. */
function defineScope(context: Context, params: Params, clients: ClientSource): void {
  let scope = asSet(params.scope);
  Object.defineProperty(params, 'scope', {
    enumerable: true,
    configurable: true,
    get: () => (typeof scope === 'object' ? scope : (defaultOf(scope) ?? scope)),
    set: (sent: unknown) => {
      scope = asSet(sent);
    },
  });

  function defaultOf(sent: unknown): string | undefined {
    const { client, route } = context;
    const isOwn = route === 'token' && params.grant_type === 'client_credentials' && params.resource !== undefined;
    const hasDefault = WITH_DEFAULT.has(route) && params.resource === undefined;
    if (!client || !(isOwn || hasDefault)) return undefined;
    const metadata = clients.cachedApplicationOf(client.clientId)?.metadata;
    if (metadata?.scope === undefined) return undefined;
    if (isOwn) return ofApis(sent, metadata.scope.split(' '));
    const known = userScopes(metadata);
    if (typeof sent === 'string' && sent.split(' ').some((one) => known.includes(one))) return undefined;
    const registered = metadata.scope.split(' ').filter((one) => engineScopes.includes(one) || known.includes(one));
    return registered.some((one) => known.includes(one)) ? registered.join(' ') : undefined;
  }
}

/** Also of a request object, as above. */
function defineSet(params: Params, name: string): void {
  let value = asSet(params[name]);
  Object.defineProperty(params, name, {
    enumerable: true,
    configurable: true,
    get: () => value,
    set: (sent: unknown) => {
      value = asSet(sent);
    },
  });
}

/** The registered scopes of APIs, where none of them was requested. The engine leaves out those of other APIs. */
function ofApis(sent: unknown, registered: readonly string[]): string | undefined {
  if (typeof sent === 'string' && sent.split(' ').some((one) => registered.includes(one))) return undefined;
  return registered.filter((one) => !engineScopes.includes(one)).join(' ') || undefined;
}

/** The members with one space between; a parameter that was sent twice stays a list, which the engine rejects. */
function asSet(scope: unknown): unknown {
  return typeof scope === 'string' ? scope.split(/\s+/).filter(Boolean).join(' ') || undefined : scope;
}

// Patch: OIDCContext.prototype.params. RFC 6749 2.3.1 lets a client identify itself by Basic with an empty password, as golang.org/x/oauth2
// tries first for every public client. The engine rejects it; here it is the `client_id` of a public client.

/** Apply it after the patch of parameters.ts, whose accessor it completes. */
export function acceptEmptySecrets(
  { OIDCContext: { prototype } }: Provider,
  { clients }: { clients: ClientSource },
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
