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
  await eachChunk(list, async (piece) => void found.push(...(await query(piece))), size);
  return found;
}

/** Runs `work`, such as a change, on pieces of `list`, one after the other. */
export async function eachChunk<In>(
  list: readonly In[],
  work: (piece: In[]) => Promise<unknown>,
  size = PIECE,
): Promise<void> {
  for (let start = 0; start < list.length; start += size) {
    await work(list.slice(start, start + size));
    await nextTurn();
  }
}
