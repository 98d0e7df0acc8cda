// What is done at most once in a time for each key, such as the note of a use.
import { BoundedMap } from './bounded-map.ts';
import { type Clock, isWithin } from './clock.ts';

const MAX_REMEMBERED = 10_000;

/** Whether it is to be done now. @param last when another process did it, as far as that is known */
export type Throttle = (key: string, last?: Date | null) => boolean;

/** Each process remembers by itself, up to `max` keys; beyond them it may do something once more. */
export function createThrottle(now: Clock, seconds: number, max = MAX_REMEMBERED): Throttle {
  const doneAt = new BoundedMap<string, number>(max);
  return (key, last) => {
    const isRecent = (at: number | undefined) => at !== undefined && isWithin(seconds, at, now());
    if (isRecent(doneAt.get(key)) || isRecent(last?.getTime())) return false;
    doneAt.set(key, now().getTime());
    return true;
  };
}
