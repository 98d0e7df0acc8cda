// Browsers that an account was signed in from. They pass a pause that an attacker brought about (rate-limits), tell a
// new browser from an old one, and may skip the second factor where the setting allows it and the person asked.
// One random cookie value per browser; a row, revocable, for each account used in it.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import type { Db, Tx } from '../platform/db.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';

export interface KnownBrowser {
  id: string;
  /** The second factor need not be asked here. */
  isTrusted: boolean;
}

export interface BrowserSummary {
  id: string;
  userAgent: string | null;
  address: string | null;
  isTrusted: boolean;
  createdAt: Date;
  lastSeenAt: Date;
}

export interface KnownBrowsers {
  /** A value for the cookie of a browser that has none. */
  newCookie(): string;
  recognise(cookie: string | undefined, userId: string): Promise<KnownBrowser | undefined>;
  /** After a completed sign-in; `isNew` when this account was never used in it. */
  remember(cookie: string, userId: string, request?: RequestInfo): Promise<KnownBrowser & { isNew: boolean }>;
  /** Skip the second factor here for so many days, at most as many as the limit says. */
  trust(userId: string, id: string, days?: number): Promise<void>;
  /** These browsers, or all, are asked for the second factor again: after a password change, or a sign-out in them. */
  endTrust(userId: string, tx?: Tx, ids?: readonly string[]): Promise<void>;
  list(userId: string): Promise<BrowserSummary[]>;
  forget(userId: string, id?: string, tx?: Tx): Promise<number>;
}

interface Row {
  id: string;
  trustedUntil: Date | null;
  expiresAt: Date;
}

export interface KnownBrowsersNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
}

const DAY_MS = 86_400_000;
const COOKIE = /^[\w-]{43}$/;

// Plain: what every sign-in asks and writes.
const SQL = {
  find: `SELECT id, trusted_until AS "trustedUntil", expires_at AS "expiresAt" FROM known_browsers WHERE token_hash = ?`,
  // One that has run out is replaced; of two tabs that finish at the same moment the first one makes the row.
  insert: `INSERT INTO known_browsers (id, user_id, token_hash, user_agent, address, created_at, last_seen_at, expires_at)
    VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (token_hash) DO UPDATE SET id = excluded.id, trusted_until = NULL,
      user_agent = excluded.user_agent, address = excluded.address, created_at = excluded.created_at,
      last_seen_at = excluded.last_seen_at, expires_at = excluded.expires_at
    WHERE known_browsers.expires_at <= excluded.created_at`,
  seen: 'UPDATE known_browsers SET last_seen_at = ?, expires_at = ?, user_agent = ?, address = ? WHERE id = ?',
};

export function createKnownBrowsers({ db, sql, kind, now }: KnownBrowsersNeeds): KnownBrowsers {
  const text = sqlFor(kind, SQL);
  const inDays = (days: number) => new Date(now().getTime() + days * DAY_MS);
  const hash = (cookie: string, userId: string) => sha256(`${cookie}:${userId}`);
  const isTrusted = (row: { trustedUntil: Date | null }) => row.trustedUntil !== null && row.trustedUntil > now();

  async function find(tokenHash: string) {
    const [row] = await sql.query<Row>(text.find, tokenHash);
    return row && row.expiresAt > now() ? row : undefined;
  }

  return {
    newCookie: () => randomToken(),

    async recognise(cookie, userId) {
      if (!cookie || !COOKIE.test(cookie)) return undefined;
      const row = await find(hash(cookie, userId));
      return row && { id: row.id, isTrusted: isTrusted(row) };
    },

    async remember(cookie, userId, request) {
      const at = now();
      const expiresAt = inDays(limits.knownBrowser.days);
      const from = [request?.userAgent.slice(0, 512) ?? null, request?.address ?? null];
      const tokenHash = hash(cookie, userId);
      const known = await find(tokenHash);
      if (known) {
        await sql.execute(text.seen, at, expiresAt, ...from, known.id);
        return { id: known.id, isTrusted: isTrusted(known), isNew: false };
      }
      const id = randomId();
      if ((await sql.execute(text.insert, id, userId, tokenHash, ...from, at, at, expiresAt)) === 1)
        return { id, isTrusted: false, isNew: true };
      return { id: (await find(tokenHash))?.id ?? id, isTrusted: false, isNew: false };
    },

    async trust(userId, id, days = limits.rememberedBrowser.days) {
      const trustedUntil = inDays(Math.min(days, limits.rememberedBrowser.days));
      await db.knownBrowser.updateMany({ where: { id, userId }, data: { trustedUntil } });
    },

    async endTrust(userId, tx = db, ids = undefined) {
      await tx.knownBrowser.updateMany({
        where: { userId, trustedUntil: { not: null }, ...(ids && { id: { in: [...ids] } }) },
        data: { trustedUntil: null },
      });
    },

    async list(userId) {
      const rows = await db.knownBrowser.findMany({
        where: { userId, expiresAt: { gt: now() } },
        orderBy: { lastSeenAt: 'desc' },
      });
      return rows.map((row) => ({
        id: row.id,
        userAgent: row.userAgent,
        address: row.address,
        isTrusted: isTrusted(row),
        createdAt: row.createdAt,
        lastSeenAt: row.lastSeenAt,
      }));
    },

    async forget(userId, id, tx = db) {
      const { count } = await tx.knownBrowser.deleteMany({ where: { userId, ...(id === undefined ? {} : { id }) } });
      return count;
    },
  };
}
