// Limits how many password hashes are computed at once: each takes 19 MiB and a core. More wait in the order in which
// they came, and beyond a limit they are rejected, so that a flood of sign-ins exhausts neither memory nor the thread
// pool.

import pLimit from 'p-limit';
import { unavailable } from '../http/errors.ts';
import { t } from '../texts/text.ts';

export type Queue = ReturnType<typeof createQueue>;

export function createQueue({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }) {
  const limit = pLimit(concurrency);
  return {
    /** Runs `work` when its turn comes; rejects with 503 when too much is waiting. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (limit.pendingCount >= maxWaiting && limit.activeCount >= concurrency) {
        throw unavailable('unavailable', {
          message: t('error.busy'),
          advice: t('error.busy-advice'),
          detail: 'too many password hashes are waiting',
          headers: { 'Retry-After': '3' },
        });
      }
      return limit(work);
    },
  };
}
