// What guesses here may cost an account at its directory: fewer wrong passwords than lock it, however many names, browsers, addresses
// and nodes they come from. Its count is mirrored: it begins again after the window without a wrong password, and after a right one.
// Known browsers have a share of their own, so that strangers cannot use it up; both shares together stay below the threshold.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { systemStopwatch } from '../../base/platform/clock.ts';
import type { Window } from './policies.ts';
import { countAttempt, findCounter, rowId } from './rate-limits.ts';

export interface DirectoryAccount {
  /** The connection and the identifier of the entry. */
  key: string;
  /** So many wrong passwords lock it. */
  threshold: number;
  /** It counts from zero after so long without a wrong password. */
  windowSeconds: number;
}

/** Records how the attempt ended; `untried`: the directory counted no wrong password. */
export type SettleAttempt = (outcome: 'right' | 'wrong' | 'untried') => Promise<void>;

interface Share {
  id: string;
  policy: Window;
}

/** The clocks of this server and the directory may differ, and a bind takes its time. */
const MARGIN_SECONDS = 60;
const POLL_MILLISECONDS = 50;

export function createDirectoryBudget(
  dependencies: Base & {
    /** The setting `rate_limits`. */
    isEnabled(): boolean;
  },
) {
  const { db, isEnabled } = dependencies;

  /** Forgets the wrong passwords of a share, but not the attempts in flight: the directory may judge them after the right one. */
  async function forget({ id, policy }: Share): Promise<void> {
    for (let tries = 0; tries < 5; tries += 1) {
      const counter = await findCounter(dependencies, id, policy);
      if (!counter || counter.points <= counter.inFlight) return;
      const unchanged = { key: id, points: counter.points, inFlight: counter.inFlight };
      const { count } = await db.rateLimit.updateMany({ where: unchanged, data: { points: counter.inFlight } });
      if (count > 0) return;
    }
  }

  async function settle(share: Share, all: readonly Share[], outcome: Parameters<SettleAttempt>[0]): Promise<void> {
    const where = { key: share.id, inFlight: { gt: 0 }, points: { gt: 0 } };
    const uncounted = outcome === 'wrong' ? {} : { points: { decrement: 1 } };
    await db.rateLimit.updateMany({ where, data: { inFlight: { decrement: 1 }, ...uncounted } });
    if (outcome === 'right') for (const one of all) await forget(one);
  }

  return {
    /** Counts an attempt as wrong until it is settled. Undefined: one more could lock the account. */
    async begin(account: DirectoryAccount, isKnownBrowser: boolean): Promise<SettleAttempt | undefined> {
      if (!isEnabled()) return async () => {};
      const shares = sharesOf(account);
      const all = [shares.known, shares.others];
      const usable = (isKnownBrowser ? all : [shares.others]).filter(({ policy }) => policy.points > 0);
      const deadline = systemStopwatch() + limits.ldap.signInSeconds * 1000;
      for (;;) {
        const share = await firstCounted(dependencies, usable);
        if (share) {
          await prolong(dependencies, all);
          return (outcome) => settle(share, all, outcome);
        }
        // Attempts in flight may turn out to be right.
        if (systemStopwatch() >= deadline || !(await hasInFlight(dependencies, usable))) return undefined;
        await sleep(POLL_MILLISECONDS);
      }
    },

    /** How long the account gets no attempt from a new browser; 0 when it gets one. */
    async waitSeconds(account: DirectoryAccount): Promise<number> {
      const { id, policy } = sharesOf(account).others;
      const counter = isEnabled() ? await findCounter(dependencies, id, policy) : undefined;
      return counter && counter.points >= policy.points ? Math.ceil(counter.remainingMs / 1000) : 0;
    },
  };
}

/** One wrong password less than the threshold; a third of them for known browsers. */
function sharesOf({ key, threshold, windowSeconds }: DirectoryAccount): { known: Share; others: Share } {
  const total = Math.max(1, threshold - 1);
  const known = total < 2 ? 0 : Math.max(1, Math.floor(total / 3));
  const share = (name: string, points: number): Share => ({
    id: rowId('sign-in:directory-user', `${key} ${name}`),
    policy: { kind: 'window', slides: true, points, seconds: windowSeconds + MARGIN_SECONDS },
  });
  const others = share('others', total - known);
  return { known: known === 0 ? others : share('known', known), others };
}

async function firstCounted(
  dependencies: Base & {
    /** The setting `rate_limits`. */
    isEnabled(): boolean;
  },
  shares: readonly Share[],
): Promise<Share | undefined> {
  const inFlightUntil = dependencies.now().getTime() + limits.signInQueue.inFlightSeconds * 1000;
  for (const share of shares)
    if (await countAttempt(dependencies, share.id, share.policy, { inFlightUntil })) return share;
  return undefined;
}

/** The directory has one count: an attempt of one share prolongs the window of both. */
async function prolong({ db, now }: Base, shares: readonly Share[]): Promise<void> {
  const at = now().getTime();
  for (const { id, policy } of shares) {
    const expiresAt = at + policy.seconds * 1000;
    await db.rateLimit.updateMany({ where: { key: id, expiresAt: { gt: at, lt: expiresAt } }, data: { expiresAt } });
  }
}

async function hasInFlight(
  dependencies: Base & {
    /** The setting `rate_limits`. */
    isEnabled(): boolean;
  },
  shares: readonly Share[],
): Promise<boolean> {
  const counters = await Promise.all(shares.map(({ id, policy }) => findCounter(dependencies, id, policy)));
  return counters.some((counter) => counter === undefined || counter.inFlight > 0);
}
