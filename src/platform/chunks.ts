// Long lists in pieces: a database takes only so many parameters in one statement.

const PIECE = 400;

/** Runs `query` on pieces of `list`, one after the other, and returns all that they found. */
export async function inChunks<In, Out>(list: readonly In[], query: (piece: In[]) => Promise<Out[]>): Promise<Out[]> {
  const found: Out[] = [];
  for (let start = 0; start < list.length; start += PIECE) {
    found.push(...(await query(list.slice(start, start + PIECE))));
  }
  return found;
}
