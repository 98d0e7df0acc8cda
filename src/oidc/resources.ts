// APIs with an audience of their own (RFC 8707): whoever asks for one gets a JWT access token (RFC 9068) for it alone.

import type { OidcMetadata } from '../applications/oidc-client.ts';
import type { Db } from '../platform/db.ts';
import { isStorable } from '../platform/storable.ts';
import type { ClientSource } from './clients.ts';
import { errors, type KoaContextWithOIDC, type ResourceServer } from './library.ts';

export interface ResourcesNeeds {
  db: Db;
  clients: ClientSource;
  accessTokenSeconds(): number;
  /** APIs of this very server: identifier -> scopes. */
  own: Record<string, readonly string[]>;
}

/** oidc-provider's `getResourceServerInfo`. */
export function createResourceServer({ db, clients, accessTokenSeconds, own }: ResourcesNeeds) {
  return async function resourceServer(
    _ctx: KoaContextWithOIDC,
    identifier: string,
    client: { clientId: string },
  ): Promise<ResourceServer> {
    const ownScopes = Object.hasOwn(own, identifier) ? own[identifier] : undefined;
    if (ownScopes) return ownResource(identifier, ownScopes, (await clients.facts(client.clientId))?.metadata);
    const [resource, facts] = await Promise.all([
      isStorable(identifier) ? db.resource.findUnique({ where: { identifier } }) : null,
      clients.facts(client.clientId),
    ]);
    if (!resource) throw new errors.InvalidTarget('this resource is not registered here');
    if (facts?.metadata.resources && !facts.metadata.resources.includes(identifier)) {
      throw new errors.InvalidTarget('the client may not ask for this resource');
    }
    const scopes = JSON.parse(resource.scopes) as string[];
    const named = facts?.metadata.scope?.split(' ');
    return {
      scope: scopes.filter((one) => named?.includes(one) ?? true).join(' '),
      audience: resource.identifier,
      accessTokenTTL: accessTokenSeconds(),
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: resource.signingAlg as 'RS256' | 'ES256' } },
    } as ResourceServer;
  };

  // Rights over this server are given by name: both the API and each scope must stand in the client's registration.
  function ownResource(
    identifier: string,
    scopes: readonly string[],
    { resources = [], scope = '' }: Partial<OidcMetadata> = {},
  ): ResourceServer {
    if (!resources.includes(identifier)) throw new errors.InvalidTarget('the client may not ask for this resource');
    const named = scope.split(' ');
    return {
      scope: scopes.filter((one) => named.includes(one)).join(' '),
      audience: identifier,
      accessTokenTTL: accessTokenSeconds(),
      accessTokenFormat: 'opaque',
    };
  }
}
