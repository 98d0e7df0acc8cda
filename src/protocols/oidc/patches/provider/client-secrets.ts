// Patch: Client.prototype.compareClientSecret and Client.find. A client may have several secrets while one is rotated, and
// most are stored as MACs. The engine has one secret in plain text; this patch makes it accept all of them, compared
// (client_secret_basic, client_secret_post), as HMAC keys (client_secret_jwt, HS256), or as the current secret in an update of a
// registration (RFC 7592 2.2).

import type { Vault } from '../../../../base/platform/vault.ts';
import { type Client, type KoaContextWithOIDC, Provider } from '../../engine/library.ts';
import { type ClientApplication, type ClientSource, matchingSecret } from '../../store/clients.ts';

interface Key {
  kty: 'oct';
  alg: string;
  use: 'sig';
  k: string;
}

interface EngineClient {
  clientId: string;
  symmetricKeyStore: Iterable<Key> & { add(key: Key): void; clear(): void };
  compareClientSecret(actual: string): Promise<boolean>;
}

export interface ClientSecretsDependencies {
  clients: ClientSource;
  vault: Vault;
  /** Stores the time of the last use of a secret. */
  recordSecretUse(secretId: string): void;
}

export function acceptEverySecret(
  provider: Provider,
  { clients, vault, recordSecretUse }: ClientSecretsDependencies,
): void {
  const prototype = provider.Client.prototype as unknown as EngineClient;
  const isSecretOf = (application: ClientApplication | undefined, actual: string): boolean => {
    const used = matchingSecret(application, actual, vault);
    if (used) recordSecretUse(used.id);
    return used !== undefined;
  };
  prototype.compareClientSecret = async function compareClientSecret(actual) {
    const { clientId } = this;
    return isSecretOf(clients.cachedApplicationOf(clientId) ?? (await clients.applicationOf(clientId)), actual);
  };

  const { find } = provider.Client;
  provider.Client.find = async function findWithEverySecret(id: string): Promise<Client | undefined> {
    const client: Client | undefined = await find.call(provider.Client, id);
    if (!client) return undefined;
    const application = clients.cachedApplicationOf(client.clientId) ?? (await clients.applicationOf(client.clientId));
    addOlderSecrets(client as unknown as EngineClient, application);
    const { ctx } = Provider;
    if (ctx?.oidc?.route !== 'client_update') return client;
    return comparedInUpdate(client, ctx, (sent) => isSecretOf(application, sent));
  };

  const newestKeys = new WeakMap<EngineClient, Key[]>();
  function addOlderSecrets(client: EngineClient, application: ClientApplication | undefined): void {
    const older = application?.secretValues.slice(1) ?? [];
    const known = newestKeys.get(client);
    if (!known && older.length === 0) return;
    // The engine reuses client objects, so a secret that an earlier request added may have expired.
    const newest = known ?? [...client.symmetricKeyStore];
    newestKeys.set(client, newest);
    client.symmetricKeyStore.clear();
    // The newest secret is first, because the engine signs with the first one.
    for (const key of newest) client.symmetricKeyStore.add(key);
    for (const value of older) {
      const k = Buffer.from(value).toString('base64url');
      client.symmetricKeyStore.add({ kty: 'oct', alg: 'HS256', use: 'sig', k });
    }
  }
}

/**
 * The client as an update of its registration sees it. The engine compares the sent secret with `clientSecret`, which is a
 * placeholder if only a MAC is stored; in this view it is the sent secret if that is correct. The client object itself stays
 * unchanged, because other requests use it.
 */
function comparedInUpdate(client: Client, { oidc }: KoaContextWithOIDC, isSecret: (sent: string) => boolean): Client {
  const get = () => {
    // The engine reads the body after it has found the client.
    const sent: unknown = oidc.body?.client_secret;
    return typeof sent === 'string' && isSecret(sent) ? sent : client.clientSecret;
  };
  return Object.create(client, { clientSecret: { get } }) as Client;
}
