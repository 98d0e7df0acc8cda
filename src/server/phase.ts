// In which phase of its life a server is: /readyz and the log depend on it.
import type { Phase } from '../http/health.ts';

export interface StartPhase {
  isServing(): boolean;
  /** The start is complete. */
  complete(): void;
  now(isDraining: boolean): Phase;
}

/** @param isAlone false where other workers serve already: a probe of the shared port must not find the one that starts */
export function beginStart(isAlone: boolean): StartPhase {
  let isServing = false;
  return {
    isServing: () => isServing,
    complete() {
      isServing = true;
    },
    now: (isDraining) => (isDraining ? 'draining' : isServing || !isAlone ? 'serving' : 'starting'),
  };
}
