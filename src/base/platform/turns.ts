// Work on long lists in several turns of the event loop, so that other requests are answered in between.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Stopwatch, systemStopwatch } from './clock.ts';

/** The items; after every `size` of them the event loop gets a turn. A turn should take about a millisecond. */
export async function* inTurns<Item>(items: Iterable<Item>, size = 25): AsyncGenerator<Item> {
  let count = 0;
  for (const item of items) {
    yield item;
    count += 1;
    if (count % size === 0) await nextTurn();
  }
}

/**
 * The items, one at least, until so many seconds have passed. After each one the event loop gets a turn: on SQLite a change is written
 * without one, and many changes in a row would stop all other requests.
 */
export async function* forSeconds<Item>(
  seconds: number,
  items: Iterable<Item>,
  stopwatch: Stopwatch = systemStopwatch,
): AsyncGenerator<Item> {
  const end = stopwatch() + seconds * 1000;
  for (const item of items) {
    yield item;
    if (stopwatch() >= end) return;
    await nextTurn();
  }
}
