// A table of jobs in memory, for tests of the queue alone. Several queues on it are several instances.
import type { QueuedJob, QueueStore } from '../../src/core/jobs/queue.ts';
import type { TestClock } from '../support/clock.ts';

export interface StoredJob extends QueuedJob {
  nextTryAt: Date;
  doneAt?: Date;
  failedAt?: Date;
}

export interface MemoryStore extends QueueStore<StoredJob> {
  rows: Map<string, StoredJob>;
  add(...jobs: { id: string; lane: string; tries?: number }[]): void;
}

export function memoryStore({ now }: TestClock): MemoryStore {
  const rows = new Map<string, StoredJob>();
  const claimed = ({ id, tries }: StoredJob) => {
    const row = rows.get(id);
    return row && row.tries === tries + 1 && !row.doneAt && !row.failedAt ? row : undefined;
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    rows,
    add(...jobs) {
      for (const job of jobs) rows.set(job.id, { tries: 0, lastError: null, nextTryAt: now(), ...job });
    },
    async due({ limit, exceptLanes }) {
      await turn();
      const isDue = (row: StoredJob) =>
        !row.doneAt && !row.failedAt && row.nextTryAt <= now() && !exceptLanes.includes(row.lane);
      return [...rows.values()]
        .filter(isDue)
        .slice(0, limit)
        .map((row) => ({ ...row }));
    },
    async claim({ id, tries }, leaseUntil) {
      await turn();
      const row = rows.get(id);
      if (!row || row.tries !== tries || row.doneAt || row.failedAt) return false;
      Object.assign(row, { tries: tries + 1, nextTryAt: leaseUntil });
      return true;
    },
    async complete(job) {
      Object.assign(claimed(job) ?? {}, { doneAt: now() });
    },
    async retry(job, { reason, nextTryAt }) {
      Object.assign(claimed(job) ?? {}, { lastError: reason, nextTryAt });
    },
    async giveUp(job, reason) {
      Object.assign(claimed(job) ?? {}, { lastError: reason, failedAt: now() });
    },
    async waitAtMost(until) {
      for (const row of rows.values()) if (row.nextTryAt > until) row.nextTryAt = until;
    },
  };
}
