// Reports once that operations fail although PostgreSQL answers, because it is read-only or full, or locks and statements take too long.
import type { Watch } from '../guarded-adapter.ts';
import type { OpenOptions } from '../open-options.ts';
import type { DatabaseUnavailable } from '../unavailable.ts';

export interface FailingOperations {
  /** An operation has failed for this reason, and the server answers. */
  failed(reason: DatabaseUnavailable): void;
  /** Sees each statement: a write that succeeds ends the state. */
  watch: Watch;
  /** The server does not answer at all, which is reported elsewhere. */
  reset(): void;
}

const WRITE = /\b(insert|update|delete)\b/i;

/** @param pauseMs how long no operation must have failed before a write ends the state, so that several locks in a row are reported once */
export function watchFailingOperations(onChange: OpenOptions['onChange'], pauseMs: number): FailingOperations {
  let failedAt: number | undefined;

  function succeeded(): void {
    if (failedAt === undefined || performance.now() - failedAt < pauseMs) return;
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
    reset() {
      failedAt = undefined;
    },
  };
}
