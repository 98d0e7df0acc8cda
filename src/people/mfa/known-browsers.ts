// The browsers that an account signed in from. The lockout counts their attempts apart (people/rate-limits/lockout.ts), a new
// browser is reported to the owner, and a trusted one may skip the second factor if the settings allow it. The cookie
// holds one random token for each account that was used in the browser, and each token has a revocable row. So the cookie
// of one user is worth nothing for another, and a value that was copied or planted before trust was given gets none.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Tx } from '../../base/storage/database.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import type { Core } from '../../core/core.ts';

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

export interface RememberOptions {
  request?: RequestInfo | undefined;
  /** The account may skip the second factor here for so many days, at most `limits.rememberedBrowser.days`. */
  trustDays?: number | undefined;
}

export interface RememberedBrowser extends KnownBrowser {
  /** The account was never used in this browser. */
  isNew: boolean;
  /** The account's token changes when it is trusted, and when another account was used in the browser before it. */
  cookie: string;
}

interface Row {
  id: string;
  tokenHash: string;
  trustedUntil: Date | null;
  expiresAt: Date;
  mac: string;
}

const TABLE = 'known_browsers';
const DAY_MS = 86_400_000;
const TOKEN = /^[\w-]{43}$/;
const { accounts: MAX_ACCOUNTS } = limits.knownBrowser;

export const statements = hotStatements('known-browsers', {
  find: `SELECT id, token_hash AS "tokenHash", trusted_until AS "trustedUntil", expires_at AS "expiresAt", mac
    FROM known_browsers
    WHERE token_hash IN (${Array.from({ length: MAX_ACCOUNTS }, () => '?').join(', ')})`,
  seen: `UPDATE known_browsers SET user_agent = ?, address = ?, last_seen_at = ?, expires_at = ?, token_hash = ?, trusted_until = ?, mac = ?
    WHERE id = ? AND token_hash = ?`,
});

export function createKnownBrowsers(dependencies: Core) {
  const { db, now } = dependencies;
  return {
    async recognize(cookie: string | undefined, userId: string): Promise<KnownBrowser | undefined> {
      const known = await find(dependencies, tokensOf(cookie), userId);
      return known && { id: known.row.id, isTrusted: isGenuinelyTrusted(known.row, userId, dependencies) };
    },

    /** After a completed sign-in. Set the cookie to the result's `cookie`. */
    remember: (cookie: string | undefined, userId: string, options: RememberOptions = {}): Promise<RememberedBrowser> =>
      remember(dependencies, tokensOf(cookie), userId, options),

    /** Demands the second factor again in these browsers, or in all: after a password change, or a logout in them. */
    async endTrust(
      userId: string,
      tx: Tx = db,
      { only, except = [] }: { only?: readonly string[]; except?: readonly string[] } = {},
    ): Promise<void> {
      const id = { notIn: [...except], ...(only && { in: [...only] }) };
      await tx.knownBrowser.updateMany({
        where: { userId, trustedUntil: { not: null }, id },
        data: { trustedUntil: null },
      });
    },

    async list(userId: string): Promise<BrowserSummary[]> {
      const rows = await db.asStored.knownBrowser.findMany({
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

    async forget(userId: string, id?: string, tx: Tx = db): Promise<number> {
      const { count } = await tx.knownBrowser.deleteMany({ where: { userId, ...(id === undefined ? {} : { id }) } });
      return count;
    },
  };
}

async function remember(
  dependencies: Core,
  tokens: string[],
  userId: string,
  { request, trustDays }: RememberOptions,
): Promise<RememberedBrowser> {
  const { now } = dependencies;
  const trustedUntil = trustDays ? daysFromNow(now, Math.min(trustDays, limits.rememberedBrowser.days)) : null;
  const known = await find(dependencies, tokens, userId);
  const wasUsedLast = known !== undefined && known.token === tokens.at(-1);
  const token = wasUsedLast && trustedUntil === null ? known.token : randomToken();
  const cookie = [...tokens.filter((one) => one !== known?.token), token].slice(-MAX_ACCOUNTS).join('.');
  const seen: Seen = {
    userId,
    tokenHash: hash(token, userId),
    userAgent: request?.userAgent.slice(0, 512) ?? null,
    address: request?.address ?? null,
    lastSeenAt: now(),
    expiresAt: daysFromNow(now, limits.knownBrowser.days),
  };
  if (!known) return { ...(await add(dependencies, seen, trustedUntil)), isNew: true, cookie };
  const updated = await seeAgain(dependencies, known.row, seen, trustedUntil);
  // Another tab has replaced the token since, or the owner forgot the browser. Then it is not trusted.
  return { ...(updated ?? (await add(dependencies, seen, null))), isNew: false, cookie };
}

/** What a sign-in stores of its browser. */
interface Seen {
  userId: string;
  tokenHash: string;
  userAgent: string | null;
  address: string | null;
  lastSeenAt: Date;
  expiresAt: Date;
}

/** Stores a sign-in in a known browser; undefined when its row has another token by now, or is gone. */
async function seeAgain(
  dependencies: Core,
  row: Row,
  { userId, tokenHash, userAgent, address, lastSeenAt, expiresAt }: Seen,
  newTrust: Date | null,
): Promise<KnownBrowser | undefined> {
  const { sql } = dependencies;
  const oldTrust = isGenuinelyTrusted(row, userId, dependencies) ? row.trustedUntil : null;
  const trustedUntil = newTrust ?? oldTrust;
  const mac = trustedUntil ? sql.macs.macOf(TABLE, { userId, tokenHash, trustedUntil }) : '';
  const values = [userAgent, address, lastSeenAt, expiresAt, tokenHash, trustedUntil, mac];
  const count = await sql.execute(statements.seen, ...values, row.id, row.tokenHash);
  return count > 0 ? { id: row.id, isTrusted: trustedUntil !== null } : undefined;
}

async function add({ db }: Core, seen: Seen, trustedUntil: Date | null): Promise<KnownBrowser> {
  const id = randomId();
  const data = { ...seen, id, createdAt: seen.lastSeenAt, trustedUntil };
  await db.knownBrowser.create({ data, select: { id: true } });
  return { id, isTrusted: trustedUntil !== null };
}

/** The token of this account among those of the cookie, with its row. */
async function find(
  { sql, now }: Base,
  tokens: readonly string[],
  userId: string,
): Promise<{ token: string; row: Row } | undefined> {
  if (tokens.length === 0) return undefined;
  const hashes = Array.from({ length: MAX_ACCOUNTS }, (_, index) => hash(tokens[index] ?? '', userId));
  const row = (await sql.query<Row>(statements.find, ...hashes)).find(({ expiresAt }) => expiresAt > now());
  const token = row && tokens[hashes.indexOf(row.tokenHash)];
  return row && token !== undefined ? { token, row } : undefined;
}

function tokensOf(cookie: string | undefined): string[] {
  if (!cookie || cookie.length > 44 * MAX_ACCOUNTS) return [];
  return cookie.split('.').filter((token) => TOKEN.test(token));
}

function daysFromNow(now: Clock, days: number): Date {
  return new Date(now().getTime() + days * DAY_MS);
}

function hash(token: string, userId: string): string {
  return sha256(`${token}:${userId}`);
}

function isGenuinelyTrusted({ tokenHash, trustedUntil, mac }: Row, userId: string, { now, sql }: Core): boolean {
  if (trustedUntil === null || trustedUntil <= now()) return false;
  return sql.macs.isGenuine(TABLE, { userId, tokenHash, trustedUntil }, mac);
}

function isTrusted({ trustedUntil }: { trustedUntil: Date | null }, now: Clock): boolean {
  return trustedUntil !== null && trustedUntil > now();
}
