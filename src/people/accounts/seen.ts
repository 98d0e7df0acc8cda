// When an account was used last, by the day.
import { setTimeout as sleep } from 'node:timers/promises';
import { eachChunk } from '../../base/storage/chunks.ts';
import { fragment, joinFragments, trustedText } from '../../base/storage/fragments.ts';
import { LAST_USE } from '../../base/storage/statements.ts';
import type { Core } from '../../core/core.ts';
import { seenAt } from './active.ts';

/** Those who come meanwhile are one write. */
const WAIT_MS = 1000;
const PIECE = 200;
/** Accounts of today that are remembered. */
const MAX_STORED = 100_000;

/**
 * Returns a function to call where an account is used: by the person, or by a program with a credential of the account. It costs a
 * comparison, and on the first use of a day a write, shared by all accounts of the same second. What a crash loses comes with the next use.
 */
export function createNoteSeen({ db, now, logger }: Core) {
  const waiting = new Set<string>();
  // A write leaves cached accounts as they are (LAST_USE), so this remembers which are stored.
  const stored = { day: 0, ids: new Set<string>() };

  async function write(): Promise<void> {
    await sleep(WAIT_MS, undefined, { ref: false });
    const day = dayOf(now());
    const ids = [...waiting];
    waiting.clear();
    // An account that was never used has the time of its creation there.
    await eachChunk(
      ids,
      async (some) => {
        await db.$executeRaw(fragment`${trustedText(LAST_USE)} UPDATE users SET last_seen_at = ${day},
            idle_notice = CASE WHEN is_enabled THEN '' ELSE idle_notice END
          WHERE id IN (${joinFragments([...some], ', ')}) AND (last_seen_at < ${day} OR last_seen_at = created_at)`);
      },
      PIECE,
    );
    if (stored.day !== day.getTime() || stored.ids.size >= MAX_STORED) stored.ids.clear();
    stored.day = day.getTime();
    for (const id of ids) stored.ids.add(id);
  }

  return (account: { id: string; lastSeenAt: Date; createdAt: Date }): void => {
    const { id, lastSeenAt } = account;
    const day = dayOf(now());
    // After today: the clock was set back.
    const isKnown = seenAt(account) === null ? lastSeenAt.getTime() === day.getTime() : lastSeenAt >= day;
    if (isKnown || waiting.has(id) || (stored.day === day.getTime() && stored.ids.has(id))) return;
    waiting.add(id);
    if (waiting.size > 1) return;
    write().catch((err: unknown) => logger.warn({ err }, 'the last use of accounts was not stored'));
  };
}

const dayOf = (at: Date): Date => new Date(at.toISOString().slice(0, 10));
