// The single sign-on sessions of users, which the engine writes (session-store.ts): who is signed in where, and their end with all that
// was granted in them.

import { limits } from '../../../../base/limits.ts';
import { BoundedMap } from '../../../../base/platform/bounded-map.ts';
import type { RequestInfo } from '../../../../base/platform/request-info.ts';
import type { Db, Tx } from '../../../../base/storage/database.ts';
import { hotStatements } from '../../../../base/storage/statements.ts';
import type { Core } from '../../../../core/core.ts';
import { artifactId, isPastAbsoluteExpiry } from '../adapter.ts';
import { GRANT_MODELS, grantsOf, removeGrantsBut, removeGrantsById, type StoredGrant } from '../grants.ts';
import { isGenuineArtifact, PROTECTED_COLUMNS, type ProtectedArtifact } from '../protected-artifacts.ts';
import { findEnded, markEnded } from './ended-sessions.ts';
import type { Authorization } from './merge-session.ts';

export interface Participant {
  clientId: string;
  sid: string | undefined;
  grantId: string | undefined;
  /** The user has granted offline_access to this application. */
  staysConnected: boolean;
  /** It got a code, a token or an assertion: one that rejected the person, still waits or was only tested knows of no session. */
  isAnswered: boolean;
}

export interface SessionEntry {
  uid: string;
  accountId: string;
  acr: string | undefined;
  amr: string[];
  signedInAt: Date;
  /** The latest end. */
  expiresAt: Date;
  /** The end if its user makes no further request. */
  idleExpiresAt: Date;
  participants: Participant[];
}

/** The applications in which the user is signed in: those that got an answer. */
export const applicationsIn = ({ participants }: SessionEntry): string[] =>
  participants.filter(({ isAnswered }) => isAnswered).map(({ clientId }) => clientId);

interface Payload {
  uid: string;
  accountId: string;
  acr?: string;
  amr?: string[];
  loginTs?: number;
  exp: number;
  authorizations?: Record<string, Authorization>;
}

// Written at every sign-in.
export const statements = hotStatements('session-devices', {
  recordDevice: `INSERT INTO session_devices (uid, user_id, browser_id, user_agent, address, created_at, last_seen_at, expires_at)
    VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (uid) DO UPDATE SET user_id = excluded.user_id, browser_id = excluded.browser_id,
      user_agent = excluded.user_agent, address = excluded.address, last_seen_at = excluded.last_seen_at,
      expires_at = excluded.expires_at`,
});

export type Sessions = ReturnType<typeof createSessions>;

const PAGE = 200;

interface Row {
  payload: string;
  expiresAt: bigint | number | null;
}

interface LiveRow extends Row, ProtectedArtifact {}

const ROW = { payload: true, expiresAt: true } as const;
const LIVE_ROW = { ...PROTECTED_COLUMNS, expiresAt: true } as const;

export function createSessions(services: Core) {
  const { db, sql, now } = services;

  const epoch = () => BigInt(Math.floor(now().getTime() / 1000));

  async function find(uid: string, tx: Tx = db): Promise<SessionEntry | undefined> {
    const where = { model: 'Session', uid, expiresAt: { gt: epoch() } };
    const row = await tx.oidcArtifact.findFirst({ where, select: LIVE_ROW });
    return row && (await findEnded(tx, [uid])).size === 0 ? readLive(row, tx) : undefined;
  }

  const list = (accountId: string, tx: Tx = db): Promise<SessionEntry[]> => liveSessionsOf(accountId, epoch(), tx);

  return {
    /** Remembers the browser in which a session began, until `endsAt`, the latest end of the session. */
    async recordDevice(
      { uid, accountId, endsAt }: { uid: string; accountId: string; endsAt: Date },
      { userAgent, address }: RequestInfo,
      browserId?: string | undefined,
    ): Promise<void> {
      const at = now();
      const device = [accountId, browserId ?? null, userAgent, address, at, at, endsAt];
      await sql.later(statements.recordDevice, [uid, ...device]);
    },

    /** The known browsers in which these sessions began. */
    async browsersOf(uids: readonly string[], tx: Tx): Promise<string[]> {
      const where = { uid: { in: [...uids] }, browserId: { not: null } };
      const rows = await tx.sessionDevice.findMany({ where, select: { browserId: true } });
      return rows.flatMap(({ browserId }) => browserId ?? []);
    },

    ...createSessionActivity(services, async (uid) => (await find(uid))?.expiresAt),
    find,
    /** Live sessions of an account, the newest first. */
    list,
    remove: removeSession,

    /** The live session of this value of the session cookie. */
    async ofCookie(value: string | undefined): Promise<SessionEntry | undefined> {
      if (!value) return undefined;
      const row = await db.oidcArtifact.findUnique({
        where: { id: artifactId('Session', value) },
        select: { uid: true },
      });
      return row?.uid ? find(row.uid) : undefined;
    },

    /** The live ones of these sessions, in no order. */
    async findAll(uids: readonly string[]): Promise<SessionEntry[]> {
      const rows = await db.oidcArtifact.findMany({
        where: { model: 'Session', uid: { in: [...uids] }, expiresAt: { gt: epoch() } },
        select: LIVE_ROW,
      });
      const ended = await findEnded(db, [...uids]);
      return rows.flatMap((row) => readLive(row, db) ?? []).filter(({ uid }) => !ended.has(uid));
    },

    /** The live sessions of an account beyond the newest `max`. */
    async exceeding(accountId: string, max: number): Promise<string[]> {
      const live = await list(accountId);
      if (live.length <= max) return [];
      const devices = await db.sessionDevice.findMany({
        where: { uid: { in: live.map(({ uid }) => uid) } },
        select: { uid: true, createdAt: true },
      });
      // The time of a sign-in is in seconds; for equal ones, the rows of their browsers give the order.
      const recordedAt = new Map(devices.map(({ uid, createdAt }) => [uid, createdAt.getTime()]));
      const recorded = ({ uid }: SessionEntry) => recordedAt.get(uid) ?? now().getTime();
      const newestFirst = live.sort(
        (a, b) =>
          b.signedInAt.getTime() - a.signedInAt.getTime() || recorded(b) - recorded(a) || (a.uid < b.uid ? 1 : -1),
      );
      return newestFirst.slice(max).map(({ uid }) => uid);
    },

    /** Sessions that have expired and were not ended yet, the oldest first. */
    async expired(limit: number): Promise<SessionEntry[]> {
      const rows = await db.oidcArtifact.findMany({
        where: { model: 'Session', accountId: { not: null }, expiresAt: { lte: epoch() } },
        orderBy: { expiresAt: 'asc' },
        take: limit,
        select: ROW,
      });
      return rows.flatMap((row) => read(row) ?? []);
    },

    /** Live sessions in which an application takes part. */
    withParticipant: (clientId: string): AsyncIterable<SessionEntry> => participatingSessions(db, clientId, epoch()),

    /** Removes everything of the account: sessions, grants, codes, access and refresh tokens. Returns the sessions. */
    async removeAllOf(accountId: string, tx: Tx): Promise<SessionEntry[]> {
      const ended: SessionEntry[] = [];
      for (const session of await list(accountId, tx)) {
        const last = await removeSession(session, tx);
        if (last) ended.push(last);
      }
      await tx.oidcArtifact.deleteMany({ where: { accountId } });
      return ended;
    },

    /** Removes the grants and tokens of one application for one account, or for all. */
    async removeGrants(accountId: string | undefined, clientId: string): Promise<void> {
      const ofAccount = accountId === undefined ? {} : { accountId };
      await db.oidcArtifact.deleteMany({ where: { ...ofAccount, clientId, model: { in: GRANT_MODELS } } });
    },

    /** Removes the grants of the account with their tokens, offline ones included; those that end with the session `except` stay. */
    removeGrantsBut,
    /** The applications with a grant of the account. */
    grantsOf: (accountId: string): Promise<StoredGrant[]> => grantsOf(db, accountId, epoch()),
  };
}

/** Live sessions of an account, the newest first. */
async function liveSessionsOf(accountId: string, now: bigint, tx: Tx): Promise<SessionEntry[]> {
  const rows = await tx.oidcArtifact.findMany({
    where: { model: 'Session', accountId, expiresAt: { gt: now } },
    select: LIVE_ROW,
  });
  const sessions = rows.flatMap((row) => readLive(row, tx) ?? []);
  const ended = await findEnded(
    tx,
    sessions.map(({ uid }) => uid),
  );
  const live = sessions.filter(({ uid }) => !ended.has(uid));
  return live.sort((a, b) => b.signedInAt.getTime() - a.signedInAt.getTime());
}

/** Live sessions in which an application takes part, read in pages. */
async function* participatingSessions(db: Db, clientId: string, now: bigint): AsyncIterable<SessionEntry> {
  // The text finds candidates; the parsed payload decides.
  const payload = { contains: `${JSON.stringify(clientId)}:` };
  for (let after = ''; ; ) {
    const rows = await db.oidcArtifact.findMany({
      where: { model: 'Session', accountId: { not: null }, expiresAt: { gt: now }, id: { gt: after }, payload },
      orderBy: { id: 'asc' },
      take: PAGE,
      select: LIVE_ROW,
    });
    for (const session of rows.flatMap((row) => readLive(row, db) ?? [])) {
      if (session.participants.some((participant) => participant.clientId === clientId)) yield session;
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}

/**
 * Removes the session and every grant that ends with it. Returns it as it ended; undefined when another caller was first.
 * @param options.offline also removes the grants with offline_access that were given in this session
 */
async function removeSession(
  session: SessionEntry,
  tx: Tx,
  { offline = false }: { offline?: boolean } = {},
): Promise<SessionEntry | undefined> {
  // Applications that a request added after the session was read are notified of its end as well.
  const removed = await tx.$queryRaw<Row[]>`DELETE FROM oidc_artifacts
    WHERE uid = ${session.uid} AND model = 'Session' RETURNING payload, expires_at AS "expiresAt"`;
  const [last = session] = removed.flatMap((row) => read(row) ?? []);
  if (!(await markEnded(tx, last.uid, lastSecond(last)))) return undefined;
  const ending = last.participants.filter(({ staysConnected }) => offline || !staysConnected);
  const grantIds = ending.flatMap(({ grantId }) => grantId ?? []);
  if (grantIds.length > 0) await removeGrantsById(tx, last.accountId, grantIds);
  return last;
}

/** Epoch second until which a running request could still store the session again. */
function lastSecond({ expiresAt }: SessionEntry): number {
  return Math.floor(expiresAt.getTime() / 1000) + limits.http.requestSeconds * 2;
}

/** A live session; undefined for a wrong MAC. Sessions that end are read without this check, because they grant nothing any more. */
function readLive(row: LiveRow, tx: Tx): SessionEntry | undefined {
  if (!isGenuineArtifact(row, tx) || isPastAbsoluteExpiry(JSON.parse(row.payload) as Payload)) return undefined;
  return read(row);
}

function read({ payload, expiresAt }: Row): SessionEntry | undefined {
  const { uid, accountId, acr, amr = [], loginTs = 0, exp, authorizations = {} } = JSON.parse(payload) as Payload;
  if (!accountId) return undefined;
  return {
    uid,
    accountId,
    acr,
    amr,
    signedInAt: new Date(loginTs * 1000),
    expiresAt: new Date(exp * 1000),
    idleExpiresAt: new Date(Number(expiresAt) * 1000),
    participants: Object.entries(authorizations).map(([clientId, { sid, grantId, persistsLogout, isAnswered }]) => ({
      clientId,
      sid,
      grantId,
      staysConnected: persistsLogout === true,
      isAnswered: isAnswered === true,
    })),
  };
}

const PAUSE_SECONDS = limits.session.activitySeconds;
const MAX_REMEMBERED = 10_000;

/** @param latestEndOf the latest end of a live session */
function createSessionActivity(
  { db, logger, now, settings }: Core,
  latestEndOf: (uid: string) => Promise<Date | undefined>,
) {
  // Saves most of the statements; another instance does not know of it and writes once more.
  const recordedAt = new BoundedMap<string, number>(MAX_REMEMBERED);

  async function record(uid: string, at: number): Promise<void> {
    const endsAt = await latestEndOf(uid);
    if (!endsAt) return;
    const end = Math.min(Math.floor(endsAt.getTime() / 1000), at + settings.latest().session_idle_minutes * 60);
    // An ended session stays ended: it has no row, or its end has passed.
    const where = { uid, model: 'Session', expiresAt: { gt: BigInt(at) } };
    const { count } = await db.oidcArtifact.updateMany({ where, data: { expiresAt: BigInt(end) } });
    if (count > 0)
      await db.sessionDevice.updateMany({ where: { uid }, data: { lastSeenAt: now(), expiresAt: endsAt } });
  }

  return {
    /**
     * Records a request of the user, at most once a minute for each session; nothing for a session that has ended. The request goes on where
     * the database takes no writes: the next one is recorded.
     */
    async recordActivity(uid: string): Promise<void> {
      const at = Math.floor(now().getTime() / 1000);
      if (at - (recordedAt.get(uid) ?? 0) < PAUSE_SECONDS) return;
      recordedAt.set(uid, at);
      try {
        await record(uid, at);
      } catch (err) {
        recordedAt.delete(uid);
        logger.error({ err }, 'the use of a session was not recorded');
      }
    },
  };
}
