// A failed sign-in takes the same time whoever it names (seed 5.5 reset 5 in spirit; 5.7 enumeration). Hashes of our
// own all cost the same. While some accounts still hold an imported hash, which may cost ten times as much, every
// failure is held back to the next multiple of a period longer than the dearest of them. Computing a dear hash for
// unknown names as well would be even, too, but hand every attacker a lever of 300 ms of CPU for one request.
import { setTimeout as sleep } from 'node:timers/promises';

export interface EvenTimeNeeds {
  /** Whether any account holds a hash that costs differently. */
  hasForeignHashes(): Promise<boolean>;
}

export interface EvenTime {
  /** Call when a check begins; await the result's `fail` before a failure is told. */
  begin(): { fail(): Promise<void>; foreign(): void };
  /** Hashes were imported: do not wait for the next look. */
  imported(): void;
}

const PERIOD_MS = 500;
const MAX_PERIOD_MS = 4000;
const LOOK_EVERY_MS = 10 * 60_000;

export function createEvenTime({ hasForeignHashes }: EvenTimeNeeds): EvenTime {
  let periodMs = PERIOD_MS;
  let looked: { at: number; result: Promise<boolean> } | undefined;

  function anyForeign(): Promise<boolean> {
    // A monotonic clock: only durations are measured here.
    if (!looked || performance.now() - looked.at > LOOK_EVERY_MS) {
      looked = { at: performance.now(), result: hasForeignHashes() };
      looked.result.catch(() => {
        looked = undefined;
      });
    }
    return looked.result;
  }

  return {
    begin() {
      const started = performance.now();
      return {
        async fail() {
          if (!(await anyForeign())) return;
          const tookMs = performance.now() - started;
          await sleep(Math.ceil(tookMs / periodMs) * periodMs - tookMs);
        },
        foreign() {
          const tookMs = performance.now() - started;
          while (tookMs > periodMs * 0.8 && periodMs < MAX_PERIOD_MS) periodMs *= 2;
        },
      };
    },
    imported() {
      looked = { at: performance.now(), result: Promise.resolve(true) };
    },
  };
}
