// When an account was used last, by the day.
import { setTimeout as sleep } from 'node:timers/promises';
import { inChunks } from '../../base/storage/chunks.ts';
import { fragment, joinFragments } from '../../base/storage/fragments.ts';
import type { Core } from '../../core/core.ts';

/** Those who come meanwhile are one write. */
const WAIT_MS = 1000;
const PIECE = 200;

/**
 * Returns a function to call where an account is used: by its person or a program of theirs. It costs a comparison, and one write a day.
 * What a crash loses comes with the next use.
 */
export function createNoteSeen({ db, now, logger }: Core) {
  const waiting = new Set<string>();

  async function write(): Promise<void> {
    await sleep(WAIT_MS, undefined, { ref: false });
    const day = dayOf(now());
    const ids = [...waiting];
    waiting.clear();
    // An account that was never used has the time of its creation there.
    await inChunks(
      ids,
      async (some) => {
        await db.$executeRaw(fragment`UPDATE users SET last_seen_at = ${day}, idle_notice = ''
          WHERE id IN (${joinFragments([...some], ', ')}) AND (last_seen_at < ${day} OR last_seen_at = created_at)`);
        return [];
      },
      PIECE,
    );
  }

  return ({ id, lastSeenAt }: { id: string; lastSeenAt: Date }): void => {
    if (lastSeenAt.getTime() === dayOf(now()).getTime() || waiting.has(id)) return;
    waiting.add(id);
    if (waiting.size > 1) return;
    write().catch((err: unknown) => logger.warn({ err }, 'the last use of accounts was not stored'));
  };
}

const dayOf = (at: Date): Date => new Date(at.toISOString().slice(0, 10));
