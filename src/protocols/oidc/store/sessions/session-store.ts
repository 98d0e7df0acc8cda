// Writes sessions so that parallel requests do not undo each other. A row is replaced only if it has not changed since
// it was read (compare and set). A new cookie value renames the row, so a session is one row from its first save to its end. An
// application enters the session before anything is issued to it, so that its tabs share one `sid` and one grant.

import { hotStatements } from '../../../../base/storage/statements.ts';
import type { Core } from '../../../../core/core.ts';
import { artifactMac, isGenuineArtifact, PROTECTED_SQL, type ProtectedArtifact } from '../protected-artifacts.ts';
import { notEndedCondition } from './ended-sessions.ts';
import {
  type Authorization,
  authorizationOf,
  hasNewLogin,
  mergeSession,
  type SessionPayload,
} from './merge-session.ts';

export interface SavedSession {
  /** Database id of the current cookie value. */
  id: string;
  /** Database id of the previous cookie value, if this request replaced it. */
  oldId: string | undefined;
  /** The stored text that this request read; undefined for a new session. */
  storedText: string | undefined;
  payload: SessionPayload & { uid: string };
  /** Epoch seconds of this server's clock (`exp` uses the engine's): the latest end, and the end if it is not used again. */
  endsAt: number;
  idleEndsAt: number;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

/** What a change of the row does to its column expires_at. */
type Expiry =
  /** Sets it. */
  | { setTo: number }
  /** Only makes it earlier. */
  | { atMost: number }
  | 'unchanged';

const TEXT = 'CAST(? AS TEXT)';
export const statements = hotStatements('sessions', {
  insert: `INSERT INTO oidc_artifacts (id, model, payload, uid, account_id, expires_at, mac)
    SELECT ${TEXT}, 'Session', ${TEXT}, ${TEXT}, ${TEXT}, CAST(? AS BIGINT), ${TEXT} WHERE ${notEndedCondition(TEXT)}
    ON CONFLICT (id) DO NOTHING`,
  // Sets expires_at if the stored value is later than the first of its two parameters.
  replace: `UPDATE oidc_artifacts SET id = ?, payload = ?, account_id = ?, mac = ?,
      expires_at = CASE WHEN expires_at > ? THEN CAST(? AS BIGINT) ELSE expires_at END
    WHERE id = ? AND payload = ?`,
  find: `SELECT ${PROTECTED_SQL} FROM oidc_artifacts
    WHERE uid = ? AND model = 'Session' AND ${notEndedCondition('oidc_artifacts.uid')}`,
});

export function createSessionStore({ sql }: Core) {
  function macOf(id: string, payload: string, uid: string, accountId: string | null): string {
    const none = { grantId: null, userCode: null, clientId: null };
    return artifactMac({ id, model: 'Session', payload, uid, accountId, ...none }, sql);
  }

  /** The row of a session that has not ended. Ignores a row with a wrong MAC; saving it again would give it a valid one. */
  async function find(uid: string): Promise<ProtectedArtifact | undefined> {
    const [row] = await sql.query<ProtectedArtifact>(statements.find, uid);
    return row && isGenuineArtifact(row, sql) ? row : undefined;
  }

  /** False when the session has ended, or is stored already. */
  async function insert({ id, payload, endsAt, idleEndsAt }: SavedSession): Promise<boolean> {
    const { uid, accountId = null } = payload;
    const text = JSON.stringify(payload);
    const expiresAt = accountId === null ? endsAt : Math.min(endsAt, idleEndsAt);
    const values = [id, text, uid, accountId, expiresAt, macOf(id, text, uid, accountId)];
    return (await sql.execute(statements.insert, ...values, uid)) > 0;
  }

  /** Stores `next` under `id`. False when the row is no longer as `stored` says. */
  async function replace(
    stored: { id: string; payload: string; uid: string },
    id: string,
    next: SessionPayload,
    expiry: Expiry,
  ): Promise<boolean> {
    const [payload, accountId] = [JSON.stringify(next), next.accountId ?? null];
    const values = [id, payload, accountId, macOf(id, payload, stored.uid, accountId), ...expiryValues(expiry)];
    return (await sql.execute(statements.replace, ...values, stored.id, stored.payload)) > 0;
  }

  return {
    /** Stores the session as a request has changed it. False when the request's cookie is no longer that of the session. */
    async save(session: SavedSession): Promise<boolean> {
      const { id, oldId = id, storedText, payload } = session;
      const { uid } = payload;
      if (storedText === undefined) {
        if (await insert(session)) return true;
        // The engine saves once more when a save fails, and the first INSERT may have succeeded although its response was
        // lost.
        const stored = await find(uid);
        return stored?.id === id && replace({ ...stored, uid }, id, payload, expiryOf(session, undefined));
      }
      // The engine saves the session at the end of every request, changed or not.
      if (id === oldId && JSON.stringify(payload) === storedText) return true;
      const read: SessionPayload = JSON.parse(storedText);
      const expiry = expiryOf(session, read);
      if (await replace({ id: oldId, payload: storedText, uid }, id, payload, expiry)) return true;
      // Another request has changed the row. Each further round means that one has again, so the loop ends.
      for (;;) {
        const stored = await find(uid);
        if (!stored) return false;
        // Only this request knows the new id, so a row with it was renamed by an earlier attempt whose response was lost.
        const wasRenamed = stored.id !== oldId && stored.id !== id;
        const merged = mergeSession(read, payload, JSON.parse(stored.payload), { wasRenamed });
        if (!merged) return false;
        const mergedExpiry = merged.exp === payload.exp ? expiry : 'unchanged';
        if (await replace({ ...stored, uid }, wasRenamed ? stored.id : id, merged, mergedExpiry)) return !wasRenamed;
      }
    },

    /**
     * Adds an application to a stored session before anything is issued to it, unless another request was first since `known`
     * was read. Returns the entry that is stored; undefined when the session has ended.
     */
    async addClientToSession(
      { uid, accountId }: { uid: string; accountId: string },
      clientId: string,
      entry: Authorization,
      known: Authorization | undefined,
    ): Promise<Authorization | undefined> {
      for (;;) {
        const stored = await find(uid);
        if (!stored) return undefined;
        const payload: SessionPayload = JSON.parse(stored.payload);
        // The sign-in of this request is not stored yet; the entry is stored together with it.
        if (payload.accountId !== accountId) return entry;
        const present = authorizationOf(payload.authorizations ?? {}, clientId);
        if (present && present.grantId !== known?.grantId) return present;
        const authorizations = { ...payload.authorizations, [clientId]: { ...present, ...entry } };
        if (await replace({ ...stored, uid }, stored.id, { ...payload, authorizations }, 'unchanged')) return entry;
      }
    },
  };
}

/** A sign-in restarts both limits. Any other request keeps the idle limit, and only applies a shorter `session_hours`. */
function expiryOf({ payload, endsAt, idleEndsAt }: SavedSession, read: SessionPayload | undefined): Expiry {
  if (payload.accountId === undefined) return { setTo: endsAt };
  return hasNewLogin(read, payload) ? { setTo: Math.min(endsAt, idleEndsAt) } : { atMost: endsAt };
}

/** The two parameters of `replace`: the stored value that is kept at most, and the new one. */
function expiryValues(expiry: Expiry): [keptUpTo: number, newValue: number] {
  if (expiry === 'unchanged') return [Number.MAX_SAFE_INTEGER, 0];
  return 'setTo' in expiry ? [0, expiry.setTo] : [expiry.atMost, expiry.atMost];
}
