// Pages of a list: by `startIndex` and `count` (RFC 7644 3.4.2.4), or by a cursor (RFC 9865), which loses nobody when others are deleted
// meanwhile.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../base/limits.ts';
import { systemStopwatch } from '../../base/platform/clock.ts';
import { scimError } from './errors.ts';
import { type Filter, fits } from './filter.ts';
import type { Values } from './resource-values.ts';

/** Rows that are read in one turn of the event loop. */
const READ = 250;
/** Milliseconds of a turn in which resources are compared with a filter. */
const TURN_MS = 10;

/** Where a page begins: after so many, or at a cursor; an empty one is the beginning. */
export type Place = { limit: number } & ({ offset: number } | { cursor: string });

interface Found {
  id: string;
  values: Values;
  createdAt: Date;
  updatedAt: Date;
}

/** A page of all that fit, with the cursor of the next one. */
export interface Page<Item> {
  found: Item[];
  total: number;
  next?: string;
}

/** `isCut`: there may be more after them, though they are fewer than wanted. */
type Read<Item> = (after: Mark | undefined, skip: number, take: number) => Promise<{ items: Item[]; isCut: boolean }>;

interface Mark {
  at: Date;
  id: string;
}

/**
 * @param count of all that `read` finds
 * @param read those after a mark in the order of their creation, without the first `skip`
 */
export async function pageOf<Item extends Found>({
  filter,
  place,
  count,
  read,
}: {
  filter: Filter | undefined;
  place: Place;
  count(): Promise<number>;
  read: Read<Item>;
}): Promise<Page<Item>> {
  const from = 'cursor' in place ? markOf(place.cursor) : undefined;
  const offset = 'offset' in place ? place.offset : 0;
  const { limit } = place;
  let hasMore = false;
  const isLonger = (items: readonly Item[]) => 'cursor' in place && (hasMore || items.length > limit);
  const answer = (items: readonly Item[], total: number) => {
    const found = items.slice(0, limit);
    const last = found.at(-1);
    return { found, total, ...(isLonger(items) && last && { next: cursorOf({ at: last.createdAt, id: last.id }) }) };
  };
  if (!filter) {
    const total = await count();
    if (limit === 0) return { found: [], total };
    const items: Item[] = [];
    for (let mark = from, skip = offset; items.length <= limit; skip = 0) {
      const take = Math.min(READ, limit + 1 - items.length);
      const { items: some, isCut } = await read(mark, skip, take);
      items.push(...some);
      hasMore = isCut;
      const last = some.at(-1);
      if (!last || isCut || some.length < take) break;
      mark = { at: last.createdAt, id: last.id };
      await nextTurn();
    }
    return answer(items, total);
  }
  const fitting = await fittingOf(filter, read);
  const start = from ? fitting.findIndex(({ createdAt, id }) => isAfter({ at: createdAt, id }, from)) : offset;
  return answer(start < 0 ? [] : fitting.slice(start, start + limit + 1), fitting.length);
}

async function fittingOf<Item extends Found>(filter: Filter, read: Read<Item>): Promise<Item[]> {
  const fitting: Item[] = [];
  let mark: Mark | undefined;
  for (let looked = 0; looked < limits.scim.searched; looked += READ) {
    const { items: some, isCut } = await read(mark, 0, READ);
    let began = systemStopwatch();
    for (const one of some) {
      if (fits(filter, withMeta(one))) fitting.push(one);
      if (systemStopwatch() - began < TURN_MS) continue;
      await nextTurn();
      began = systemStopwatch();
    }
    const last = some.at(-1);
    if (!last || (!isCut && some.length < READ)) return fitting;
    mark = { at: last.createdAt, id: last.id };
    await nextTurn();
  }
  throw scimError(
    'tooMany',
    `More than ${limits.scim.searched} resources would have to be searched. Filter users by userName, externalId, id or emails, groups by externalId, id or members, with eq.`,
  );
}

function withMeta({ id, values, createdAt, updatedAt }: Found): Values {
  const meta = new Map([
    ['created', createdAt.toISOString()],
    ['lastModified', updatedAt.toISOString()],
  ]);
  return new Map([...values, ['id', id], ['meta', meta]]);
}

const isAfter = (one: Mark, other: Mark): boolean =>
  one.at.getTime() === other.at.getTime() ? one.id > other.id : one.at > other.at;

const cursorOf = ({ at, id }: Mark): string => Buffer.from(JSON.stringify([at.getTime(), id])).toString('base64url');

/** Throws invalidCursor. */
function markOf(cursor: string): Mark | undefined {
  if (cursor === '') return undefined;
  try {
    const [at, id, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof at === 'number' && Number.isSafeInteger(at) && typeof id === 'string' && rest.length === 0)
      return { at: new Date(at), id };
  } catch {
    // Not a cursor of this server.
  }
  throw scimError('invalidCursor', 'The cursor is not one of this server.');
}
