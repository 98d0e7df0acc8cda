// APIs as resources (RFC 8707): a client that requests one gets a JWT access token (RFC 9068) for it alone.

import type { OidcMetadata } from '../../applications/oidc-client.ts';
import type { Db } from '../../storage/database.ts';
import { isStorable } from '../../storage/storable-text.ts';
import { errors, type KoaContextWithOIDC, type ResourceServer } from '../engine/library.ts';
import type { ClientSource } from '../store/clients.ts';

export interface ResourcesDependencies {
  db: Db;
  clients: ClientSource;
  accessTokenSeconds(): number;
  /** The APIs of this server itself: identifier -> scopes. */
  serverApis: Record<string, readonly string[]>;
}

/** oidc-provider's `features.resourceIndicators.getResourceServerInfo`. Throws invalid_target (RFC 8707 2). */
export function createResourceServer({ db, clients, accessTokenSeconds, serverApis }: ResourcesDependencies) {
  return async function resourceServer(
    _ctx: KoaContextWithOIDC,
    identifier: string,
    client: { clientId: string },
  ): Promise<ResourceServer> {
    const apiScopes = Object.hasOwn(serverApis, identifier) ? serverApis[identifier] : undefined;
    if (apiScopes) return serverApi(identifier, apiScopes, (await clients.facts(client.clientId))?.metadata);
    const [resource, facts] = await Promise.all([
      isStorable(identifier) ? db.resource.findUnique({ where: { identifier } }) : null,
      clients.facts(client.clientId),
    ]);
    if (!resource) throw new errors.InvalidTarget('this resource is not registered here');
    if (facts?.metadata.resources && !facts.metadata.resources.includes(identifier)) {
      throw new errors.InvalidTarget('the client may not ask for this resource');
    }
    const scopes = JSON.parse(resource.scopes) as string[];
    const registered = facts?.metadata.scope?.split(' ');
    return {
      scope: scopes.filter((one) => registered?.includes(one) ?? true).join(' '),
      audience: resource.identifier,
      accessTokenTTL: accessTokenSeconds(),
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: resource.signingAlg as 'RS256' | 'ES256' } },
    } as ResourceServer;
  };

  // Access to the server itself must be granted by name: both the API and each scope must be in the client's registration.
  function serverApi(
    identifier: string,
    scopes: readonly string[],
    { resources = [], scope = '' }: Partial<OidcMetadata> = {},
  ): ResourceServer {
    if (!resources.includes(identifier)) throw new errors.InvalidTarget('the client may not ask for this resource');
    const registered = scope.split(' ');
    return {
      scope: scopes.filter((one) => registered.includes(one)).join(' '),
      audience: identifier,
      accessTokenTTL: accessTokenSeconds(),
      accessTokenFormat: 'opaque',
    };
  }
}
