// Tells once that PostgreSQL answers and cannot be used all the same: it is read-only or full, or locks and statements take too long.
import type { Watch } from '../guarded-adapter.ts';
import type { OpenOptions } from '../open-options.ts';
import type { DatabaseUnavailable } from '../unavailable.ts';

export interface Trouble {
  /** An operation has failed with this reason, and the server answers. */
  failed(reason: DatabaseUnavailable): void;
  /** A write that succeeds ends the trouble. */
  watch: Watch;
  /** The server does not answer at all, which is told in another way. */
  forget(): void;
}

const WRITE = /\b(insert|update|delete)\b/i;

/** @param calmMs how long nothing must have failed before a write ends the trouble: one lock among many is not told again and again */
export function watchTrouble(onChange: OpenOptions['onChange'], calmMs: number): Trouble {
  let failedAt: number | undefined;

  function succeeded(): void {
    if (failedAt === undefined || performance.now() - failedAt < calmMs) return;
    failedAt = undefined;
    onChange?.(undefined);
  }

  return {
    failed(reason) {
      const isNew = failedAt === undefined;
      failedAt = performance.now();
      if (isNew) onChange?.(reason);
    },
    watch(query, result) {
      if (failedAt === undefined || !WRITE.test(query.sql)) return result;
      return result.then((value) => {
        succeeded();
        return value;
      });
    },
    forget() {
      failedAt = undefined;
    },
  };
}
