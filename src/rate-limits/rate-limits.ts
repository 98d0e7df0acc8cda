// Rate limit counters, shared by all instances. Each attempt is one statement that is atomic under the row lock, so that exactly the
// allowed number of parallel attempts pass. rate-limiter-flexible is not used: its Prisma store needs two or three
// statements, its own column type and timer, and has no exponential backoff.
import type { Clock } from '../platform/clock.ts';
import { sha256 } from '../platform/random.ts';
import type { Db } from '../storage/database.ts';
import { hotStatements, type Sql } from '../storage/statements.ts';
import { type Backoff, type PolicyName, policies, type Window } from './policies.ts';

export interface Verdict {
  allowed: boolean;
  /** How long to wait; 0 when allowed. */
  retryAfterSeconds: number;
}

export interface RateLimits {
  /** Counts one attempt and decides whether it is allowed. Call it before the work that it protects. */
  consume(policy: PolicyName, key: string): Promise<Verdict>;
  /** Uncounts one attempt, because it was not a failure. */
  refund(policy: PolicyName, key: string): Promise<void>;
  /** Deletes the counter: the password was right, or the account is unlocked. */
  reset(policy: PolicyName, key: string): Promise<void>;
  /** Attempts counted now, without counting one. */
  count(policy: PolicyName, key: string): Promise<number>;
  /** The verdict of `consume`, without counting. */
  peek(policy: PolicyName, key: string): Promise<Verdict>;
}

interface Row {
  points: number;
}

// Plain statements: every sign-in runs several of them.
export const statements = hotStatements('rate-limits', {
  window: `INSERT INTO rate_limits (key, points, expires_at) VALUES (?, 1, ?)
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN rate_limits.expires_at <= ? THEN 1 ELSE rate_limits.points + 1 END,
      expires_at = CASE WHEN rate_limits.expires_at <= ? THEN excluded.expires_at ELSE rate_limits.expires_at END
    WHERE rate_limits.points < ? OR rate_limits.expires_at <= ?
    RETURNING points`,
  backoff: `INSERT INTO rate_limits (key, points, expires_at) VALUES (?, 1, ?)
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN rate_limits.expires_at <= ? THEN 1
        WHEN rate_limits.points < ? THEN rate_limits.points + 1 ELSE rate_limits.points END,
      expires_at = excluded.expires_at + CASE
        WHEN rate_limits.expires_at <= ? OR rate_limits.points + 1 < ? THEN 0
        WHEN rate_limits.points + 1 - ? >= ? THEN CAST(? AS BIGINT)
        ELSE CAST(? AS BIGINT) * (1 << (rate_limits.points + 1 - ?)) END
    WHERE rate_limits.points < ? OR rate_limits.expires_at - ? <= ?
    RETURNING points`,
  find: 'SELECT points, expires_at AS "expiresAt" FROM rate_limits WHERE key = ?',
});

const ALLOWED: Verdict = { allowed: true, retryAfterSeconds: 0 };

export interface RateLimitsDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
  /** The setting `rate_limits`: false only for load tests. */
  isEnabled?: () => boolean;
}

/** The counters of every policy; with rate limits off, every attempt is allowed. */
export function createRateLimits({ db, sql, now, isEnabled = () => true }: RateLimitsDependencies): RateLimits {
  const counters = { sql, now };
  return {
    async consume(name, key) {
      if (!isEnabled()) return ALLOWED;
      const policy: Window | Backoff = policies[name];
      const id = rowId(name, key);
      return policy.kind === 'window' ? consumeWindow(counters, id, policy) : consumeBackoff(counters, id, policy);
    },
    async refund(name, key) {
      if (!isEnabled()) return;
      await db.rateLimit.updateMany({
        where: { key: rowId(name, key), points: { gt: 0 } },
        data: { points: { decrement: 1 } },
      });
    },
    async reset(name, key) {
      await db.rateLimit.deleteMany({ where: { key: rowId(name, key) } });
    },
    async count(name, key) {
      return isEnabled() ? ((await find(counters, rowId(name, key)))?.points ?? 0) : 0;
    },
    async peek(name, key) {
      return isEnabled() ? peekRow(counters, rowId(name, key), policies[name]) : ALLOWED;
    },
  };
}

type Counters = { sql: Sql; now: Clock };

// A rejected attempt changes nothing, so that one refund allows exactly one more attempt.
async function consumeWindow({ sql, now }: Counters, id: string, policy: Window): Promise<Verdict> {
  const { points: maxPoints, seconds } = policy;
  const at = now().getTime();
  const [row] = await sql.query<Row>(statements.window, id, at + seconds * 1000, at, at, maxPoints, at);
  return row ? ALLOWED : peekRow({ sql, now }, id, policy);
}

// The row expires `forgetSeconds` after the end of the pause, so that the pause needs no column.
async function consumeBackoff({ sql, now }: Counters, id: string, policy: Backoff): Promise<Verdict> {
  const { freeAttempts, baseSeconds, maxSeconds, forgetSeconds } = policy;
  const at = now().getTime();
  const forget = forgetSeconds * 1000;
  const doublings = Math.ceil(Math.log2(maxSeconds / baseSeconds));
  const insert = [id, at + forget];
  const points = [at, freeAttempts + doublings];
  const pause = [at, freeAttempts, freeAttempts, doublings, maxSeconds * 1000, baseSeconds * 1000, freeAttempts];
  const [row] = await sql.query<Row>(statements.backoff, ...insert, ...points, ...pause, freeAttempts, forget, at);
  return row ? ALLOWED : peekRow({ sql, now }, id, policy);
}

async function find({ sql, now }: Counters, id: string): Promise<{ points: number; remainingMs: number } | undefined> {
  const [row] = await sql.query<Row & { expiresAt: number }>(statements.find, id);
  const remainingMs = Number(row?.expiresAt ?? 0) - now().getTime();
  return row && remainingMs > 0 ? { points: Number(row.points), remainingMs } : undefined;
}

async function peekRow(counters: Counters, id: string, policy: Window | Backoff): Promise<Verdict> {
  const row = await find(counters, id);
  if (!row) return ALLOWED;
  if (policy.kind === 'window') return row.points < policy.points ? ALLOWED : rejected(row.remainingMs);
  const pauseMs = row.remainingMs - policy.forgetSeconds * 1000;
  return row.points < policy.freeAttempts || pauseMs <= 0 ? ALLOWED : rejected(pauseMs);
}

// Hashed, because keys contain typed logins and IP addresses, and to get one length.
function rowId(name: PolicyName, key: string): string {
  return `${name}:${sha256(key)}`;
}

function rejected(milliseconds: number): Verdict {
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(milliseconds / 1000)) };
}
