// Rate limit counters, shared by all instances. Each attempt is one statement that is atomic under the row lock, so that exactly the
// allowed number of parallel attempts pass. rate-limiter-flexible is not used: its Prisma store needs two or three
// statements, its own column type and timer, and has no exponential backoff.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { sha256 } from '../../base/platform/random.ts';
import type { Db } from '../../base/storage/database.ts';
import { hotStatements, type Sql, type Write } from '../../base/storage/statements.ts';
import { nameKey } from '../accounts/names.ts';
import { addressBlock, type Backoff, ofSite, type PolicyName, policies, siteBlock, type Window } from './policies.ts';

export interface LimitResult {
  allowed: boolean;
  /** How long to wait; 0 when allowed. */
  retryAfterSeconds: number;
}

/**
 * Whose attempts are counted: the network address of the sender, for an IPv6 sender also the largest network of one customer, with
 * `siteFactor` times the points. `about`: what each address is counted apart for, such as a client.
 */
export interface NetworkKey {
  address: string;
  about?: string;
}

export type RateLimits = ReturnType<typeof createRateLimits>;

interface StoredCounter {
  points: number;
  expiresAt: number;
  inFlight: number;
  inFlightUntil: number;
}

export interface Counter {
  /** Failures and attempts in flight. */
  points: number;
  remainingMs: number;
  inFlight: number;
}

/** Attempts begun and not decided; those of a stopped server are no longer in flight after a while (attempt-counters.ts). */
const IN_FLIGHT = 'CASE WHEN rate_limits.in_flight_until > ? THEN rate_limits.in_flight ELSE 0 END';
const NEW_ROW = 'INSERT INTO rate_limits (key, points, expires_at, in_flight, in_flight_until) VALUES (?, 1, ?, ?, ?)';
const COUNT_IN_FLIGHT = `in_flight = ${IN_FLIGHT} + excluded.in_flight, in_flight_until = excluded.in_flight_until`;

// Plain statements: every sign-in runs several of them.
export const statements = hotStatements('rate-limits', {
  window: `${NEW_ROW}
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN rate_limits.expires_at <= ? THEN 1 + ${IN_FLIGHT} ELSE rate_limits.points + 1 END,
      expires_at = CASE WHEN rate_limits.expires_at <= ? THEN excluded.expires_at ELSE rate_limits.expires_at END,
      ${COUNT_IN_FLIGHT}
    WHERE rate_limits.points < ? OR rate_limits.expires_at <= ?`,
  backoff: `${NEW_ROW}
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN rate_limits.expires_at <= ? THEN 1
        WHEN rate_limits.points < ? THEN rate_limits.points + 1 ELSE rate_limits.points END,
      expires_at = excluded.expires_at + CASE
        WHEN rate_limits.expires_at <= ? OR rate_limits.points + 1 < ? THEN 0
        WHEN rate_limits.points + 1 - ? >= ? THEN CAST(? AS BIGINT)
        ELSE CAST(? AS BIGINT) * (1 << (rate_limits.points + 1 - ?)) END,
      ${COUNT_IN_FLIGHT}
    WHERE (rate_limits.points < ? OR rate_limits.expires_at <= ?)
      AND (rate_limits.points < ? OR rate_limits.expires_at - ? <= ?)`,
  find: `SELECT points, expires_at AS "expiresAt", in_flight AS "inFlight", in_flight_until AS "inFlightUntil"
    FROM rate_limits WHERE key = ?`,
  remove: 'DELETE FROM rate_limits WHERE key = ?',
});

const MAX_POINTS = 2 ** 31 - 1;
/** Addresses over a limit that a process remembers. */
const MAX_REMEMBERED = 10_000;
/** The counter of a row that has expired. */
export const NO_ATTEMPTS: Counter = { points: 0, remainingMs: 0, inFlight: 0 };
const ALLOWED: LimitResult = { allowed: true, retryAfterSeconds: 0 };

/** The counters of every policy; with rate limits off, every attempt is allowed. */
export function createRateLimits({
  db,
  sql,
  now,
  isEnabled = () => true,
}: Base & {
  /** The setting `rate_limits`: false only for load tests. */
  isEnabled?: () => boolean;
}) {
  const counters = { db, sql, now };

  /** Counts one attempt and decides whether it is allowed. Call it before the work that it protects. */
  async function consume(name: PolicyName, key: string | NetworkKey): Promise<LimitResult> {
    if (!isEnabled()) return ALLOWED;
    // The address first, so that one that is over its limit does not use up that of its site.
    for (const { id, policy } of countersOf(name, key)) {
      if (await countAttempt(counters, id, policy)) continue;
      const result = await peekRow(counters, id, policy);
      // An attempt that was not counted is not allowed, also when the pause has ended since.
      return result.allowed ? { allowed: false, retryAfterSeconds: 1 } : result;
    }
    return ALLOWED;
  }

  return {
    consume,
    /**
     * A limit for what anyone can cause without signing in: this process remembers until when an address is over it, so that a flood does not reach
     * the database. For limits without refund and reset.
     */
    remembered(name: PolicyName) {
      const waitUntil = new BoundedMap<string, number>(MAX_REMEMBERED);
      const memberOf = (key: string | NetworkKey) => (typeof key === 'string' ? key : addressBlock(key.address));
      /** How long to wait, as far as this process knows; 0: not over the limit. */
      function waitSeconds(key: string | NetworkKey): number {
        return Math.ceil(Math.max(0, (waitUntil.get(memberOf(key)) ?? 0) - now().getTime()) / 1000);
      }
      return {
        waitSeconds,
        async consume(key: string | NetworkKey): Promise<LimitResult> {
          const known = waitSeconds(key);
          if (known > 0) return { allowed: false, retryAfterSeconds: known };
          const result = await consume(name, key);
          if (result.allowed) return result;
          waitUntil.set(memberOf(key), now().getTime() + result.retryAfterSeconds * 1000);
          return result;
        },
      };
    },
    /** Uncounts one attempt, because it was not a failure. */
    async refund(name: PolicyName, key: string | NetworkKey): Promise<void> {
      if (!isEnabled()) return;
      await db.rateLimit.updateMany({
        where: { key: { in: countersOf(name, key).map(({ id }) => id) }, points: { gt: 0 } },
        data: { points: { decrement: 1 } },
      });
    },
    /** Deletes the counter: the password was right, or the account is unlocked. */
    async reset(name: PolicyName, key: string): Promise<void> {
      await sql.later(statements.remove, [rowId(name, key)]);
    },
    /** Attempts counted now, without counting one. */
    async count(name: PolicyName, key: string): Promise<number> {
      return isEnabled() ? (await findCounter(counters, rowId(name, key), policies[name])).points : 0;
    },
    /** The result of `consume`, without counting. */
    async peek(name: PolicyName, key: string | NetworkKey): Promise<LimitResult> {
      if (!isEnabled()) return ALLOWED;
      for (const { id, policy } of countersOf(name, key)) {
        const result = await peekRow(counters, id, policy);
        if (!result.allowed) return result;
      }
      return ALLOWED;
    },
  };
}

export type Counters = { db: Db; sql: Sql; now: Clock };

export interface CountOptions {
  /** Counts the attempt only while fewer than so many are counted. */
  below?: number | undefined;
  /** The attempt is decided later, and is in flight until then, but no longer than this time (epoch milliseconds). */
  inFlightUntil?: number | undefined;
}

/** Counts one attempt if the policy allows it; a rejected one changes nothing, so that one refund allows exactly one more. */
export async function countAttempt(
  counters: Counters,
  id: string,
  policy: Window | Backoff,
  options: CountOptions = {},
): Promise<boolean> {
  if (await countOnce(counters, id, policy, options)) return true;
  // A read first, so that a rejected attempt writes nothing.
  const [row] = await counters.sql.query<Record<keyof StoredCounter, number>>(statements.find, id);
  const latest = latestEnd(counters, policy);
  if (Number(row?.expiresAt ?? 0) <= latest) {
    const most = Math.min(freeAttemptsOf(policy), options.below ?? MAX_POINTS);
    // Attempts are left when another attempt has just begun the counter again, as below.
    const isLeft = Number(row?.points ?? 0) < most;
    return isLeft && countOnce(counters, id, policy, options);
  }
  // The clock was set back.
  const ahead = { key: id, expiresAt: { gt: latest } };
  await counters.db.rateLimit.updateMany({ where: ahead, data: { points: 0, expiresAt: 0 } });
  return countOnce(counters, id, policy, options);
}

/** No counter ends later; one that does was written before the clock was set back, and would lock a user out for as long as that. */
function latestEnd({ now }: { now: () => Date }, policy: Window | Backoff): number {
  const seconds = policy.kind === 'window' ? policy.seconds : policy.maxSeconds + policy.forgetSeconds;
  return now().getTime() + (seconds + limits.clock.instancesSeconds) * 1000;
}

async function countOnce(
  counters: Counters,
  id: string,
  policy: Window | Backoff,
  options: CountOptions,
): Promise<boolean> {
  const { statement, values } = countingWrite(counters, id, policy, options);
  return (await counters.sql.execute(statement, ...values)) > 0;
}

/** The statement that counts one attempt; it changes no row when the policy does not allow the attempt. */
export function countingWrite(
  { now }: Counters,
  id: string,
  policy: Window | Backoff,
  { below = MAX_POINTS, inFlightUntil }: CountOptions,
): Write {
  const at = now().getTime();
  const inFlight = inFlightUntil === undefined ? [0, 0] : [1, inFlightUntil];
  // The parts of a statement in their order: a new row, the points, the end and the attempts in flight of one that is there, and its condition.
  if (policy.kind === 'window') {
    const { points, seconds, slides = false } = policy;
    const row = [id, at + seconds * 1000, ...inFlight];
    // A sliding window begins again with each attempt.
    const renewedUntil = slides ? Number.MAX_SAFE_INTEGER : at;
    const values = [...row, at, at, renewedUntil, at, Math.min(points, below), at];
    return { statement: statements.window, values };
  }
  // The row expires `forgetSeconds` after the end of the pause, so that the pause needs no column.
  const { freeAttempts, baseSeconds, maxSeconds, forgetSeconds } = policy;
  const forget = forgetSeconds * 1000;
  const doublings = Math.ceil(Math.log2(maxSeconds / baseSeconds));
  const row = [id, at + forget, ...inFlight];
  const points = [at, freeAttempts + doublings];
  const pause = [at, freeAttempts, freeAttempts, doublings, maxSeconds * 1000, baseSeconds * 1000, freeAttempts];
  const condition = [below, at, freeAttempts, forget, at];
  return { statement: statements.backoff, values: [...row, ...points, ...pause, at, ...condition] };
}

/** The counter of a row; NO_ATTEMPTS when it is missing or has expired. */
export async function findCounter({ sql, now }: Counters, id: string, policy: Window | Backoff): Promise<Counter> {
  const [row] = await sql.query<Record<keyof StoredCounter, number>>(statements.find, id);
  const at = now().getTime();
  const remainingMs = Number(row?.expiresAt ?? 0) - at;
  if (!row || remainingMs <= 0 || Number(row.expiresAt) > latestEnd({ now }, policy)) return NO_ATTEMPTS;
  const inFlight = Number(row.inFlightUntil) > at ? Number(row.inFlight) : 0;
  return { points: Number(row.points), remainingMs, inFlight };
}

async function peekRow(counters: Counters, id: string, policy: Window | Backoff): Promise<LimitResult> {
  const counter = await findCounter(counters, id, policy);
  const pauseMs = pauseMsAfter(counter.points, policy, counter);
  return pauseMs > 0 ? { allowed: false, retryAfterSeconds: Math.ceil(pauseMs / 1000) } : ALLOWED;
}

/** How long the policy delays the next attempt after so many; 0 when it does not. */
export function pauseMsAfter(attempts: number, policy: Window | Backoff, { remainingMs }: Counter): number {
  if (attempts < freeAttemptsOf(policy)) return 0;
  // The row of a back-off expires `forgetSeconds` after the end of its pause.
  return policy.kind === 'window' ? remainingMs : Math.max(0, remainingMs - policy.forgetSeconds * 1000);
}

function freeAttemptsOf(policy: Window | Backoff): number {
  return policy.kind === 'window' ? policy.points : policy.freeAttempts;
}

/** The counters of a key: one, or for an IPv6 sender that of the address and that of the site. */
function countersOf(name: PolicyName, key: string | NetworkKey): { id: string; policy: Window | Backoff }[] {
  const policy = policies[name];
  if (typeof key === 'string') return [{ id: rowId(name, key), policy }];
  const idOf = (block: string) => rowId(name, key.about === undefined ? block : `${key.about}|${block}`);
  const own = { id: idOf(addressBlock(key.address)), policy };
  const site = siteBlock(key.address);
  return site.endsWith('/48') && policy.kind === 'window' ? [own, { id: idOf(site), policy: ofSite(policy) }] : [own];
}

/** The primary key of a counter: hashed, because keys contain typed logins and IP addresses, and to get one length. */
export function rowId(name: PolicyName, key: string): string {
  return `${name}:${sha256(key)}`;
}

// Limits on the mail that anyone can cause. Each kind of mail has its own counter, so that other people's requests do not use
// up what the user needs to sign in; and each known browser of the account has its own, as with passwords.

/** Kinds of mail that are limited. Security notices are not: an attacker must not be able to suppress them. */
type LimitedMail = 'reset' | 'unlock' | 'registration' | 'address-proof' | 'sign-in-code' | 'group-invitation' | 'test';

export type MailLimits = ReturnType<typeof createMailLimits>;

export interface KnownBrowserLookup {
  recognize(cookie: string | undefined, userId: string): Promise<{ id: string } | undefined>;
}

const PER_ACCOUNT = { reset: 'reset:account', unlock: 'unlock:account' } as const satisfies Record<string, PolicyName>;

export function createMailLimits(rateLimits: RateLimits, knownBrowsers: KnownBrowserLookup) {
  const to = (recipient: string, kind: LimitedMail): Promise<LimitResult> =>
    rateLimits.consume('mail:recipient', `${kind}:${nameKey(recipient)}`);

  return {
    /** Counts one more mail of this kind, or SMS, to a recipient. */
    to,
    /** Counts one more link that anyone may ask for. `browser`: the known-browser cookie of the request, if any. */
    async link(
      kind: 'reset' | 'unlock',
      { id, email }: { id: string; email: string },
      browser: string | undefined,
    ): Promise<LimitResult> {
      const known = await knownBrowsers.recognize(browser, id);
      if (known) return rateLimits.consume(PER_ACCOUNT[kind], `${id}:${known.id}`);
      const byAccount = await rateLimits.consume(PER_ACCOUNT[kind], id);
      return byAccount.allowed ? to(email, kind) : byAccount;
    },
  };
}
