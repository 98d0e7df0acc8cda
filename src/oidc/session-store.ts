// Writes sessions so that no request undoes another's work. A row is only ever replaced as it was read (compare and
// set), and a new cookie value renames it, so a session is one row from its first save to its end, and can't come back.
import { type Sql, sqlFor } from '../platform/sql.ts';
import { notEnded } from './ended-sessions.ts';
import { type Authorization, mergeSession, own, type SessionPayload } from './merge-session.ts';

export interface SavedSession {
  /** Database id of the session's cookie value, and of the one before when this request has changed it. */
  id: string;
  oldId: string | undefined;
  /** The stored text that this request began with; none for a new session. */
  asRead: string | undefined;
  payload: SessionPayload & { uid: string };
  /** Epoch seconds, by our clock; `exp` goes by the engine's. */
  expiresAt: number;
}

export interface SessionStore {
  /** Stores what a request has made of its session. False when its cookie stands for the session no more. */
  save(session: SavedSession): Promise<boolean>;
  /**
   * Enters an application into a stored session before anything is issued to it, unless another request was first since
   * `known` was read. Returns the entry that counts; undefined when the session has ended.
   */
  enter(
    session: { uid: string; accountId: string },
    clientId: string,
    entry: Authorization,
    known: Authorization | undefined,
  ): Promise<Authorization | undefined>;
}

interface Row {
  id: string;
  payload: string;
  expiresAt?: number;
}

const TEXT = 'CAST(? AS TEXT)';
const SQL = {
  insert: `INSERT INTO oidc_artifacts (id, model, payload, uid, account_id, expires_at)
    SELECT ${TEXT}, 'Session', ${TEXT}, ${TEXT}, ${TEXT}, CAST(? AS BIGINT) WHERE ${notEnded(TEXT)}`,
  replace: 'UPDATE oidc_artifacts SET id = ?, payload = ?, account_id = ?, expires_at = ? WHERE id = ? AND payload = ?',
  find: `SELECT id, payload, expires_at AS "expiresAt" FROM oidc_artifacts
    WHERE uid = ? AND model = 'Session' AND ${notEnded('oidc_artifacts.uid')}`,
};

export function createSessionStore({ sql, kind }: { sql: Sql; kind: 'sqlite' | 'postgresql' }): SessionStore {
  const text = sqlFor(kind, SQL);

  const find = async (uid: string) => (await sql.query<Row>(text.find, uid))[0];

  async function replace(
    stored: Row,
    id: string,
    next: SessionPayload,
    expiresAt = stored.expiresAt,
  ): Promise<boolean> {
    const values = [id, JSON.stringify(next), next.accountId ?? null, expiresAt ?? null];
    return (await sql.execute(text.replace, ...values, stored.id, stored.payload)) > 0;
  }

  return {
    async save({ id, oldId = id, asRead, payload, expiresAt }) {
      const { uid, accountId = null } = payload;
      const ours = JSON.stringify(payload);
      if (asRead === undefined) {
        return (await sql.execute(text.insert, id, ours, uid, accountId, expiresAt, uid)) > 0;
      }
      // The engine saves the session at the end of every request, changed or not.
      if (id === oldId && ours === asRead) return true;
      if (await replace({ id: oldId, payload: asRead }, id, payload, expiresAt)) return true;
      // Every further turn means that another request has stored something, and those are not endless.
      for (;;) {
        const stored = await find(uid);
        if (!stored) return false;
        const hasMoved = stored.id !== oldId;
        const merged = mergeSession(JSON.parse(asRead), payload, JSON.parse(stored.payload), { hasMoved });
        if (!merged) return false;
        const until = merged.exp === payload.exp ? expiresAt : stored.expiresAt;
        if (await replace(stored, hasMoved ? stored.id : id, merged, until)) return !hasMoved;
      }
    },

    async enter({ uid, accountId }, clientId, entry, known) {
      for (;;) {
        const stored = await find(uid);
        if (!stored) return undefined;
        const payload: SessionPayload = JSON.parse(stored.payload);
        // The sign-in of this request is not stored yet: what it enters is stored with it.
        if (payload.accountId !== accountId) return entry;
        const present = own(payload.authorizations ?? {}, clientId);
        if (present && present.grantId !== known?.grantId) return present;
        const next = {
          ...payload,
          authorizations: { ...payload.authorizations, [clientId]: { ...present, ...entry } },
        };
        if (await replace(stored, stored.id, next)) return entry;
      }
    },
  };
}
