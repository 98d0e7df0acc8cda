// Overrides of oidc-provider for its clients and their credentials.

import type { Base } from '../../../base/base.ts';
import { isLoopback } from '../../../base/config/addresses.ts';
import { cacheDirectory } from '../../../base/storage/directory-cache.ts';
import { requestReads } from '../../../base/storage/request-reads.ts';
import { type Client, type KoaContextWithOIDC, LOOPBACKS, Provider } from '../engine/library.ts';
import { findUnlessRejected, type ReportRejectedClient } from '../registration.ts';
import { artifactId } from '../store/adapter.ts';
import { type ClientApplication, type ClientSource, matchingSecret } from '../store/clients.ts';
import { createReadAhead } from '../store/read-ahead.ts';

// Patch: Client.prototype.compareClientSecret and Client.find. A client may have several secrets while one is rotated, and
// most are stored as MACs. The engine has one secret in plain text; this patch makes it accept all of them, compared
// (client_secret_basic, client_secret_post), as HMAC keys (client_secret_jwt, HS256), or as the current secret in an update of a
// registration (RFC 7592 2.2).

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

export function acceptEverySecret(
  provider: Provider,
  {
    clients,
    vault,
    recordSecretUse,
  }: Base & {
    clients: ClientSource;
    /** Stores the time of the last use of a secret. */
    recordSecretUse(secretId: string): void;
  },
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

// Patch: Client.find. At the endpoints where clients authenticate, and for a request object, the first lookup of a client is the last hook before
// a credential is checked; a client with too many failures is rejected there.

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

// Patch: Client.find. A confirmed logout looks up every client of the session, and the engine ends the request at one whose stored
// registration it rejects. Here that client is unknown to the logout, so that all others are signed out.

export function skipRejectedClients(provider: Provider, report: ReportRejectedClient): void {
  const { find } = provider.Client;
  // Every request of a client passes here, so there is no promise of its own for the others.
  provider.Client.find = function findForLogout(id: string): Promise<Client | undefined> {
    if (Provider.ctx?.oidc?.route !== 'end_session_confirm') return find.call(provider.Client, id);
    return findUnlessRejected(
      () => find.call(provider.Client, id),
      (fault) => report(id, fault),
    );
  };
}

// Patch: LOOPBACKS.has. The engine's own list of loopback hosts is localhost, 127.0.0.1 and ::1; for native clients it rejects
// http on any other host, and allows any port on these (RFC 8252 7.3). Here *.localhost (RFC 6761 6.3) and all of 127.0.0.0/8 are
// loopback too, as in applications/uris.ts.

/** Replaces the check of the engine's list, which all its clients share. */
export function extendLoopbackHosts(): void {
  LOOPBACKS.has = isLoopback;
}

// Patch: Client.find. Nearly every request looks a client up; the engine then hashes its metadata each time, and checks it
// again when more than 100 clients are in use. The loaded client is used as long as the database's revision proves that it is
// current (base/storage/directory-cache.ts). On PostgreSQL the revision comes in one statement with the rows of the code or token
// of the request.

const MAX_CLIENTS = 500;

export function cacheClients(provider: Provider, services: Base & { clients: ClientSource }): void {
  const { clients, sql } = services;

  const { find } = provider.Client;
  const load = (id: string): Promise<Client | undefined> => find.call(provider.Client, id);
  // The expiry of a secret changes no revision, and neither does a document elsewhere.
  const isCacheable = ({ clientId }: Client) => {
    const { secretsExpire, source } = clients.cachedApplicationOf(clientId) ?? {};
    return secretsExpire === false && source !== 'document';
  };
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
