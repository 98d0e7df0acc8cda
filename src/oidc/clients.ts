// Registered applications as the engine's clients. A SAML service provider is a client whose response type is
// `none` and whose redirect URIs are its assertion consumer URLs, so one engine signs people in for both.

import type { OidcMetadata } from '../applications/oidc-client.ts';
import { AppError } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db } from '../platform/db.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import { isStorable } from '../platform/storable.ts';
import type { Vault } from '../platform/vault.ts';
import { isRegisteredOrigin } from './cors.ts';
import { type Adapter, type AdapterPayload, errors } from './library.ts';
import { engineScope } from './scopes.ts';

/** What the sign-in policy needs to know of an application beyond the engine's client metadata. */
export interface ApplicationFacts {
  id: string;
  clientId: string;
  protocol: 'oidc' | 'saml';
  name: string;
  consent: 'explicit' | 'implicit';
  access: 'everyone' | 'roles';
  /** How strongly people have to sign in to it, whatever the settings say. */
  mfa: 'mfa' | 'phishing-resistant' | undefined;
  /** How an OIDC client is registered; empty for a SAML application. */
  metadata: Partial<OidcMetadata>;
  /** The secrets that are accepted now, newest first: MACs of those that are only compared, */
  secretHashes: string[];
  /** and values of those that an HMAC needs. */
  secretValues: string[];
  /** One of them is accepted for some time only. */
  secretsExpire: boolean;
}

interface Row {
  id: string;
  clientId: string;
  protocol: 'oidc' | 'saml';
  name: string;
  enabled: boolean | number;
  consent: 'explicit' | 'implicit';
  access: 'everyone' | 'roles';
  metadata: string;
  secretId: string | null;
  secretHash: string | null;
  secretSealed: string | null;
  secretExpires: Date | string | null;
}

const SQL = {
  find: `SELECT a.id, a.client_id AS "clientId", a.protocol, a.name, a.enabled, a.consent, a.access, a.metadata,
      s.id AS "secretId", s.secret_hash AS "secretHash", s.secret_sealed AS "secretSealed", s.expires_at AS "secretExpires"
    FROM applications a LEFT JOIN client_secrets s ON s.application_id = a.id
    WHERE a.client_id = ? ORDER BY s.created_at DESC`,
};

export interface ClientSourceDeps {
  db: Db;
  sql: Sql;
  kind: 'sqlite' | 'postgresql';
  vault: Vault;
  now: Clock;
  /** A SAML application's assertion consumer URLs: its redirect URIs. */
  assertionConsumerUrls(entityId: string): Promise<string[]>;
  /** Stores what a client registered by itself (RFC 7591). */
  register(clientId: string, metadata: Record<string, unknown>): Promise<void>;
  unregister(clientId: string): Promise<void>;
  /** Our own pages: a client that is not registered. */
  ownClient: AdapterPayload & { client_id: string };
}

export interface ClientSource {
  adapter: Adapter;
  /** Facts of a client that the engine has just looked up; read from the database if it has not. */
  facts(clientId: string): Promise<ApplicationFacts | undefined>;
  /** The facts as they were last read. */
  known(clientId: string): ApplicationFacts | undefined;
  /** Whether any registered application redirects to this origin (cors.ts). */
  isRegisteredOrigin(origin: string): Promise<boolean>;
}

/** Placeholder that the engine's schema demands of a client whose secret is stored only as a hash. */
const HASHED = 'stored-as-a-hash-and-compared-by-compareClientSecret';

export function createClientSource(deps: ClientSourceDeps): ClientSource {
  const { db, sql, kind, vault, now } = deps;
  const text = sqlFor(kind, SQL);
  // Filled by every lookup of the engine, so what is read here is as fresh as the request that asks.
  const known = new Map<string, ApplicationFacts>();

  async function load(clientId: string): Promise<AdapterPayload | undefined> {
    if (clientId === deps.ownClient.client_id) return own();
    if (!isStorable(clientId)) return undefined;
    const rows = await sql.query<Row>(text.find, clientId);
    const [row] = rows;
    if (!row?.enabled) {
      known.delete(clientId);
      return undefined;
    }
    const secrets = rows.filter((r) => r.secretId && (!r.secretExpires || new Date(r.secretExpires) > now()));
    const { id, protocol, name, consent, access } = row;
    const secretHashes = secrets.flatMap((s) => s.secretHash ?? []);
    const secretValues = secrets.flatMap((s) =>
      s.secretSealed ? [vault.open(s.secretSealed, `client_secrets:${s.secretId}`).toString()] : [],
    );
    // A service provider's is long, and read elsewhere.
    const metadata = JSON.parse(protocol === 'oidc' ? row.metadata : '{}') as Partial<OidcMetadata>;
    known.set(clientId, {
      id,
      clientId,
      protocol,
      name,
      consent,
      access,
      mfa: ruleOf(row.metadata),
      metadata,
      secretHashes,
      secretValues,
      secretsExpire: secrets.some(({ secretExpires }) => secretExpires !== null),
    });
    return protocol === 'saml' ? serviceProvider(row) : oidcClient(row, metadata, secretValues);
  }

  function own(): AdapterPayload {
    const { client_id: clientId, client_name: name = clientId } = deps.ownClient;
    known.set(clientId, {
      id: clientId,
      clientId,
      protocol: 'oidc',
      name,
      consent: 'implicit',
      access: 'everyone',
      mfa: undefined,
      metadata: {},
      secretHashes: [],
      secretValues: [],
      secretsExpire: false,
    });
    return deps.ownClient;
  }

  function oidcClient(row: Row, metadata: Partial<OidcMetadata>, secretValues: string[]): AdapterPayload {
    const method = metadata.token_endpoint_auth_method ?? 'client_secret_basic';
    const isCompared = method === 'client_secret_basic' || method === 'client_secret_post';
    // The newest secret is the one that HMACs are made with; client-secrets.ts accepts them all.
    const secret = secretValues[0] ?? (isCompared ? HASHED : undefined);
    return {
      ...metadata,
      ...(metadata.scope !== undefined && { scope: engineScope(metadata.scope) }),
      ...{ client_id: row.clientId, client_name: row.name },
      ...(secret && { client_secret: secret }),
    };
  }

  async function serviceProvider(row: Row): Promise<AdapterPayload> {
    return {
      client_id: row.clientId,
      client_name: row.name,
      redirect_uris: await deps.assertionConsumerUrls(row.clientId),
      response_types: ['none'],
      grant_types: [],
      token_endpoint_auth_method: 'none',
    };
  }

  return {
    adapter: {
      find: load,
      async upsert(clientId, metadata) {
        // The engine knows `none` for our SAML applications; nobody may register it.
        if (metadata.response_types?.some((type) => type !== 'code')) {
          throw new errors.InvalidClientMetadata('response_types may hold only code');
        }
        await deps.register(clientId, metadata as Record<string, unknown>).catch(asMetadataError);
      },
      destroy: deps.unregister,
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      consume: async () => undefined,
      revokeByGrantId: async () => undefined,
    },

    async facts(clientId) {
      if (!known.has(clientId)) await load(clientId);
      return known.get(clientId);
    },

    known: (clientId) => known.get(clientId),
    isRegisteredOrigin: (origin) => isRegisteredOrigin(db, origin),
  };
}

/** The field `mfa`; read out of the text, because a service provider's is long and holds nothing else that is wanted. */
function ruleOf(metadata: string): ApplicationFacts['mfa'] {
  if (!metadata.includes('"mfa":')) return undefined;
  const { mfa } = JSON.parse(metadata) as { mfa?: 'required' | 'phishing-resistant' };
  return mfa === 'required' ? 'mfa' : mfa;
}

/** Our rules for clients are stricter than the engine's; what they refuse is told in the words of RFC 7591. */
function asMetadataError(cause: unknown): never {
  if (!(cause instanceof AppError) || cause.status >= 500) throw cause;
  const faults = cause.fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw new errors.InvalidClientMetadata(faults || cause.message);
}
