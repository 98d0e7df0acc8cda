// Patch: Client.find. Nearly every request looks a client up; the engine then hashes its metadata each time, and checks it
// again when more than 100 clients are in use. The loaded client is used while the database's revision proves it is
// current (docs/decisions/0018-directory-cache.md).

import { cacheDirectory } from '../../../storage/directory-cache.ts';
import type { Sql } from '../../../storage/statements.ts';
import type { Client, Provider } from '../../engine/library.ts';
import type { ClientSource } from '../../store/clients.ts';

export interface ClientCacheDependencies {
  clients: Pick<ClientSource, 'cachedApplicationOf'>;
  sql: Pick<Sql, 'revision'>;
}

const MAX_CLIENTS = 500;

export function cacheClients(provider: Provider, { clients, sql }: ClientCacheDependencies): void {
  const { find } = provider.Client;
  const load = (id: string): Promise<Client | undefined> => find.call(provider.Client, id);
  // A secret with an end changes by time alone, which no revision shows.
  const isCacheable = ({ clientId }: Client) => clients.cachedApplicationOf(clientId)?.secretsExpire === false;
  provider.Client.find = cacheDirectory(sql, load, { max: MAX_CLIENTS, isCacheable });
}
