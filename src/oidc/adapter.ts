// The engine's storage on our database (oidc-provider's adapter contract). Every request passes here several
// times, so it speaks SQL directly: the same statements on SQLite and PostgreSQL. Sessions are written by session-store.ts.
// What a client or browser holds as a bearer secret is stored only as its hash.

import type { Clock } from '../platform/clock.ts';
import { randomToken, sha256 } from '../platform/random.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import { notEnded } from './ended-sessions.ts';
import { type Adapter, type AdapterPayload, errors } from './library.ts';

/**
 * Stands in front of an id that is already a stored hash: what is found by uid or user code comes back without its
 * bearer value. Unguessable, so that nobody can present the hash from a stolen database in place of the value.
 */
const STORED = `#${randomToken()}:`;

interface Row {
  id: string;
  payload: string;
  consumedAt: bigint | number | null;
}

/** Models whose rows are worth nothing once their session was ended; their uid column names it. */
const OF_SESSION = new Set(['Session', 'AuthorizationCode']);

/** Models that end in their second: the engine would grant them the tolerance meant for other machines' clocks. */
const EXPIRES = new Set(['AccessToken', 'ClientCredentials', 'InitialAccessToken', 'Interaction', 'Session']);

/** Models whose rows belong to a grant and die with it. */
const TOKEN_MODELS = "('AccessToken','AuthorizationCode','RefreshToken','DeviceCode')";

const SELECT = 'SELECT id, payload, consumed_at AS "consumedAt" FROM oidc_artifacts';
const INSERT = `INSERT INTO oidc_artifacts
    (id, model, payload, grant_id, user_code, uid, account_id, client_id, expires_at) VALUES (?,?,?,?,?,?,?,?,?)`;
const REPLACE = `ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
    uid = excluded.uid, account_id = excluded.account_id, client_id = excluded.client_id, expires_at = excluded.expires_at`;

const SQL = {
  find: `${SELECT} WHERE id = ?`,
  findLive: `${SELECT} WHERE id = ? AND ${notEnded('oidc_artifacts.uid')}`,
  findByUid: `${SELECT} WHERE uid = ? AND model = ? AND expires_at > ? AND ${notEnded('oidc_artifacts.uid')}`,
  findByUserCode: `${SELECT} WHERE user_code = ? AND model = ?`,
  insert: `${INSERT} ON CONFLICT (id) DO NOTHING`,
  upsert: `${INSERT} ${REPLACE}`,
  consume: 'UPDATE oidc_artifacts SET consumed_at = ? WHERE id = ? AND consumed_at IS NULL',
  grantOf: 'SELECT grant_id AS "grantId" FROM oidc_artifacts WHERE id = ?',
  destroy: 'DELETE FROM oidc_artifacts WHERE id = ?',
  revokeModel: 'DELETE FROM oidc_artifacts WHERE grant_id = ? AND model = ?',
  revokeTokens: `DELETE FROM oidc_artifacts WHERE grant_id = ? AND model IN ${TOKEN_MODELS}`,
};

const MAX_SECONDS = 10 * 365 * 24 * 3600;

export interface ArtifactStoreDeps {
  sql: Sql;
  kind: 'sqlite' | 'postgresql';
  now: Clock;
}

/** The database id of an engine value: its hash, with the model as a namespace. */
export function artifactId(model: string, value: string): string {
  return value.startsWith(STORED) ? value.slice(STORED.length) : sha256(`${model}:${value}`);
}

/**
 * Makes the engine's adapter for one model.
 * `consume` throws `invalid_grant` for everybody but the first caller, and takes back what the first one got:
 * two redemptions of one code mean that it leaked (RFC 6749 4.1.2, RFC 9700 4.14).
 */
export function createArtifactAdapter(model: string, { sql, kind, now }: ArtifactStoreDeps): Adapter {
  const text = sqlFor(kind, SQL);
  const epoch = () => Math.floor(now().getTime() / 1000);

  function restore(row: Row | undefined, value?: string): AdapterPayload | undefined {
    if (!row) return undefined;
    const payload = JSON.parse(row.payload) as AdapterPayload;
    if (EXPIRES.has(model) && payload.exp !== undefined && payload.exp <= epoch()) return undefined;
    payload.jti = value ?? STORED + row.id;
    if (payload.deviceCode) payload.deviceCode = STORED + payload.deviceCode;
    if (payload.parJti) payload.parJti = STORED + payload.parJti;
    if (row.consumedAt !== null) payload.consumed = Number(row.consumedAt);
    return payload;
  }

  async function revokeGrantOf(id: string): Promise<void> {
    const [row] = await sql.query<{ grantId: string | null }>(text.grantOf, id);
    if (!row?.grantId) return;
    await sql.execute(text.revokeTokens, row.grantId);
    await sql.execute(text.destroy, artifactId('Grant', row.grantId));
  }

  return {
    async upsert(value, payload, expiresIn) {
      const { jti: _bearer, ...kept } = payload;
      // The engine notes the session cookie's value here and never reads it again.
      if (model === 'Interaction' && kept.session) kept.session = { ...kept.session, cookie: undefined } as never;
      // An interaction names what it is about by value.
      if (kept.deviceCode) kept.deviceCode = artifactId('DeviceCode', kept.deviceCode);
      if (typeof kept.parJti === 'string') kept.parJti = artifactId('PushedAuthorizationRequest', kept.parJti);
      const uid = payload.uid ?? (OF_SESSION.has(model) ? payload.sessionUid : undefined) ?? null;
      const id = artifactId(model, value);
      const row = [
        id,
        model,
        JSON.stringify(kept),
        payload.grantId ?? null,
        payload.userCode ?? null,
        uid,
        accountOf(payload),
        payload.clientId ?? null,
        // A client chooses the expiry of its own assertions, as a fraction or far away.
        expiresIn ? epoch() + Math.min(Math.ceil(expiresIn), MAX_SECONDS) : null,
      ];
      // oidc-provider's own lookup precedes this by a moment, in which a second use of the proof could slip through.
      if (model === 'ReplayDetection') {
        const changed = await sql.execute(text.insert, ...row);
        if (changed === 0) throw new errors.InvalidRequest('this proof was already used');
      } else await sql.execute(text.upsert, ...row);
    },

    async find(value) {
      const statement = OF_SESSION.has(model) ? text.findLive : text.find;
      const [row] = await sql.query<Row>(statement, artifactId(model, value));
      return restore(row, value);
    },

    async findByUid(uid) {
      const [row] = await sql.query<Row>(text.findByUid, uid, model, epoch());
      return restore(row);
    },

    async findByUserCode(userCode) {
      const [row] = await sql.query<Row>(text.findByUserCode, userCode, model);
      return restore(row);
    },

    async consume(value) {
      const id = artifactId(model, value);
      const changed = await sql.execute(text.consume, epoch(), id);
      if (changed > 0) return;
      if (model === 'PushedAuthorizationRequest') {
        throw new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used');
      }
      await revokeGrantOf(id);
      throw new errors.InvalidGrant(`${model} was already used`);
    },

    async destroy(value) {
      await sql.execute(text.destroy, artifactId(model, value));
    },

    async revokeByGrantId(grantId) {
      await sql.execute(text.revokeModel, grantId, model);
    },
  };
}

/** Whose row it is. A sign-in that is proven but not yet resumed belongs to the person who proved it. */
function accountOf({ accountId, result }: AdapterPayload): string | null {
  const signedIn = (result as { login?: { accountId?: string } } | undefined)?.login?.accountId;
  return signedIn ?? accountId ?? null;
}
