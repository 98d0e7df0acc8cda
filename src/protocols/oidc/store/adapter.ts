// The engine's storage in the database (oidc-provider's `adapter`). Sessions are written by sessions/session-store.ts.
// The bearer secrets of clients and browsers are stored only as hashes.

import { limits } from '../../../base/limits.ts';
import { BoundedMap } from '../../../base/platform/bounded-map.ts';
import { plural } from '../../../base/platform/plural.ts';
import { randomToken, sha256 } from '../../../base/platform/random.ts';
import { type Db, isUniqueConstraintError } from '../../../base/storage/database.ts';
import { hotStatements, ONE_ARTIFACT, type Sql } from '../../../base/storage/statements.ts';
import type { Core } from '../../../core/core.ts';
import { type Adapter, type AdapterPayload, engineSeconds, errors, Provider } from '../engine/library.ts';
import {
  artifactMac,
  consumedMac,
  isGenuineArtifact,
  PROTECTED_COLUMNS,
  PROTECTED_SQL,
} from './protected-artifacts.ts';
import { type ArtifactRow, createReadAhead } from './read-ahead.ts';
import { notEndedCondition } from './sessions/ended-sessions.ts';
import { setStoredText } from './sessions/merge-session.ts';

/**
 * Prefix of an id that is a stored hash. A row found by uid or user code gets it as `jti`, because its bearer value is not stored.
 * It is random, so that a hash from a stolen database cannot be presented in place of the value.
 */
const STORED = `#${randomToken()}:`;

/** Models whose rows are invalid once their session has ended; their uid column names the session. */
const OF_SESSION = new Set(['Session', 'AuthorizationCode']);

/** Models that expire exactly on time: the engine would add the tolerance for the clocks of other machines. */
const WITHOUT_CLOCK_TOLERANCE = new Set(['AccessToken', 'ClientCredentials', 'InitialAccessToken', 'Interaction']);

/** Models whose rows belong to a grant and are removed with it. */
const TOKEN_MODELS = ['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'];

/** Models that a request reads first; related rows are read together with theirs. */
const READ_WITH_OTHERS = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken', 'Session']);

/** Models whose rows are read many times before they change. */
const CACHED_MODELS = new Set(['AccessToken', 'ClientCredentials', 'RefreshToken', 'Grant', 'Session']);

const COLUMNS = { ...PROTECTED_COLUMNS, expiresAt: true } as const;
const SELECT = `SELECT ${PROTECTED_SQL}, expires_at AS "expiresAt" FROM oidc_artifacts`;

export const statements = hotStatements('artifacts', {
  find: `${SELECT} WHERE id = ?`,
  findLive: `${SELECT} WHERE id = ? AND ${notEndedCondition('oidc_artifacts.uid')}`,
  findByUid: `${SELECT} WHERE uid = ? AND model = ? AND expires_at > ? AND ${notEndedCondition('oidc_artifacts.uid')}`,
  upsert: `${ONE_ARTIFACT} INSERT INTO oidc_artifacts
      (id, model, payload, grant_id, user_code, uid, account_id, client_id, expires_at, mac) VALUES (?,?,?,?,?,?,?,?,?,?)
    ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
      user_code = excluded.user_code, account_id = excluded.account_id, client_id = excluded.client_id,
      expires_at = excluded.expires_at,
      mac = CASE WHEN oidc_artifacts.consumed_at IS NULL THEN excluded.mac ELSE ${consumedMac('excluded.mac')} END`,
  remove: 'DELETE FROM oidc_artifacts WHERE id = ?',
  consume: `${ONE_ARTIFACT} UPDATE oidc_artifacts SET consumed_at = ?, mac = ${consumedMac('mac')} WHERE id = ? AND consumed_at IS NULL`,
});

const MAX_SECONDS = 10 * 365 * 24 * 3600;

/** The database id of an engine value: its hash, with the model as a namespace. */
export function artifactId(model: string, value: string): string {
  return value.startsWith(STORED) ? value.slice(STORED.length) : sha256(`${model}:${value}`);
}

/**
 * Creates the engine's adapter for one model.
 * `consume` throws `invalid_grant` for each caller except the first, and revokes the tokens of the first one, because a code that is
 * redeemed twice has leaked (RFC 6749 4.1.2, RFC 9700 4.14).
 *
 * @param mayUseAgain whether this consumed value, of which this is stored, may be used again; absent: never. The last argument finds others
 */
export function createArtifactAdapter(
  model: string,
  services: Core,
  mayUseAgain?: (value: string, stored: AdapterPayload, find: Adapter['find']) => Promise<boolean>,
): Adapter {
  const { db, sql, now } = services;

  const nowSeconds = () => Math.floor(now().getTime() / 1000);
  const cache = rowCacheOf(sql);
  const isCached = CACHED_MODELS.has(model) && !sql.isRemote;
  const readAhead = createReadAhead(services);

  /** The row under this key of the cache, or as `read` reads it; undefined when there is none that this server wrote. */
  async function genuineRow(key: string, read: () => Promise<ArtifactRow | undefined>) {
    const known = isCached ? cache.get(key) : undefined;
    if (known !== undefined) return known ?? undefined;
    const readAt = isCached ? cache.begin() : undefined;
    const row = await read();
    if (row && !isGenuineArtifact(row, sql)) return undefined;
    if (readAt) cache.set(key, row ?? null, readAt);
    return row;
  }

  async function readById(id: string): Promise<ArtifactRow | undefined> {
    let ahead = readAhead.take(id);
    if (ahead === undefined && sql.isRemote && READ_WITH_OTHERS.has(model)) {
      await readAhead.begin([id], clientOfRequest());
      ahead = readAhead.take(id);
    }
    if (ahead !== undefined) return ahead ?? undefined;
    const [row] = await sql.query<ArtifactRow>(OF_SESSION.has(model) ? statements.findLive : statements.find, id);
    return row;
  }

  async function readByUid(uid: string): Promise<ArtifactRow | undefined> {
    const ahead = model === 'Session' ? readAhead.takeSession(uid) : undefined;
    if (ahead) return ahead;
    const [row] = await sql.query<ArtifactRow>(statements.findByUid, uid, model, nowSeconds());
    return row;
  }

  async function find(value: string): Promise<AdapterPayload | undefined> {
    const id = artifactId(model, value);
    const row = await genuineRow(id, () => readById(id));
    return row && payloadOf(model, row, nowSeconds(), value);
  }

  return {
    async upsert(value, payload, expiresIn) {
      const uid = payload.uid ?? (OF_SESSION.has(model) ? payload.sessionUid : undefined) ?? null;
      const id = artifactId(model, value);
      const stored = JSON.stringify(storedPayload(model, payload));
      // A request object may hold more than the parameters that are checked (engine/requests/request-checks.ts).
      if (model === 'PushedAuthorizationRequest' && stored.length > limits.authorizationRequest.pushedBytes)
        throw new errors.InvalidRequest(
          `the request is longer than ${plural(limits.authorizationRequest.pushedBytes, 'character')}`,
        );
      // The client chooses the expiry of its assertion, which may be a fraction or years in the future.
      const expiresAt = expiresIn ? nowSeconds() + Math.min(Math.ceil(expiresIn), MAX_SECONDS) : null;
      const { grantId = null, userCode = null, clientId = null } = payload;
      const accountId = accountOf(payload);
      const mac = artifactMac({ id, model, payload: stored, grantId, userCode, uid, accountId, clientId }, sql);
      if (model === 'ReplayDetection') return insertReplayMarker(db, { id, payload: stored, expiresAt, mac });
      const owner = [grantId, userCode, uid, accountId, clientId];
      const forget = () => {
        cache.delete(id);
        if (uid !== null) cache.delete(keyOfUid(uid));
      };
      forget();
      await sql.later(statements.upsert, [id, model, stored, ...owner, expiresAt, mac], forget);
    },

    find,

    async findByUid(uid) {
      const row = await genuineRow(keyOfUid(uid), () => readByUid(uid));
      return row && payloadOf(model, row, nowSeconds());
    },

    async findByUserCode(userCode) {
      const row = await db.oidcArtifact.findFirst({ where: { userCode, model }, select: COLUMNS });
      return row && isGenuineArtifact(row, sql) ? payloadOf(model, row, nowSeconds()) : undefined;
    },

    async consume(value) {
      const id = artifactId(model, value);
      const changed = await sql.execute(statements.consume, nowSeconds(), id);
      cache.delete(id);
      if (changed > 0) return;
      const stored = mayUseAgain && (await find(value));
      if (stored && (await mayUseAgain(value, stored, find))) return;
      throw await usedTwice(db, model, id);
    },

    async destroy(value) {
      const id = artifactId(model, value);
      // A cached row must be gone when this returns, and what was revoked must not come back after a power loss (sqlite/adapter.ts).
      if (isCached) await db.oidcArtifact.deleteMany({ where: { id } });
      else await sql.later(statements.remove, [id]);
    },

    async revokeByGrantId(grantId) {
      await db.oidcArtifact.deleteMany({ where: { grantId, model } });
    },
  };
}

/** The cache key of a session by its uid. Ids have no colon, so it cannot collide with one. */
const keyOfUid = (uid: string) => `uid:${uid}`;

/** The client of an authorization request, whose grant is needed after the session. */
function clientOfRequest(): string | undefined {
  const { ctx } = Provider;
  const clientId = ctx?.oidc.route === 'authorization' ? ctx.query.client_id : undefined;
  return typeof clientId === 'string' ? clientId : undefined;
}

/** The payload of a row as the engine stored it; undefined when it has expired. */
function payloadOf(model: string, row: ArtifactRow, nowSeconds: number, value?: string): AdapterPayload | undefined {
  const payload = JSON.parse(row.payload) as AdapterPayload;
  if (WITHOUT_CLOCK_TOLERANCE.has(model) && payload.exp !== undefined && payload.exp <= nowSeconds) return undefined;
  // The column contains the idle expiry, which activity extends; `exp` in the payload is the absolute expiry.
  if (model === 'Session' && (Number(row.expiresAt) <= nowSeconds || isPastAbsoluteExpiry(payload))) return undefined;
  if (model === 'Session') setStoredText(payload, row.payload);
  payload.jti = value ?? STORED + row.id;
  if (payload.deviceCode) payload.deviceCode = STORED + payload.deviceCode;
  if (payload.parJti) payload.parJti = STORED + payload.parJti;
  if (row.consumedAt !== null) payload.consumed = Number(row.consumedAt);
  return payload;
}

/** Whether the absolute lifetime of a session is over, which activity does not extend. */
export function isPastAbsoluteExpiry({ exp }: { exp?: number }): boolean {
  return exp !== undefined && exp <= engineSeconds();
}

/** The error for a consumed value; its grant is revoked. */
async function usedTwice(db: Db, model: string, id: string): Promise<Error> {
  if (model === 'PushedAuthorizationRequest')
    return new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used');
  await revokeGrantOf(db, id);
  return new errors.InvalidGrant(`${model} was already used`);
}

/** Removes the grant of this row with all its tokens. */
async function revokeGrantOf(db: Db, id: string): Promise<void> {
  const row = await db.oidcArtifact.findUnique({ where: { id }, select: { grantId: true } });
  if (!row?.grantId) return;
  await db.oidcArtifact.deleteMany({ where: { grantId: row.grantId, model: { in: TOKEN_MODELS } } });
  await db.oidcArtifact.deleteMany({ where: { id: artifactId('Grant', row.grantId) } });
}

/**
 * Stores the `jti` of a DPoP proof or client assertion. The engine searches for it first, but two simultaneous requests would
 * both find nothing; the unique id rejects the second.
 */
async function insertReplayMarker(
  db: Db,
  proof: { id: string; payload: string; expiresAt: number | null; mac: string },
): Promise<void> {
  const data = { ...proof, model: 'ReplayDetection' };
  await db.oidcArtifact.create({ data, select: { id: true } }).catch((error: unknown) => {
    throw isUniqueConstraintError(error) ? new errors.InvalidRequest('this proof was already used') : error;
  });
}

/** The payload without its bearer values. */
function storedPayload(model: string, payload: AdapterPayload): Partial<AdapterPayload> {
  const { jti: _bearer, ...content } = payload;
  // The engine stores the session cookie's value here and never reads it again.
  if (model === 'Interaction' && content.session) content.session = { ...content.session, cookie: undefined } as never;
  // An interaction refers to device codes and pushed requests by their bearer values.
  if (content.deviceCode) content.deviceCode = artifactId('DeviceCode', content.deviceCode);
  if (typeof content.parJti === 'string') content.parJti = artifactId('PushedAuthorizationRequest', content.parJti);
  return content;
}

/** The account of a row. An interaction whose sign-in is complete but not yet resumed belongs to the account of the sign-in. */
function accountOf({ accountId, result }: AdapterPayload): string | null {
  const signedIn = (result as { login?: { accountId?: string } } | undefined)?.login?.accountId;
  return signedIn ?? accountId ?? null;
}

// Cache of the engine's rows that this process has read and verified, used while the database proves that none was changed since, by this
// process or another. A token that is revoked anywhere is invalid at its next use. On SQLite only: on
// PostgreSQL the proof would cost as much as to read the rows (read-ahead.ts).

type Revisions = Pick<Sql, 'artifactRevision'>;

/** When a row was read: a change after it makes what was read unusable. */
interface ReadAt {
  revision: number | undefined;
  deletions: number;
}

type RowCache = ReturnType<typeof createRowCache>;

/** Up to 2 KB each. */
const MAX_ROWS = 500;

const caches = new WeakMap<object, RowCache>();

/** The cache of this database: one for all adapters, because each changes rows that others have cached. */
export function rowCacheOf(sql: Revisions): RowCache {
  const known = caches.get(sql);
  if (known) return known;
  const cache = createRowCache(sql);
  caches.set(sql, cache);
  return cache;
}

function createRowCache(sql: Revisions) {
  const rows = new BoundedMap<string, { row: ArtifactRow | null; revision: number }>(MAX_ROWS);
  let deletions = 0;

  return {
    /** The row under this key as it is in the database now; null when there is none, undefined when it is not cached. */
    get(key: string): ArtifactRow | null | undefined {
      const known = rows.get(key);
      return known && known.revision === sql.artifactRevision() ? known.row : undefined;
    },

    /** Call it before the row is read. */
    begin: (): ReadAt => ({ revision: sql.artifactRevision(), deletions }),

    set(key: string, row: ArtifactRow | null, { revision, deletions: before }: ReadAt): void {
      // It may be the row that was changed while this one was read.
      if (revision === undefined || deletions !== before) return;
      rows.set(key, { row, revision });
    },

    /** Call it after a statement that is marked ONE_ARTIFACT. */
    delete(key: string): void {
      deletions += 1;
      rows.delete(key);
    },
  };
}
