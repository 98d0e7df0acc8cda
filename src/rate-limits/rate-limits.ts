// Counters shared by all instances, in one table and one statement each: the row's lock decides, so that of any number
// of attempts at the same moment exactly the allowed ones pass. rate-limiter-flexible's Prisma store was not taken: it
// needs two or three statements, its own column type and its own timer, and has no growing pause.
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { sha256 } from '../platform/random.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import { type Backoff, type PolicyName, policies, type Window } from './policies.ts';

export interface Verdict {
  allowed: boolean;
  /** How long to wait; 0 when allowed. */
  retryAfterSeconds: number;
}

export interface RateLimits {
  /** Counts one attempt, and says whether it may go on. Count before the work: a failure cannot be counted twice. */
  consume(policy: PolicyName, key: string): Promise<Verdict>;
  /** Takes one attempt back: it was not a failure after all. */
  refund(policy: PolicyName, key: string): Promise<void>;
  /** Forgets the key: the right password was given, or an admin unlocks. */
  reset(policy: PolicyName, key: string): Promise<void>;
  /** Attempts counted now, without counting one. */
  count(policy: PolicyName, key: string): Promise<number>;
  /** What consume would say, without counting. */
  peek(policy: PolicyName, key: string): Promise<Verdict>;
}

interface Row {
  points: number;
}

// Plain statements: every sign-in passes here several times.
const SQL = {
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
  find: 'SELECT points, expires_at AS until FROM rate_limits WHERE key = ?',
  refund: 'UPDATE rate_limits SET points = points - 1 WHERE key = ? AND points > 0',
  reset: 'DELETE FROM rate_limits WHERE key = ?',
};

const ALLOWED: Verdict = { allowed: true, retryAfterSeconds: 0 };

export interface RateLimitsNeeds {
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
  /** The setting `rate_limits`: false only for load tests. */
  isEnabled?: () => boolean;
}

export function createRateLimits({ sql, kind, now, isEnabled = () => true }: RateLimitsNeeds): RateLimits {
  const text = sqlFor(kind, SQL);

  // A refused attempt changes nothing, so that a refund always makes room for exactly one.
  async function consumeWindow(id: string, policy: Window): Promise<Verdict> {
    const { points: allowed, seconds } = policy;
    const at = now().getTime();
    const [row] = await sql.query<Row>(text.window, id, at + seconds * 1000, at, at, allowed, at);
    return row ? ALLOWED : peekRow(id, policy);
  }

  // The row expires `forgetSeconds` after the pause ends, so the end of the pause needs no column of its own.
  async function consumeBackoff(id: string, policy: Backoff): Promise<Verdict> {
    const { free, baseSeconds, maxSeconds, forgetSeconds } = policy;
    const at = now().getTime();
    const forget = forgetSeconds * 1000;
    const doublings = Math.ceil(Math.log2(maxSeconds / baseSeconds));
    const insert = [id, at + forget];
    const points = [at, free + doublings];
    const pause = [at, free, free, doublings, maxSeconds * 1000, baseSeconds * 1000, free];
    const [row] = await sql.query<Row>(text.backoff, ...insert, ...points, ...pause, free, forget, at);
    return row ? ALLOWED : peekRow(id, policy);
  }

  async function find(id: string): Promise<{ points: number; leftMs: number } | undefined> {
    const [row] = await sql.query<Row & { until: number }>(text.find, id);
    const leftMs = Number(row?.until ?? 0) - now().getTime();
    return row && leftMs > 0 ? { points: Number(row.points), leftMs } : undefined;
  }

  async function peekRow(id: string, policy: Window | Backoff): Promise<Verdict> {
    const row = await find(id);
    if (!row) return ALLOWED;
    if (policy.kind === 'window') return row.points < policy.points ? ALLOWED : refused(row.leftMs);
    const pauseMs = row.leftMs - policy.forgetSeconds * 1000;
    return row.points < policy.free || pauseMs <= 0 ? ALLOWED : refused(pauseMs);
  }

  return {
    async consume(name, key) {
      if (!isEnabled()) return ALLOWED;
      const policy: Window | Backoff = policies[name];
      const id = rowId(name, key);
      return policy.kind === 'window' ? consumeWindow(id, policy) : consumeBackoff(id, policy);
    },
    async refund(name, key) {
      if (!isEnabled()) return;
      await sql.execute(text.refund, rowId(name, key));
    },
    async reset(name, key) {
      await sql.execute(text.reset, rowId(name, key));
    },
    async count(name, key) {
      return isEnabled() ? ((await find(rowId(name, key)))?.points ?? 0) : 0;
    },
    async peek(name, key) {
      return isEnabled() ? peekRow(rowId(name, key), policies[name]) : ALLOWED;
    },
  };
}

// Hashed: what people type as their name, their addresses, and of one length.
function rowId(name: PolicyName, key: string): string {
  return `${name}:${sha256(key)}`;
}

function refused(milliseconds: number): Verdict {
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(milliseconds / 1000)) };
}
