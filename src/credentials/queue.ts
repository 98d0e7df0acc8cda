// Limits how many password hashes are computed at once: each takes 19 MiB and a core. More wait in the order in which
// they came, and beyond a limit they are rejected, so that a flood of sign-ins exhausts neither memory nor the thread
// pool.

import pLimit from 'p-limit';
import { unavailable } from '../http/errors.ts';
import { t } from '../texts/text.ts';

export interface Queue {
  /** Runs `work` when its turn comes; rejects with 503 when too much is waiting. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createQueue({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }): Queue {
  const limit = pLimit(concurrency);
  return {
    async run(work) {
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
