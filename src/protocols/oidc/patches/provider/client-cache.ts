// Patch: Client.find. Nearly every request looks a client up; the engine then hashes its metadata each time, and checks it
// again when more than 100 clients are in use. The loaded client is used as long as the database's revision proves that it is
// current (base/storage/directory-cache.ts). On PostgreSQL the revision comes in one statement with the rows of the code or token
// of the request.

import type { Base } from '../../../../base/base.ts';
import { cacheDirectory } from '../../../../base/storage/directory-cache.ts';
import { requestReads } from '../../../../base/storage/request-reads.ts';
import { type Client, type KoaContextWithOIDC, Provider } from '../../engine/library.ts';
import { artifactId } from '../../store/adapter.ts';
import type { ClientSource } from '../../store/clients.ts';
import { createReadAhead } from '../../store/read-ahead.ts';

const MAX_CLIENTS = 500;

export function cacheClients(provider: Provider, services: Base & { clients: ClientSource }): void {
  const { clients, sql } = services;

  const { find } = provider.Client;
  const load = (id: string): Promise<Client | undefined> => find.call(provider.Client, id);
  // The expiry of a secret changes no revision.
  const isCacheable = ({ clientId }: Client) => clients.cachedApplicationOf(clientId)?.secretsExpire === false;
  const findCached = cacheDirectory(sql, load, { max: MAX_CLIENTS, isCacheable });
  const readAhead = createReadAhead(services);
  provider.Client.find = async function findClient(id: string) {
    const { ctx } = Provider;
    const reads = requestReads();
    if (sql.isRemote && ctx && reads && !reads.revision) await readAhead.begin(tokensOf(ctx));
    return findCached(id);
  };
}

/** The request fields with a code or token and their possible models, for each of the engine's routes. */
const TOKEN_FIELDS: Record<string, readonly (readonly [field: string, ...models: string[]])[]> = {
  token: [
    ['code', 'AuthorizationCode'],
    ['refresh_token', 'RefreshToken'],
  ],
  introspection: [['token', 'AccessToken', 'ClientCredentials', 'RefreshToken']],
};

/** The database ids that the code or token of the request may have. */
function tokensOf({ oidc }: KoaContextWithOIDC): string[] {
  for (const [field, ...models] of TOKEN_FIELDS[oidc.route] ?? []) {
    const value: unknown = oidc.body?.[field];
    if (typeof value === 'string') return models.map((model) => artifactId(model, value));
  }
  return [];
}
