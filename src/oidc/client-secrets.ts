// A client may have several secrets while one is rotated, and most are stored as hashes. The engine knows of one value;
// this makes it accept all of them, compared (client_secret_basic, client_secret_post) or as HMAC keys.
import { keepFresh } from '../platform/kept.ts';
import { safeEqual } from '../platform/random.ts';
import type { Sql } from '../platform/sql.ts';
import type { Vault } from '../platform/vault.ts';
import type { ClientSource } from './clients.ts';
import type { Client, Provider } from './library.ts';

interface Key {
  kty: 'oct';
  alg: string;
  use: 'sig';
  k: string;
}

interface EngineClient {
  clientId: string;
  clientSecret?: string;
  symmetricKeyStore: Iterable<Key> & { add(key: Key): void; clear(): void };
  compareClientSecret(actual: string): Promise<boolean>;
}

export interface ClientSecretsNeeds {
  clients: ClientSource;
  vault: Vault;
  sql: Pick<Sql, 'revision'>;
}

const MAX_KEPT = 500;

/** Call once for each Provider. */
export function acceptEverySecret(provider: Provider, { clients, vault, sql }: ClientSecretsNeeds): void {
  const client = provider.Client.prototype as unknown as EngineClient;
  client.compareClientSecret = async function compare(actual) {
    const facts = await clients.facts(this.clientId);
    if (!facts) return false;
    if (facts.secretHashes.some((hash) => vault.macMatches(actual, hash, 'client-secret'))) return true;
    return facts.secretValues.some((value) => safeEqual(value, actual));
  };

  const find = provider.Client.find;
  const ownKeys = new WeakMap<EngineClient, Key[]>();
  async function findWithSecrets(id: string): Promise<Client | undefined> {
    const found: Client | undefined = await find.call(provider.Client, id);
    if (found) await addKeys(found as unknown as EngineClient);
    return found;
  }
  // Nearly every request of a program begins here, and the engine would check and hash the whole registration each time.
  const isLasting = ({ clientId }: Client) => clients.known(clientId)?.secretsExpire === false;
  provider.Client.find = keepFresh(sql, findWithSecrets, { max: MAX_KEPT, isLasting });

  async function addKeys(found: EngineClient): Promise<void> {
    const older = (await clients.facts(found.clientId))?.secretValues.slice(1) ?? [];
    const known = ownKeys.get(found);
    if (!known && older.length === 0) return;
    // The engine keeps client objects: what was added for an earlier request may have expired since.
    const own = known ?? [...found.symmetricKeyStore];
    ownKeys.set(found, own);
    found.symmetricKeyStore.clear();
    // Its own first: that is the newest secret, and the one to sign with.
    for (const key of own) found.symmetricKeyStore.add(key);
    for (const value of older) {
      const k = Buffer.from(value).toString('base64url');
      found.symmetricKeyStore.add({ kty: 'oct', alg: 'HS256', use: 'sig', k });
    }
  }
}
