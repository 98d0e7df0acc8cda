// Writes sessions so that parallel requests do not undo each other. A row is replaced only if it is as it was read (compare
// and set), and a new cookie value renames it: a session is one row from its first save to its end, and cannot come back.
import type { ProtectedRows } from '../../../audit/protected-rows.ts';
import { hotStatements, type Sql } from '../../../storage/statements.ts';
import { artifactMac, isGenuineArtifact, PROTECTED_SQL, type ProtectedArtifact } from '../protected-artifacts.ts';
import { notEnded } from './ended-sessions.ts';
import {
  type Authorization,
  authorizationOf,
  hasNewLogin,
  mergeSession,
  type SessionPayload,
} from './merge-session.ts';

export interface SavedSession {
  /** Database id of the session's cookie value, and of the one before when this request has changed it. */
  id: string;
  oldId: string | undefined;
  /** The stored text that this request began with; none for a new session. */
  asRead: string | undefined;
  payload: SessionPayload & { uid: string };
  /** Epoch seconds of this server's clock (`exp` uses the engine's): the latest end, and the end if it is not used again. */
  endsAt: number;
  idleEndsAt: number;
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

/** The new value of expires_at: `value`, where the stored one is later than `above`. */
interface Expiry {
  above: number;
  value: number;
}

/** Only the user's requests move the end (session-activity.ts). */
const SAME_EXPIRY: Expiry = { above: Number.MAX_SAFE_INTEGER, value: 0 };

const TEXT = 'CAST(? AS TEXT)';
export const statements = hotStatements('sessions', {
  insert: `INSERT INTO oidc_artifacts (id, model, payload, uid, account_id, expires_at, mac)
    SELECT ${TEXT}, 'Session', ${TEXT}, ${TEXT}, ${TEXT}, CAST(? AS BIGINT), ${TEXT} WHERE ${notEnded(TEXT)}
    ON CONFLICT (id) DO NOTHING`,
  replace: `UPDATE oidc_artifacts SET id = ?, payload = ?, account_id = ?, mac = ?,
      expires_at = CASE WHEN expires_at > ? THEN CAST(? AS BIGINT) ELSE expires_at END
    WHERE id = ? AND payload = ?`,
  find: `SELECT ${PROTECTED_SQL} FROM oidc_artifacts
    WHERE uid = ? AND model = 'Session' AND ${notEnded('oidc_artifacts.uid')}`,
});

export interface SessionStoreDependencies {
  sql: Sql;
  protectedRows: ProtectedRows;
}

export function createSessionStore(dependencies: SessionStoreDependencies): SessionStore {
  const rows = createSessionRows(dependencies);
  return {
    save: (session) => saveSession(rows, session),
    addClientToSession: (session, clientId, entry, known) => addClientToSession(rows, session, clientId, entry, known),
  };
}

type SessionRows = ReturnType<typeof createSessionRows>;

/** The row of a session with its MAC. */
function createSessionRows({ sql, protectedRows }: SessionStoreDependencies) {
  const macOf = (id: string, payload: string, uid: string, accountId: string | null) => {
    const none = { grantId: null, userCode: null, clientId: null };
    return artifactMac({ id, model: 'Session', payload, uid, accountId, ...none }, protectedRows);
  };

  return {
    /** A change must not confirm a row that another program wrote, so that one is not found. */
    async find(uid: string): Promise<ProtectedArtifact | undefined> {
      const [row] = await sql.query<ProtectedArtifact>(statements.find, uid);
      return row && isGenuineArtifact(row, protectedRows) ? row : undefined;
    },

    /** False when the session has ended, or is stored already. */
    async insert(session: SavedSession): Promise<boolean> {
      const { id, payload } = session;
      const { uid, accountId = null } = payload;
      const text = JSON.stringify(payload);
      const expiresAt = expiryOf(session, undefined).value;
      const mac = macOf(id, text, uid, accountId);
      return (await sql.execute(statements.insert, id, text, uid, accountId, expiresAt, mac, uid)) > 0;
    },

    /** False when the row is no longer as it was stored. */
    async replace(
      stored: { id: string; payload: string; uid: string },
      id: string,
      next: SessionPayload,
      { above, value }: Expiry,
    ): Promise<boolean> {
      const [payload, accountId] = [JSON.stringify(next), next.accountId ?? null];
      const values = [id, payload, accountId, macOf(id, payload, stored.uid, accountId), above, value];
      return (await sql.execute(statements.replace, ...values, stored.id, stored.payload)) > 0;
    },
  };
}

async function saveSession({ find, insert, replace }: SessionRows, session: SavedSession): Promise<boolean> {
  const { id, oldId = id, asRead, payload } = session;
  const { uid } = payload;
  if (asRead === undefined) {
    if (await insert(session)) return true;
    // The engine saves once more when a save fails, and the database may have stored what it gave no answer to.
    const stored = await find(uid);
    return stored?.id === id && replace({ ...stored, uid }, id, payload, expiryOf(session, undefined));
  }
  // The engine saves the session at the end of every request, changed or not.
  if (id === oldId && JSON.stringify(payload) === asRead) return true;
  const read: SessionPayload = JSON.parse(asRead);
  const expiry = expiryOf(session, read);
  if (await replace({ id: oldId, payload: asRead, uid }, id, payload, expiry)) return true;
  // Each further round means that another request has stored a change, so the loop ends.
  for (;;) {
    const stored = await find(uid);
    if (!stored) return false;
    // Nobody but this request knows its new value: a row that has it was renamed by an earlier try, whose answer was lost.
    const hasMoved = stored.id !== oldId && stored.id !== id;
    const merged = mergeSession(read, payload, JSON.parse(stored.payload), { hasMoved });
    if (!merged) return false;
    const mergedExpiry = merged.exp === payload.exp ? expiry : SAME_EXPIRY;
    if (await replace({ ...stored, uid }, hasMoved ? stored.id : id, merged, mergedExpiry)) return !hasMoved;
  }
}

async function addClientToSession(
  { find, replace }: SessionRows,
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
    const next = {
      ...payload,
      authorizations: { ...payload.authorizations, [clientId]: { ...present, ...entry } },
    };
    if (await replace({ ...stored, uid }, stored.id, next, SAME_EXPIRY)) return entry;
  }
}

/** A sign-in starts both limits again. A request without one leaves the idle limit, and follows a shorter `session_hours`. */
function expiryOf({ payload, endsAt, idleEndsAt }: SavedSession, read: SessionPayload | undefined): Expiry {
  if (payload.accountId === undefined) return { above: 0, value: endsAt };
  if (hasNewLogin(read, payload)) return { above: 0, value: Math.min(endsAt, idleEndsAt) };
  return { above: endsAt, value: endsAt };
}
