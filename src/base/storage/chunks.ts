// Runs a query on a long list in pieces: a statement takes a limited number of parameters, and SQLite answers within the turn
// of the event loop, so that the rows of a piece must be few.
import { setImmediate as nextTurn } from 'node:timers/promises';

const PIECE = 100;

/** Runs `query` on pieces of `list`, one after the other, and returns all that they found. */
export async function inChunks<In, Out>(
  list: readonly In[],
  query: (piece: In[]) => Promise<Out[]>,
  size = PIECE,
): Promise<Out[]> {
  const found: Out[] = [];
  for (let start = 0; start < list.length; start += size) {
    found.push(...(await query(list.slice(start, start + size))));
    await nextTurn();
  }
  return found;
}
