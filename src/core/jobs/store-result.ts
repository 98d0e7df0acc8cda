// Stores what came of an attempt. The message was sent, so a database that is away for a moment must not have it sent again.
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailableIn } from '../../base/storage/unavailable.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

export interface StoreResultOptions {
  /** How long the claim of the job is good for, and this may take: afterwards another instance attempts the job. */
  seconds: number;
  /** Aborts when the instance stops: there is no further try then. */
  signal?: AbortSignal | undefined;
}

/** Repeats `write` while the database cannot be used. Rejects with the error of the last try, and with any other error at once. */
export async function storeResult(write: () => Promise<void>, { seconds, signal }: StoreResultOptions): Promise<void> {
  const began = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      const isOver = performance.now() - began + pauseMs > seconds * 1000;
      if (!unavailableIn(error) || isOver || signal?.aborted) throw error;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {}); // aborted: one more try
  }
}
