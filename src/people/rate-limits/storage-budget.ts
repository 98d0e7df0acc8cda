// What one sender may store: users who are not signed in by network address (an IPv6 sender also by the largest network of one customer),
// and every user by account. Charged where rows are written (base/storage/request-scope.ts), so no route can forget it. A request is rejected at
// its first row or not at all, so no work stops half-way. Each process counts in memory and reports larger parts to the shared counters:
// a usual sign-in writes nothing for it.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';
import type { Sender } from '../../base/platform/request-info.ts';
import { TooMuchStored } from '../../base/storage/stored-size.ts';
import { addressBlock, siteBlock } from './policies.ts';
import type { LimitResult, RateLimits } from './rate-limits.ts';

export type StorageBudget = ReturnType<typeof createStorageBudget>;

/** Rows that protect the server, which are charged but never rejected: each has a limit of its own (docs/security.md). */
const NEVER_REJECTED = new Set(['rate_limits', 'audit_events', 'rejections']);

const { seconds, parts, sender: perSender, site: perSite, maxSenders } = limits.storageBudget;
type Amount = typeof perSender | typeof perSite;

interface Spent {
  startedAt: number;
  requests: number;
  bytes: number;
  /** How many parts of the budget were reported to the shared counters. */
  reported: number;
  /** Until when the shared counters allow no more, in epoch milliseconds. */
  rejectedUntil: number;
}

const UNSPENT = { requests: 0, bytes: 0, startedAt: 0 };

interface Account {
  key: string;
  budget: Amount;
}

export function createStorageBudget({
  rateLimits,
  now,
  isEnabled,
}: Base & {
  rateLimits: RateLimits;
  /** The setting `rate_limits`. */
  isEnabled: () => boolean;
}) {
  // In the order in which their windows began.
  const spentBy = new BoundedMap<string, Spent>(maxSenders);

  function currentOf(key: string): Spent | undefined {
    const at = now().getTime();
    const known = spentBy.get(key);
    return known && at - known.startedAt < seconds * 1000 && at >= known.startedAt ? known : undefined;
  }

  function spentOf(key: string): Spent {
    const current = currentOf(key);
    if (current) return current;
    const at = now().getTime();
    const known = spentBy.get(key);
    const fresh = { startedAt: at, requests: 0, bytes: 0, reported: 0, rejectedUntil: known?.rejectedUntil ?? 0 };
    spentBy.set(key, fresh);
    return fresh;
  }

  /** How long this sender has to wait; 0: no time. */
  function waitMs({ key, budget }: Account): number {
    const at = now().getTime();
    const { requests, bytes, startedAt } = currentOf(key) ?? UNSPENT;
    const isSpent = requests >= budget.requests || bytes >= budget.bytes;
    const rejectedUntil = spentBy.get(key)?.rejectedUntil ?? 0;
    return Math.max(isSpent ? startedAt + seconds * 1000 - at : 0, rejectedUntil - at, 0);
  }

  function spend({ key, budget }: Account, requests: number, bytes: number): void {
    const spent = spentOf(key);
    spent.requests += requests;
    spent.bytes += bytes;
    const part = Math.floor(Math.max(spent.requests / budget.requests, spent.bytes / budget.bytes) * parts);
    // Counted first, because the counter is a row of this request too.
    while (spent.reported < Math.min(part, parts)) {
      spent.reported += 1;
      report(key, spent);
    }
  }

  /** Not awaited: the writer of SQLite may be taken by the transaction whose row this is. */
  function report(key: string, spent: Spent): void {
    rateLimits
      .consume(key.startsWith('site ') ? 'storage:site' : 'storage:sender', key)
      .then(({ allowed, retryAfterSeconds }) => {
        if (!allowed) spent.rejectedUntil = now().getTime() + retryAfterSeconds * 1000;
      })
      .catch(() => {}); // the database does not answer, which the request finds out itself
  }

  return {
    /** The charge for one request. `sender`: undefined while nobody is known; it may change during the request. */
    forRequest(address: string, sender: () => Sender | undefined): (table: string, bytes: number) => void {
      let isAdmitted = false;
      return (table, bytes) => {
        const from = sender();
        if (from === 'trusted' || !isEnabled()) return;
        const accounts = from ? [userAccount(from.userId)] : accountsOf(address);
        const isFirst = !isAdmitted && !NEVER_REJECTED.has(table);
        if (isFirst) {
          const wait = Math.max(...accounts.map(waitMs));
          if (wait > 0) throw new TooMuchStored(Math.ceil(wait / 1000));
          isAdmitted = true;
        }
        for (const account of accounts) spend(account, isFirst ? 1 : 0, bytes);
      };
    },

    /** Whether a request of this address may store something now. */
    peek(address: string): LimitResult {
      const wait = isEnabled() ? Math.max(...accountsOf(address).map(waitMs)) : 0;
      return { allowed: wait === 0, retryAfterSeconds: Math.ceil(wait / 1000) };
    },
  };
}

function accountsOf(address: string): Account[] {
  const site = siteBlock(address);
  const own = { key: `address ${addressBlock(address)}`, budget: perSender };
  return site.endsWith('/48') ? [own, { key: `site ${site}`, budget: perSite }] : [own];
}

function userAccount(userId: string): Account {
  return { key: `user ${userId}`, budget: perSender };
}
