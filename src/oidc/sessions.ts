// The engine's single sign-on sessions as rows: whose they are, which applications take part, and their end. No request
// is needed for it, so a password reset, an admin and a sign-out in another browser all end a session alike.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import type { Db, Tx } from '../platform/db.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import { artifactId } from './adapter.ts';
import { endedAmong, markEnded } from './ended-sessions.ts';

export interface Participant {
  clientId: string;
  sid: string | undefined;
  grantId: string | undefined;
  /** The person allowed this application to stay connected (offline_access). */
  staysConnected: boolean;
}

export interface SessionEntry {
  uid: string;
  accountId: string;
  acr: string | undefined;
  amr: string[];
  signedInAt: Date;
  expiresAt: Date;
  participants: Participant[];
}

interface Payload {
  uid: string;
  accountId: string;
  acr?: string;
  amr?: string[];
  loginTs?: number;
  exp: number;
  authorizations?: Record<string, { sid?: string; grantId?: string; persistsLogout?: boolean }>;
}

export interface Sessions {
  find(uid: string, tx?: Tx): Promise<SessionEntry | undefined>;
  /** The live session behind the value of the session cookie. */
  ofCookie(value: string | undefined): Promise<SessionEntry | undefined>;
  /** Those of these sessions that are live, in no order. */
  findAll(uids: readonly string[]): Promise<SessionEntry[]>;
  /** Live sessions of an account, the newest first. */
  list(accountId: string, tx?: Tx): Promise<SessionEntry[]>;
  /** Remembers the browser that a session was begun in. */
  noteDevice(
    session: { uid: string; accountId: string; exp: number },
    request: RequestInfo,
    browserId: string | undefined,
  ): Promise<void>;
  /** Notes that the session is in use, at most every few minutes. */
  seen(uid: string): Promise<void>;
  /** The known browsers that these sessions were begun in. */
  browsersOf(uids: readonly string[], tx: Tx): Promise<string[]>;
  /** Sessions that have run out and were not ended yet, the oldest first. */
  expired(limit: number): Promise<SessionEntry[]>;
  /** Live sessions in which an application takes part. */
  withParticipant(clientId: string): AsyncIterable<SessionEntry>;
  /** Removes the session and every grant that lives in it. Returns it as it ended; nothing when somebody else was first. */
  remove(session: SessionEntry, tx: Tx): Promise<SessionEntry | undefined>;
  /** Removes whatever the account still has: sessions, grants, codes, access and refresh tokens. Returns the sessions. */
  removeAllOf(accountId: string, tx: Tx): Promise<SessionEntry[]>;
  /** Removes all that one application holds for one account. */
  removeGrants(accountId: string, clientId: string): Promise<void>;
  /** Removes all that an application holds. */
  removeClient(clientId: string): Promise<void>;
}

const PAGE = 200;
const SEEN_MS = limits.session.seenSeconds * 1000;
const MAX_NOTED = 10_000;
const GRANT_MODELS = ['Grant', 'AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'];

// Plain: written at every sign-in.
const SQL = {
  noteDevice: `INSERT INTO session_devices (uid, user_id, browser_id, user_agent, address, created_at, last_seen_at, expires_at)
    VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (uid) DO UPDATE SET user_id = excluded.user_id, browser_id = excluded.browser_id,
      user_agent = excluded.user_agent, address = excluded.address, last_seen_at = excluded.last_seen_at,
      expires_at = excluded.expires_at`,
};

export interface SessionsNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
}

export function createSessions({ db, sql, kind, now }: SessionsNeeds): Sessions {
  const text = sqlFor(kind, SQL);
  // Spares most of the writes; another instance that does not know of it writes once more.
  const noted = new Map<string, number>();
  const epoch = () => BigInt(Math.floor(now().getTime() / 1000));

  const find: Sessions['find'] = async (uid, tx = db) => {
    const row = await tx.oidcArtifact.findFirst({ where: { model: 'Session', uid, expiresAt: { gt: epoch() } } });
    return row && (await endedAmong(tx, [uid])).size === 0 ? read(row.payload) : undefined;
  };

  return {
    find,

    async ofCookie(value) {
      if (!value) return undefined;
      const row = await db.oidcArtifact.findUnique({
        where: { id: artifactId('Session', value) },
        select: { uid: true },
      });
      return row?.uid ? find(row.uid) : undefined;
    },

    async findAll(uids) {
      const rows = await db.oidcArtifact.findMany({
        where: { model: 'Session', uid: { in: [...uids] }, expiresAt: { gt: epoch() } },
        select: { payload: true },
      });
      const ended = await endedAmong(db, [...uids]);
      return rows.flatMap((row) => read(row.payload) ?? []).filter(({ uid }) => !ended.has(uid));
    },

    async list(accountId, tx = db) {
      const rows = await tx.oidcArtifact.findMany({
        where: { model: 'Session', accountId, expiresAt: { gt: epoch() } },
        select: { payload: true },
      });
      const sessions = rows.flatMap((row) => read(row.payload) ?? []);
      const ended = await endedAmong(
        tx,
        sessions.map(({ uid }) => uid),
      );
      const live = sessions.filter(({ uid }) => !ended.has(uid));
      return live.sort((a, b) => b.signedInAt.getTime() - a.signedInAt.getTime());
    },

    async noteDevice({ uid, accountId, exp }, { userAgent, address }, browserId = undefined) {
      const at = now();
      const device = [accountId, browserId ?? null, userAgent, address, at, at, new Date(exp * 1000)];
      await sql.execute(text.noteDevice, uid, ...device);
    },

    async seen(uid) {
      const at = now().getTime();
      if (at - (noted.get(uid) ?? 0) < SEEN_MS) return;
      if (noted.size >= MAX_NOTED) noted.clear();
      noted.set(uid, at);
      const where = { uid, lastSeenAt: { lt: new Date(at - SEEN_MS) } };
      await db.sessionDevice.updateMany({ where, data: { lastSeenAt: new Date(at) } });
    },

    async browsersOf(uids, tx) {
      const where = { uid: { in: [...uids] }, browserId: { not: null } };
      const rows = await tx.sessionDevice.findMany({ where, select: { browserId: true } });
      return rows.flatMap(({ browserId }) => browserId ?? []);
    },

    async expired(limit) {
      const rows = await db.oidcArtifact.findMany({
        where: { model: 'Session', accountId: { not: null }, expiresAt: { lte: epoch() } },
        orderBy: { expiresAt: 'asc' },
        take: limit,
        select: { payload: true },
      });
      return rows.flatMap((row) => read(row.payload) ?? []);
    },

    async *withParticipant(clientId) {
      // The text narrows the rows down; what it says is read.
      const mentions = { contains: `${JSON.stringify(clientId)}:` };
      for (let after = ''; ; ) {
        const rows = await db.oidcArtifact.findMany({
          where: {
            model: 'Session',
            accountId: { not: null },
            expiresAt: { gt: epoch() },
            id: { gt: after },
            payload: mentions,
          },
          orderBy: { id: 'asc' },
          take: PAGE,
          select: { id: true, payload: true },
        });
        for (const session of rows.flatMap((row) => read(row.payload) ?? [])) {
          if (session.participants.some((participant) => participant.clientId === clientId)) yield session;
        }
        const last = rows.at(-1);
        if (!last || rows.length < PAGE) return;
        after = last.id;
      }
    },

    async remove(session, tx) {
      // What a request has stored since the session was read takes part in its end as well.
      const removed = await tx.$queryRaw<{ payload: string }[]>`DELETE FROM oidc_artifacts
        WHERE uid = ${session.uid} AND model = 'Session' RETURNING payload`;
      const [last = session] = removed.flatMap((row) => read(row.payload) ?? []);
      if (!(await markEnded(tx, last.uid, lastSecond(last)))) return undefined;
      const ended = last.participants.flatMap((p) => (p.grantId && !p.staysConnected ? [p.grantId] : []));
      if (ended.length > 0) await removeGrantsById(tx, last.accountId, ended);
      return last;
    },

    async removeAllOf(accountId, tx) {
      const ended: SessionEntry[] = [];
      for (const session of await this.list(accountId, tx))
        ended.push(...[(await this.remove(session, tx)) ?? []].flat());
      await tx.oidcArtifact.deleteMany({ where: { accountId } });
      return ended;
    },

    async removeGrants(accountId, clientId) {
      await db.oidcArtifact.deleteMany({ where: { accountId, clientId, model: { in: GRANT_MODELS } } });
    },

    async removeClient(clientId) {
      await db.oidcArtifact.deleteMany({ where: { clientId } });
    },
  };
}

/** Until when a request that still holds the session in memory could write it back. */
function lastSecond({ expiresAt }: SessionEntry): number {
  return Math.floor(expiresAt.getTime() / 1000) + limits.http.requestSeconds * 2;
}

/** Tokens carry their grant's id; the Grant row itself is found by whom it belongs to, its id being a hash. */
async function removeGrantsById(tx: Tx, accountId: string, grantIds: string[]): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { accountId, grantId: { in: grantIds } } });
  await tx.oidcArtifact.deleteMany({ where: { id: { in: grantIds.map((id) => artifactId('Grant', id)) } } });
}

function read(payload: string): SessionEntry | undefined {
  const { uid, accountId, acr, amr = [], loginTs = 0, exp, authorizations = {} } = JSON.parse(payload) as Payload;
  if (!accountId) return undefined;
  return {
    uid,
    accountId,
    acr,
    amr,
    signedInAt: new Date(loginTs * 1000),
    expiresAt: new Date(exp * 1000),
    participants: Object.entries(authorizations).map(([clientId, { sid, grantId, persistsLogout }]) => ({
      clientId,
      sid,
      grantId,
      staysConnected: persistsLogout === true,
    })),
  };
}
