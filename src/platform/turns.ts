// Work on long lists in several turns of the event loop, so that other requests are answered in between.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The items; after every `size` of them the event loop gets a turn. A turn should take about a millisecond. */
export async function* inTurns<Item>(items: Iterable<Item>, size = 25): AsyncGenerator<Item> {
  let count = 0;
  for (const item of items) {
    yield item;
    count += 1;
    if (count % size === 0) await nextTurn();
  }
}
