// Writes sessions so that parallel requests do not undo each other. A row is replaced only if it is as it was read (compare
// and set), and a new cookie value renames it: a session is one row from its first save to its end, and cannot come back.
import { hotStatements, type Sql } from '../../storage/statements.ts';
import { notEnded } from './ended-sessions.ts';
import { type Authorization, authorizationOf, mergeSession, type SessionPayload } from './merge-session.ts';

export interface SavedSession {
  /** Database id of the session's cookie value, and of the one before when this request has changed it. */
  id: string;
  oldId: string | undefined;
  /** The stored text that this request began with; none for a new session. */
  asRead: string | undefined;
  payload: SessionPayload & { uid: string };
  /** Epoch seconds of this server's clock; `exp` uses the engine's. */
  expiresAt: number;
}

export interface SessionStore {
  /** Stores the session as a request has changed it. False when the request's cookie is no longer that of the session. */
  save(session: SavedSession): Promise<boolean>;
  /**
   * Adds an application to a stored session before anything is issued to it, unless another request was first since `known`
   * was read. Returns the entry that is stored; undefined when the session has ended.
   */
  addClientToSession(
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
export const statements = hotStatements('sessions', {
  insert: `INSERT INTO oidc_artifacts (id, model, payload, uid, account_id, expires_at)
    SELECT ${TEXT}, 'Session', ${TEXT}, ${TEXT}, ${TEXT}, CAST(? AS BIGINT) WHERE ${notEnded(TEXT)}`,
  replace: 'UPDATE oidc_artifacts SET id = ?, payload = ?, account_id = ?, expires_at = ? WHERE id = ? AND payload = ?',
  find: `SELECT id, payload, expires_at AS "expiresAt" FROM oidc_artifacts
    WHERE uid = ? AND model = 'Session' AND ${notEnded('oidc_artifacts.uid')}`,
});

export function createSessionStore({ sql }: { sql: Sql }): SessionStore {
  const find = async (uid: string) => (await sql.query<Row>(statements.find, uid))[0];

  async function replace(
    stored: Row,
    id: string,
    next: SessionPayload,
    expiresAt = stored.expiresAt,
  ): Promise<boolean> {
    const values = [id, JSON.stringify(next), next.accountId ?? null, expiresAt ?? null];
    return (await sql.execute(statements.replace, ...values, stored.id, stored.payload)) > 0;
  }

  return {
    async save({ id, oldId = id, asRead, payload, expiresAt }) {
      const { uid, accountId = null } = payload;
      const text = JSON.stringify(payload);
      if (asRead === undefined) {
        return (await sql.execute(statements.insert, id, text, uid, accountId, expiresAt, uid)) > 0;
      }
      // The engine saves the session at the end of every request, changed or not.
      if (id === oldId && text === asRead) return true;
      if (await replace({ id: oldId, payload: asRead }, id, payload, expiresAt)) return true;
      // Each further round means that another request has stored a change, so the loop ends.
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

    async addClientToSession({ uid, accountId }, clientId, entry, known) {
      for (;;) {
        const stored = await find(uid);
        if (!stored) return undefined;
        const payload: SessionPayload = JSON.parse(stored.payload);
        // The sign-in of this request is not stored yet; the entry is stored together with it.
        if (payload.accountId !== accountId) return entry;
        const present = authorizationOf(payload.authorizations ?? {}, clientId);
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
