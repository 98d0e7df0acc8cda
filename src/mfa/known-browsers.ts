// Browsers that an account was signed in from. They pass a pause that an attacker brought about (rate-limits), tell a
// new browser from an old one, and may skip the second factor where the setting allows it and the person asked.
// One random cookie value per browser; a row, revocable, for each account used in it.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, type Tx } from '../platform/db.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';

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
  trustedUntil: Date | string | null;
  expiresAt: Date | string;
}

const DAY_MS = 86_400_000;
const COOKIE = /^[\w-]{43}$/;

export function createKnownBrowsers({ db, now }: { db: Db; now: Clock }): KnownBrowsers {
  const inDays = (days: number) => new Date(now().getTime() + days * DAY_MS);
  const hash = (cookie: string, userId: string) => sha256(`${cookie}:${userId}`);
  const isTrusted = (row: { trustedUntil: Date | null }) => row.trustedUntil !== null && row.trustedUntil > now();

  async function find(cookie: string, userId: string) {
    // Raw, because every sign-in asks twice; Prisma takes four times as long.
    const [row] = await db.$queryRaw<Row[]>`SELECT id, trusted_until AS "trustedUntil", expires_at AS "expiresAt"
      FROM known_browsers WHERE token_hash = ${hash(cookie, userId)}`;
    if (!row || new Date(row.expiresAt) <= now()) return undefined;
    return { id: row.id, trustedUntil: row.trustedUntil === null ? null : new Date(row.trustedUntil) };
  }

  return {
    newCookie: () => randomToken(),

    async recognise(cookie, userId) {
      if (!cookie || !COOKIE.test(cookie)) return undefined;
      const row = await find(cookie, userId);
      return row && { id: row.id, isTrusted: isTrusted(row) };
    },

    async remember(cookie, userId, request) {
      const seen = {
        lastSeenAt: now(),
        expiresAt: inDays(limits.knownBrowser.days),
        userAgent: request?.userAgent.slice(0, 512) ?? null,
        address: request?.address ?? null,
      };
      const tokenHash = hash(cookie, userId);
      const known = await find(cookie, userId);
      if (known) {
        await db.knownBrowser.updateMany({ where: { id: known.id }, data: seen });
        return { id: known.id, isTrusted: isTrusted(known), isNew: false };
      }
      const id = randomId();
      try {
        await db.knownBrowser.deleteMany({ where: { tokenHash, expiresAt: { lte: now() } } });
        await db.knownBrowser.create({ data: { id, userId, tokenHash, createdAt: now(), ...seen } });
        return { id, isTrusted: false, isNew: true };
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        const other = await find(cookie, userId); // two tabs finished at the same moment
        return { id: other?.id ?? id, isTrusted: false, isNew: false };
      }
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
