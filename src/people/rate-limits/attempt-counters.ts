// Counters of failed sign-ins that know which of the counted attempts are still in flight: begun and not decided. An attempt
// counts from its beginning, so that parallel guesses get no more tries than sequential ones, but only decided failures
// have consequences; an attempt in flight makes others wait for its result. It counts as a failure when its server was
// stopped before it was decided. Counted as failures at once, a classroom behind one address would meet the CAPTCHA.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { type Backoff, type PolicyName, policies, type Window } from './policies.ts';
import { type Counter, countAttempt, findCounter, rowId } from './rate-limits.ts';

export type Begun =
  | { outcome: 'counted' }
  /** The attempts in flight decide whether this one is allowed. */
  | { outcome: 'in-flight' }
  | { outcome: 'limit'; retryAfterSeconds: number };

export type AttemptCounters = ReturnType<typeof createAttemptCounters>;

export function createAttemptCounters(
  dependencies: Base & {
    /** The setting `rate_limits`. */
    isEnabled?: (() => boolean) | undefined;
  },
) {
  const { db, now, isEnabled = () => true } = dependencies;
  const find = async (name: PolicyName, key: string) =>
    isEnabled() ? findCounter(dependencies, rowId(name, key), policies[name]) : undefined;
  const decide = async (name: PolicyName, key: string, hasFailed: boolean) => {
    if (!isEnabled()) return;
    const data = { inFlight: { decrement: 1 }, ...(hasFailed ? {} : { points: { decrement: 1 } }) };
    await db.rateLimit.updateMany({ where: { key: rowId(name, key), inFlight: { gt: 0 }, points: { gt: 0 } }, data });
  };

  return {
    /** Counts an attempt that is decided later, while fewer than `below` are counted and the policy allows one. */
    async begin(name: PolicyName, key: string, below?: number): Promise<Begun> {
      if (!isEnabled()) return { outcome: 'counted' };
      const inFlightUntil = now().getTime() + limits.signInQueue.inFlightSeconds * 1000;
      const id = rowId(name, key);
      if (await countAttempt(dependencies, id, policies[name], { below, inFlightUntil })) return { outcome: 'counted' };
      const counter = await find(name, key);
      return counter ? resultOf(policies[name], counter, below) : { outcome: 'in-flight' };
    },
    /** The outcome of `begin` without counting: writes nothing, so that waiting attempts do not delay others. */
    async peek(name: PolicyName, key: string, below?: number): Promise<Begun> {
      const counter = await find(name, key);
      return !counter || isBelow(policies[name], counter, below)
        ? { outcome: 'counted' }
        : resultOf(policies[name], counter, below);
    },
    /** The attempt failed. */
    failed: (name: PolicyName, key: string): Promise<void> => decide(name, key, true),
    /** The attempt succeeded, or was not made: it no longer counts. */
    withdraw: (name: PolicyName, key: string): Promise<void> => decide(name, key, false),
    /** Decided failures. */
    failures: async (name: PolicyName, key: string): Promise<number> => failuresOf(await find(name, key)),
    /** How long decided failures delay the next attempt; 0 when they do not. */
    async waitSeconds(name: PolicyName, key: string): Promise<number> {
      const counter = await find(name, key);
      const decision = counter && resultOf(policies[name], counter);
      return decision?.outcome === 'limit' ? decision.retryAfterSeconds : 0;
    },
  };
}

function failuresOf(counter: Counter | undefined): number {
  return counter ? Math.max(0, counter.points - counter.inFlight) : 0;
}

/** Whether one more attempt can be counted. */
function isBelow(
  policy: Window | Backoff,
  { points, remainingMs }: Counter,
  below = Number.POSITIVE_INFINITY,
): boolean {
  if (points >= below) return false;
  if (policy.kind === 'window') return points < policy.points;
  return points < policy.freeAttempts || remainingMs <= policy.forgetSeconds * 1000;
}

/** Whether decided failures alone are at the limit. */
function resultOf(policy: Window | Backoff, counter: Counter, below = Number.POSITIVE_INFINITY): Begun {
  const failures = failuresOf(counter);
  const { points, pauseMs } =
    policy.kind === 'window'
      ? { points: policy.points, pauseMs: counter.remainingMs }
      : { points: policy.freeAttempts, pauseMs: counter.remainingMs - policy.forgetSeconds * 1000 };
  const isPaused = failures >= points && pauseMs > 0;
  if (!isPaused && failures < below) return { outcome: 'in-flight' };
  return { outcome: 'limit', retryAfterSeconds: Math.max(1, Math.ceil(pauseMs / 1000)) };
}
