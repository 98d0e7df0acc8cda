// Counters of failed sign-ins that know which of the counted attempts are still in flight: begun and not decided. An attempt
// counts from its beginning, so that parallel guesses get no more tries than sequential ones, but only decided failures
// have consequences; an attempt in flight makes others wait for its result. It counts as a failure when its server was
// stopped before it was decided. Counted as failures at once, a classroom behind one address would meet the CAPTCHA.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import { type Backoff, type PolicyName, policies, type Window } from './policies.ts';
import {
  type Counter,
  countAttempt,
  countingWrite,
  findCounter,
  NO_ATTEMPTS,
  pauseMsAfter,
  rowId,
} from './rate-limits.ts';

export type Begun =
  | { outcome: 'counted' }
  /** The attempts in flight decide whether this one is allowed, or they have just been decided: it tries again. */
  | { outcome: 'in-flight' }
  /** Decided failures alone reach the limit of the policy, or `below`: then the seconds mean nothing (lockout.ts asks for a CAPTCHA). */
  | { outcome: 'limit'; retryAfterSeconds: number };

/** A counter of an attempt; `below`: counts it only while fewer are counted. */
export interface AttemptCount {
  policy: PolicyName;
  key: string;
  below?: number | undefined;
}

export const statements = hotStatements('attempt-counters', {
  decide: `UPDATE rate_limits SET in_flight = in_flight - 1, points = points - CAST(? AS INTEGER)
    WHERE key = ? AND in_flight > 0 AND points > 0`,
});

export type AttemptCounters = ReturnType<typeof createAttemptCounters>;

export function createAttemptCounters(
  dependencies: Base & {
    /** The setting `rate_limits`. */
    isEnabled?: (() => boolean) | undefined;
  },
) {
  const { sql, now, isEnabled = () => true } = dependencies;
  const inFlightUntil = () => now().getTime() + limits.signInQueue.inFlightSeconds * 1000;
  const find = async (name: PolicyName, key: string) =>
    isEnabled() ? findCounter(dependencies, rowId(name, key), policies[name]) : NO_ATTEMPTS;
  const decide = async (name: PolicyName, key: string, hasFailed: boolean) => {
    if (!isEnabled()) return;
    await sql.later(statements.decide, [hasFailed ? 0 : 1, rowId(name, key)]);
  };

  return {
    /** Counts an attempt that is decided later, while fewer than `below` are counted and the policy allows one. */
    async begin(name: PolicyName, key: string, below?: number): Promise<Begun> {
      if (!isEnabled()) return { outcome: 'counted' };
      const id = rowId(name, key);
      const options = { below, inFlightUntil: inFlightUntil() };
      if (await countAttempt(dependencies, id, policies[name], options)) return { outcome: 'counted' };
      return whyNotCounted(policies[name], await find(name, key), below);
    },
    /** `begin` with all of these counters in one transaction; false, without counting, when one of them does not allow the attempt. */
    async beginAll(counts: readonly AttemptCount[]): Promise<boolean> {
      if (!isEnabled()) return true;
      const until = inFlightUntil();
      const writes = counts.map(({ policy, key, below }) =>
        countingWrite(dependencies, rowId(policy, key), policies[policy], { below, inFlightUntil: until }),
      );
      return sql.allOrNone(writes);
    },
    /** The outcome of `begin` without counting: writes nothing, so that waiting attempts do not delay others. */
    async peek(name: PolicyName, key: string, below?: number): Promise<Begun> {
      const counter = await find(name, key);
      if (isFree(policies[name], counter, below)) return { outcome: 'counted' };
      return whyNotCounted(policies[name], counter, below);
    },
    /** The attempt failed. */
    failed: (name: PolicyName, key: string): Promise<void> => decide(name, key, true),
    /** The attempt succeeded, or was not made: it no longer counts. */
    withdraw: (name: PolicyName, key: string): Promise<void> => decide(name, key, false),
    /** Resolves when other requests see what was decided. */
    settled: (): Promise<void> => sql.settled(),
    /** Decided failures. */
    failures: async (name: PolicyName, key: string): Promise<number> => failuresOf(await find(name, key)),
    /** How long decided failures delay the next attempt; 0 when they do not. */
    async waitSeconds(name: PolicyName, key: string): Promise<number> {
      const counter = await find(name, key);
      return Math.ceil(pauseMsAfter(failuresOf(counter), policies[name], counter) / 1000);
    },
  };
}

function failuresOf({ points, inFlight }: Counter): number {
  return Math.max(0, points - inFlight);
}

/** Whether one more attempt can be counted. */
function isFree(policy: Window | Backoff, counter: Counter, below = Number.POSITIVE_INFINITY): boolean {
  return counter.points < below && pauseMsAfter(counter.points, policy, counter) === 0;
}

/** Why an attempt was not counted. */
function whyNotCounted(policy: Window | Backoff, counter: Counter, below = Number.POSITIVE_INFINITY): Begun {
  const failures = failuresOf(counter);
  const pauseMs = pauseMsAfter(failures, policy, counter);
  if (pauseMs === 0 && failures < below) return { outcome: 'in-flight' };
  return { outcome: 'limit', retryAfterSeconds: Math.max(1, Math.ceil(pauseMs / 1000)) };
}
