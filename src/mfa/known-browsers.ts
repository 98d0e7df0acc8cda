// The browsers that an account signed in from. The lockout counts their attempts apart (rate-limits/lockout.ts), a new
// browser is reported to the owner, and a trusted one may skip the second factor if the settings allow it. Each browser
// has one random cookie value, and one revocable row for each account that was used in it.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import { type Db, isUniqueViolation, type Tx } from '../storage/database.ts';
import { hotStatements, type Sql } from '../storage/statements.ts';

export interface KnownBrowser {
  id: string;
  /** The account may skip the second factor here. */
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
  /** After a completed sign-in; `isNew`: this account was never used in this browser. */
  remember(cookie: string, userId: string, request?: RequestInfo): Promise<KnownBrowser & { isNew: boolean }>;
  /** Lets the account skip the second factor here for `days`, at most `limits.rememberedBrowser.days`. */
  trust(userId: string, id: string, days?: number): Promise<void>;
  /** Demands the second factor again in these browsers, or in all: after a password change, or a logout in them. */
  endTrust(userId: string, tx?: Tx, ids?: readonly string[]): Promise<void>;
  list(userId: string): Promise<BrowserSummary[]>;
  forget(userId: string, id?: string, tx?: Tx): Promise<number>;
}

interface Row {
  id: string;
  trustedUntil: Date | null;
  expiresAt: Date;
}

interface NewRow {
  id: string;
  userId: string;
  tokenHash: string;
  userAgent: string | null;
  address: string | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

export interface KnownBrowsersDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
}

const DAY_MS = 86_400_000;
const COOKIE = /^[\w-]{43}$/;

export const statements = hotStatements('known-browsers', {
  find: `SELECT id, trusted_until AS "trustedUntil", expires_at AS "expiresAt" FROM known_browsers WHERE token_hash = ?`,
});

export function createKnownBrowsers(dependencies: KnownBrowsersDependencies): KnownBrowsers {
  const { db, now } = dependencies;
  return {
    newCookie: () => randomToken(),

    async recognise(cookie, userId) {
      if (!cookie || !COOKIE.test(cookie)) return undefined;
      const row = await find(dependencies, hash(cookie, userId));
      return row && { id: row.id, isTrusted: isTrusted(row, now) };
    },

    remember: (cookie, userId, request) => remember(dependencies, cookie, userId, request),

    async trust(userId, id, days = limits.rememberedBrowser.days) {
      const trustedUntil = inDays(now, Math.min(days, limits.rememberedBrowser.days));
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
        isTrusted: isTrusted(row, now),
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

async function remember(
  dependencies: KnownBrowsersDependencies,
  cookie: string,
  userId: string,
  request: RequestInfo | undefined,
): Promise<KnownBrowser & { isNew: boolean }> {
  const { db, now } = dependencies;
  const at = now();
  const expiresAt = inDays(now, limits.knownBrowser.days);
  const from = { userAgent: request?.userAgent.slice(0, 512) ?? null, address: request?.address ?? null };
  const tokenHash = hash(cookie, userId);
  const known = await find(dependencies, tokenHash);
  if (known) {
    await db.knownBrowser.updateMany({ where: { id: known.id }, data: { ...from, lastSeenAt: at, expiresAt } });
    return { id: known.id, isTrusted: isTrusted(known, now), isNew: false };
  }
  const id = randomId();
  const isNew = await insert(db, { id, userId, tokenHash, ...from, createdAt: at, lastSeenAt: at, expiresAt });
  return { id: isNew ? id : ((await find(dependencies, tokenHash))?.id ?? id), isTrusted: false, isNew };
}

async function find({ sql, now }: KnownBrowsersDependencies, tokenHash: string): Promise<Row | undefined> {
  const [row] = await sql.query<Row>(statements.find, tokenHash);
  return row && row.expiresAt > now() ? row : undefined;
}

// An expired row is replaced; of two tabs that finish at the same moment the first one makes the row.
async function insert(db: Db, row: NewRow): Promise<boolean> {
  const { tokenHash, createdAt } = row;
  const replaced = await db.knownBrowser.updateMany({
    where: { tokenHash, expiresAt: { lte: createdAt } },
    data: { ...row, trustedUntil: null },
  });
  if (replaced.count > 0) return true;
  try {
    await db.knownBrowser.create({ data: row, select: { id: true } });
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

function inDays(now: Clock, days: number): Date {
  return new Date(now().getTime() + days * DAY_MS);
}

function hash(cookie: string, userId: string): string {
  return sha256(`${cookie}:${userId}`);
}

function isTrusted({ trustedUntil }: { trustedUntil: Date | null }, now: Clock): boolean {
  return trustedUntil !== null && trustedUntil > now();
}
