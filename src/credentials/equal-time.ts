// A failed sign-in takes the same time for every login, so that the time does not reveal which accounts exist. Hashes
// with the current parameters all cost the same. While some accounts still have an imported hash, which may cost ten
// times as much, every failure waits for the next multiple of a period that is longer than the most expensive check.
// Computing an expensive hash for unknown logins too would let an attacker cause 300 ms of CPU time with one request.
import { setTimeout } from 'node:timers/promises';

export interface EqualTimeDependencies {
  /** Whether any account holds a hash that costs differently. */
  hasForeignHashes(): Promise<boolean>;
  /** Milliseconds of a clock that only goes forward. Tests replace it, and `sleep`. */
  elapsedMs?: () => number;
  sleep?: (milliseconds: number) => Promise<unknown>;
}

export interface EqualTime {
  /**
   * Call when a check begins. Await `fail` before a failure is reported; call `markNonStandardHash` after the check of an imported
   * hash, whose time the period has to exceed.
   */
  begin(): { fail(): Promise<void>; markNonStandardHash(): void };
  /** Call after an import of hashes: failures wait from now on. */
  imported(): void;
}

const PERIOD_MS = 500;
const MAX_PERIOD_MS = 4000;
const LOOK_EVERY_MS = 10 * 60_000;

export function createEqualTime({
  hasForeignHashes,
  elapsedMs = () => performance.now(),
  sleep = setTimeout,
}: EqualTimeDependencies): EqualTime {
  let periodMs = PERIOD_MS;
  let looked: { at: number; result: Promise<boolean> } | undefined;

  function anyForeign(): Promise<boolean> {
    if (!looked || elapsedMs() - looked.at > LOOK_EVERY_MS) {
      looked = { at: elapsedMs(), result: hasForeignHashes() };
      looked.result.catch(() => {
        looked = undefined;
      });
    }
    return looked.result;
  }

  return {
    begin() {
      const started = elapsedMs();
      return {
        async fail() {
          if (!(await anyForeign())) return;
          const tookMs = elapsedMs() - started;
          // Rounded up: timers drop fractions of a millisecond.
          await sleep(Math.ceil(Math.ceil(tookMs / periodMs) * periodMs - tookMs));
        },
        markNonStandardHash() {
          const tookMs = elapsedMs() - started;
          while (tookMs > periodMs * 0.8 && periodMs < MAX_PERIOD_MS) periodMs *= 2;
        },
      };
    },
    imported() {
      looked = { at: elapsedMs(), result: Promise.resolve(true) };
    },
  };
}
