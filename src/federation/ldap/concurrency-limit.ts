// How many sign-ins use a directory at once. Each holds a place in the queue of all password sign-ins, so one that hangs must not
// take them all: after a failure only one sign-in at a time tries it for some seconds.
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { FederationError } from '../faults.ts';
import { directoryUnavailable } from './errors.ts';

export type ConcurrencyLimit = <T>(connectionId: string, work: () => Promise<T>) => Promise<T>;

/** Throws upstream_unavailable at once when the directory has no place. */
export function createConcurrencyLimit(now: Clock): ConcurrencyLimit {
  const states = new Map<string, { running: number; downUntil: number }>();
  const { maxConcurrent, downSeconds } = limits.ldap;

  return async (id, work) => {
    const state = states.get(id) ?? { running: 0, downUntil: 0 };
    states.set(id, state);
    const places = state.downUntil > now().getTime() ? 1 : maxConcurrent;
    if (state.running >= places)
      throw directoryUnavailable('the sign-in', new Error('too many sign-ins wait for the directory'));
    state.running += 1;
    try {
      const result = await work();
      state.downUntil = 0;
      return result;
    } catch (error) {
      if (error instanceof FederationError && error.code === 'upstream_unavailable')
        state.downUntil = now().getTime() + downSeconds * 1000;
      throw error;
    } finally {
      state.running -= 1;
    }
  };
}
