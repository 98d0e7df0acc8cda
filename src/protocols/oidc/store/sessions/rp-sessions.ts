// Sessions of the relying parties that this server is itself: its own pages, and the websites behind proxies. A cookie holds a random value of
// which only the hash is stored. Each session belongs to a single sign-on session and ends with it, in the same transaction: a session is
// read together with the single sign-on session, and is none without it.

import { limits } from '../../../../base/limits.ts';
import { randomToken, sha256 } from '../../../../base/platform/random.ts';
import type { Tx } from '../../../../base/storage/database.ts';
import { REVISION, shareRevision } from '../../../../base/storage/postgresql/directory-revision.ts';
import { hotStatements } from '../../../../base/storage/statements.ts';
import type { Core } from '../../../../core/core.ts';
import { acrOf, withMfa } from '../../../../people/mfa/acr.ts';
import { FIRST_PARTY_CLIENT_ID, type InProcessSignIn } from '../../in-process-clients.ts';
import { isPastAbsoluteExpiry } from '../adapter.ts';
import { isGenuineArtifact } from '../protected-artifacts.ts';
import { notEndedCondition } from './ended-sessions.ts';

export interface RpSession {
  /** The hash of the cookie. */
  id: string;
  userId: string;
  ssoUid: string;
  acr: string | undefined;
  amr: string[];
  /** When the user last authenticated. */
  authTime: Date;
  expiresAt: Date;
}

export type RpSessions = ReturnType<typeof createRpSessions>;

interface Row {
  id: string;
  clientId: string;
  userId: string;
  ssoUid: string;
  acr: string | null;
  /** JSON array. */
  amr: string;
  authTime: Date | string;
  mac: string;
  expiresAt: Date | string;
  // Of the single sign-on session.
  sessionId: string;
  payload: string;
  accountId: string | null;
  sessionMac: string;
}

const LIFETIME_MS = limits.rpSession.cookieSeconds * 1000;
const THRESHOLD_MS = limits.rpSession.refreshThresholdSeconds * 1000;

const COLUMNS = `r.id, r.client_id AS "clientId", r.user_id AS "userId", r.sso_uid AS "ssoUid", r.acr, r.amr, r.auth_time AS "authTime",
      r.mac, r.expires_at AS "expiresAt", s.id AS "sessionId", s.payload, s.account_id AS "accountId", s.mac AS "sessionMac"`;
const SESSIONS = `rp_sessions r JOIN oidc_artifacts s ON s.uid = r.sso_uid AND s.model = 'Session'`;
const LIVE = `r.id = ? AND s.expires_at > ? AND ${notEndedCondition('s.uid')}`;

export const statements = hotStatements('rp-sessions', {
  find: `SELECT ${COLUMNS} FROM ${SESSIONS} WHERE ${LIVE}`,
  /** PostgreSQL: with the revision of the directory, also where there is no session. */
  findWithRevision: `SELECT ${COLUMNS}, revision FROM (SELECT ${REVISION} AS revision) d LEFT JOIN (${SESSIONS}) ON ${LIVE}`,
});

export function createRpSessions({ db, sql, now }: Core) {
  /** On PostgreSQL, the request gets the revision of the directory in the same round trip. */
  async function read(id: string, epoch: number): Promise<Row | undefined> {
    if (!sql.isRemote) return (await sql.query<Row>(statements.find, id, epoch))[0];
    const found = sql.query<(Row | { id: null }) & { revision: string | null }>(statements.findWithRevision, id, epoch);
    shareRevision(found);
    const [row] = await found;
    return row?.id == null ? undefined : row;
  }

  async function find(cookie: string | undefined, clientId = FIRST_PARTY_CLIENT_ID): Promise<RpSession | undefined> {
    if (!cookie) return undefined;
    const at = now();
    const row = await read(sha256(cookie), Math.floor(at.getTime() / 1000));
    if (!row || row.clientId !== clientId || row.userId !== row.accountId) return undefined;
    const { id, userId, ssoUid, acr, amr, payload } = row;
    const [authTime, expiresAt] = [new Date(row.authTime), new Date(row.expiresAt)];
    if (expiresAt <= at) return undefined;
    // Not a copy of the row (`...row`): V8 makes a map of its own for each, which is old from the beginning.
    const own = { id, clientId, userId, ssoUid, acr, amr, authTime };
    if (!sql.macs.isGenuine('rp_sessions', own, row.mac)) return undefined;
    const none = { grantId: null, userCode: null, clientId: null, consumedAt: null };
    const { sessionId, accountId, sessionMac: mac } = row;
    const session = { id: sessionId, model: 'Session', payload, uid: ssoUid, accountId, mac, ...none };
    if (!isGenuineArtifact(session, sql) || isPastAbsoluteExpiry(JSON.parse(payload))) return undefined;
    return { id, userId, ssoUid, acr: acr ?? undefined, amr: JSON.parse(amr), authTime, expiresAt };
  }

  /** @param cookie a new value for each session (session fixation) */
  async function create(
    { accountId, ssoUid, acr, amr, authTime }: Omit<InProcessSignIn, 'nonce'>,
    {
      clientId = FIRST_PARTY_CLIENT_ID,
      cookie = randomToken(),
      lifetimeMs = LIFETIME_MS,
    }: { clientId?: string; cookie?: string; lifetimeMs?: number } = {},
  ): Promise<string> {
    const data = {
      id: sha256(cookie),
      clientId,
      userId: accountId,
      ssoUid,
      acr: acr ?? null,
      amr: JSON.stringify(amr),
      authTime,
    };
    const expiresAt = new Date(now().getTime() + lifetimeMs);
    await db.rpSession.create({ data: { ...data, createdAt: now(), expiresAt } });
    return cookie;
  }

  return {
    /** The live session of this cookie at this relying party. */
    find,
    /** Returns the value of the cookie. */
    create,

    /** Replaces the session by one that has proven these methods just now, under a new cookie value. */
    async renew(cookie: string, { userId, ssoUid, amr }: RpSession, more: readonly string[]): Promise<string> {
      const proven = withMfa([...amr, ...more]);
      const renewed = await create({ accountId: userId, ssoUid, acr: acrOf(proven), amr: proven, authTime: now() });
      await db.rpSession.deleteMany({ where: { id: sha256(cookie) } });
      return renewed;
    },

    /**
     * Replaces the session of this cookie by the one of a sign-in, under a new cookie value. What the user has proven since that sign-in, in
     * the same single sign-on session, stays: another tab, or new terms, led here without asking for anything.
     */
    async replace(cookie: string | undefined, signIn: Omit<InProcessSignIn, 'nonce'>): Promise<string> {
      const old = await find(cookie);
      const isProvenSince =
        old?.ssoUid === signIn.ssoUid &&
        old.userId === signIn.accountId &&
        old.authTime > signIn.authTime &&
        signIn.amr.every((method) => old.amr.includes(method));
      const { acr, amr, authTime } = isProvenSince ? old : signIn;
      const replaced = await create({ ...signIn, acr, amr, authTime });
      if (cookie) await db.rpSession.deleteMany({ where: { id: sha256(cookie) } });
      return replaced;
    },

    /** Extends the session by an hour when it is within minutes of its end; undefined when it has ended. */
    async refresh(cookie: string | undefined): Promise<RpSession | undefined> {
      const session = await find(cookie);
      if (!session || !cookie) return undefined;
      if (session.expiresAt.getTime() - now().getTime() > THRESHOLD_MS) return session;
      const expiresAt = new Date(now().getTime() + LIFETIME_MS);
      await db.rpSession.updateMany({ where: { id: sha256(cookie) }, data: { expiresAt } });
      return { ...session, expiresAt };
    },

    async remove(cookie: string | undefined): Promise<void> {
      if (cookie) await db.rpSession.deleteMany({ where: { id: sha256(cookie) } });
    },

    /** Adds authentication methods that the user has just proven on a page of this server (amr, RFC 8176). */
    async addProof({ userId, ssoUid, amr }: RpSession, more: readonly string[]): Promise<void> {
      const proven = withMfa([...amr, ...more]);
      const change = { amr: JSON.stringify(proven), acr: acrOf(proven) ?? null };
      await db.rpSession.updateMany({ where: { userId, ssoUid, clientId: FIRST_PARTY_CLIENT_ID }, data: change });
    },
  };
}

/** Removes the sessions of a relying party that is disabled or deleted. */
export async function removeRpSessions(clientId: string, tx: Tx): Promise<void> {
  await tx.rpSession.deleteMany({ where: { clientId } });
}
