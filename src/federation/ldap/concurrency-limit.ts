// How many sign-ins use a directory at once; others wait for a place. Each holds a place in the queue of all password sign-ins, so one
// that hangs must not take them all: after a failure only one sign-in at a time tries it for some seconds, and nobody waits.
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { FederationError } from '../faults.ts';
import { directoryUnavailable } from './errors.ts';

export type ConcurrencyLimit = <T>(connectionId: string, work: () => Promise<T>) => Promise<T>;

interface State {
  running: number;
  downUntil: number;
  /** In the order in which they came. `true`: a place is free. */
  waiting: ((hasPlace: boolean) => void)[];
}

/** Throws upstream_unavailable when the directory has no place in time. */
export function createConcurrencyLimit(now: Clock): ConcurrencyLimit {
  const states = new Map<string, State>();
  const { maxConcurrent, maxWaiting, downSeconds, signInSeconds } = limits.ldap;
  const isDown = ({ downUntil }: State) => downUntil > now().getTime();

  /** Resolves with a place taken, or with `false`. */
  function place(state: State): Promise<boolean> {
    if (state.running < (isDown(state) ? 1 : maxConcurrent)) {
      state.running += 1;
      return Promise.resolve(true);
    }
    if (isDown(state) || state.waiting.length >= maxWaiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (hasPlace: boolean) => {
        clearTimeout(timer);
        state.waiting = state.waiting.filter((one) => one !== settle);
        if (hasPlace) state.running += 1;
        resolve(hasPlace);
      };
      const timer = setTimeout(() => settle(false), signInSeconds * 1000);
      state.waiting.push(settle);
    });
  }

  function release(state: State): void {
    state.running -= 1;
    if (isDown(state)) for (const settle of state.waiting) settle(false);
    else state.waiting[0]?.(true);
  }

  return async (id, work) => {
    const state = states.get(id) ?? { running: 0, downUntil: 0, waiting: [] };
    states.set(id, state);
    if (!(await place(state)))
      throw directoryUnavailable('the sign-in', new Error('too many sign-ins wait for the directory'));
    try {
      const result = await work();
      state.downUntil = 0;
      return result;
    } catch (error) {
      if (error instanceof FederationError && error.code === 'upstream_unavailable')
        state.downUntil = now().getTime() + downSeconds * 1000;
      throw error;
    } finally {
      release(state);
    }
  };
}
