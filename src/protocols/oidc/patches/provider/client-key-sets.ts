// Patch: ClientKeyStore.prototype.refresh. The engine accepts any number and kind of keys from a jwks_uri, forgets them with the client in its
// memory, and calls the address for every bad signature while the document cannot be read. Here a document that breaks the rule for foreign
// keys (core/keys/foreign-keys.ts) is rejected as a whole and the last good one stays in use, and the address is called at most every few seconds.

import { BoundedMap } from '../../../../base/platform/bounded-map.ts';
import type { Core } from '../../../../core/core.ts';
import { fetchedKeySet, type Jwk } from '../../../../core/keys/foreign-keys.ts';
import { asciiText } from '../../engine/app-context.ts';
import { type Client, errors, type Provider } from '../../engine/library.ts';

/** How long a document is used before it is read again; a longer Cache-Control is obeyed up to the latter (OIDC Core 10.1.1). */
const SECONDS = { least: 60, most: 24 * 3600, afterFault: 5 };
const MAX_SETS = 500;

interface KnownSet {
  /** Of the last good document; undefined: none was read yet. */
  keys: readonly Jwk[] | undefined;
  /** Epoch seconds. */
  freshUntil: number;
  fault: Error | undefined;
}

export type ClientKeySets = ReturnType<typeof createClientKeySets>;

/** What this process has read; it outlives the engine's clients, which are made again after each change of the directory. */
export function createClientKeySets(
  { outgoing: fetch, logger }: Core,
  /** The engine's clock, in epoch seconds. */
  now: () => number,
) {
  const known = new BoundedMap<string, KnownSet>(MAX_SETS);
  const running = new Map<string, Promise<KnownSet>>();

  async function load(uri: string): Promise<KnownSet> {
    try {
      const response = await fetch(uri, { method: 'GET', headers: { accept: 'application/json' } });
      if (response.status !== 200) throw new Error(`the address answers ${response.status}`);
      const text = await response.text();
      return { keys: keysIn(text), freshUntil: now() + secondsOf(response), fault: undefined };
    } catch (cause) {
      logger.warn({ uri, err: cause }, 'the keys behind a jwks_uri were not accepted; the last good ones stay in use');
      // What the network says is for the log: the caller may be anybody.
      const reason = cause instanceof RejectedKeys ? `: ${cause.message}` : '';
      const fault = new errors.InvalidClientMetadata(
        asciiText(`client JSON Web Key Set failed to be refreshed${reason}`),
      );
      return { keys: known.get(uri)?.keys, freshUntil: now() + SECONDS.afterFault, fault };
    }
  }

  async function currentKeySet(uri: string): Promise<KnownSet> {
    const before = known.get(uri);
    if (before && before.freshUntil > now()) return before;
    const call = running.get(uri) ?? load(uri).finally(() => running.delete(uri));
    running.set(uri, call);
    const read = await call;
    known.set(uri, read);
    return read;
  }

  return {
    /** The keys behind a jwks_uri. Throws invalid_client_metadata while no good document was read. */
    async read(uri: string): Promise<{ keys: readonly Jwk[]; freshUntil: number }> {
      const { keys, freshUntil, fault } = await currentKeySet(uri);
      if (!keys) throw fault;
      return { keys, freshUntil };
    },
  };
}

/** A document that breaks a rule. */
class RejectedKeys extends Error {}

function keysIn(text: string): readonly Jwk[] {
  try {
    return fetchedKeySet(JSON.parse(text)).keys;
  } catch (cause) {
    const message = cause instanceof Error && !(cause instanceof SyntaxError) ? cause.message : 'it isn’t JSON';
    throw new RejectedKeys(message, { cause });
  }
}

function secondsOf({ headers }: Response): number {
  const [, age] = /max-age=(\d{1,9})/.exec(headers.get('cache-control') ?? '') ?? [];
  return Math.min(SECONDS.most, Math.max(SECONDS.least, Number(age ?? 0)));
}

/** The engine's class, which it does not export. */
interface ClientKeyStore {
  readonly jwksUri?: string;
  freshUntil?: number;
  fresh(): boolean;
  clear(): void;
  add(jwk: Jwk): void;
  refresh(): Promise<void>;
}

export function limitClientKeys(provider: Provider, { read }: ClientKeySets): void {
  const metadata = { client_id: 'any', redirect_uris: [], response_types: [], grant_types: [] };
  const client: Client = Reflect.construct(provider.Client, [{ ...metadata, token_endpoint_auth_method: 'none' }]);
  const prototype = Object.getPrototypeOf(Reflect.get(client, 'asymmetricKeyStore')) as ClientKeyStore;
  prototype.refresh = async function refresh() {
    if (this.jwksUri === undefined || this.fresh()) return;
    const { keys, freshUntil } = await read(this.jwksUri);
    this.clear();
    for (const key of keys) this.add(key);
    this.freshUntil = freshUntil;
  };
}
