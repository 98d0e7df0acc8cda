// Pages of a list: by `startIndex` and `count` (RFC 7644 3.4.2.4), or by a cursor (RFC 9865), which loses nobody when others are deleted
// meanwhile.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../base/limits.ts';
import { systemStopwatch } from '../../base/platform/clock.ts';
import { isStorable, isStorableTime } from '../../base/storage/storable-text.ts';
import { scimError } from './errors.ts';
import { type Filter, fits, mentions } from './filter.ts';
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

/** A place in the order of their creation. */
export interface Mark {
  at: Date;
  id: string;
}

/** What an index finds of a filter, and what is left to compare. */
export interface Narrowed {
  where: object[];
  rest?: Filter;
}

/**
 * @param indexed what an index finds for an attribute that is equal to a text; undefined without an index
 * @param related the attribute with which `indexed` alone decides, because the values that are compared do not have it
 */
export async function narrow(
  filter: Filter | undefined,
  indexed: (name: string, value: string) => object | undefined | Promise<object>,
  related: 'groups' | 'members',
): Promise<Narrowed> {
  if (!filter) return { where: [] };
  const where: object[] = [];
  const rest: Filter[] = [];
  for (const one of filter.kind === 'and' ? filter.of : [filter]) {
    const [name = '', value = ''] = equalText(one) ?? [];
    const found = isStorable(value) ? await indexed(name, value) : { connectionId: '' };
    if (found) where.push(found);
    if (!(found && name === related && isValueAlone(one))) rest.push(one);
  }
  if (rest.some((one) => mentions(one, related)))
    throw scimError(
      'invalidFilter',
      `${related} are compared by \`${related}.value eq "…"\` only, alone or with \`and\`.`,
    );
  const [first] = rest;
  return { where, ...(first && { rest: rest.length === 1 ? first : { kind: 'and', of: rest } }) };
}

/** `groups[value eq "…"]` without another condition, or `groups.value eq "…"`. */
const isValueAlone = (one: Filter) => one.kind !== 'has' || one.filter.kind === 'compare';

/** The attribute and the text of `userName eq "…"`, also within `emails[…]`. */
function equalText(filter: Filter): [string, string] | undefined {
  if (filter.kind === 'has') {
    const inner = filter.filter.kind === 'and' ? filter.filter.of : [filter.filter];
    const value = inner.map(equalText).find((one) => one?.[0] === 'value');
    return value && [filter.attribute.name, value[1]];
  }
  if (filter.kind !== 'compare' || filter.op !== 'eq' || typeof filter.value !== 'string') return undefined;
  const { attribute, sub } = filter.path;
  return sub === undefined || sub.name === 'value' ? [attribute.name, filter.value] : undefined;
}

/**
 * @param filter what an index did not decide
 * @param count of all that `read` finds
 * @param read those after a mark in the order of their creation, without the first `skip`
 * @param complete adds what only those on the page need; `isCut`: these are fewer, and the page ends with them
 */
export async function pageOf<Item extends Found>({
  filter,
  place,
  count,
  read,
  complete,
}: {
  filter: Filter | undefined;
  place: Place;
  count(): Promise<number>;
  read(after: Mark | undefined, skip: number, take: number): Promise<Item[]>;
  complete(items: Item[]): Promise<{ items: Item[]; isCut: boolean }>;
}): Promise<Page<Item>> {
  const from = 'cursor' in place ? markOf(place.cursor) : undefined;
  const offset = 'offset' in place ? place.offset : 0;
  const { limit } = place;
  /** With the first one of the next page. */
  let onPage: Item[];
  let total: number;
  if (filter) {
    const fitting = await fittingOf(filter, read);
    const start = from ? fitting.findIndex(({ createdAt, id }) => isAfter({ at: createdAt, id }, from)) : offset;
    onPage = start < 0 ? [] : fitting.slice(start, start + limit + 1);
    total = fitting.length;
  } else {
    total = await count();
    onPage = limit === 0 ? [] : await firstOf(read, from, offset, limit + 1);
  }
  const { items: found, isCut } = await complete(onPage.slice(0, limit));
  const last = found.at(-1);
  const hasMore = 'cursor' in place && (isCut || onPage.length > limit);
  return { found, total, ...(hasMore && last && { next: cursorOf({ at: last.createdAt, id: last.id }) }) };
}

type Read<Item> = (after: Mark | undefined, skip: number, take: number) => Promise<Item[]>;

async function firstOf<Item extends Found>(
  read: Read<Item>,
  from: Mark | undefined,
  offset: number,
  wanted: number,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let mark = from, skip = offset; items.length < wanted; skip = 0) {
    const take = Math.min(READ, wanted - items.length);
    const some = await read(mark, skip, take);
    items.push(...some);
    const last = some.at(-1);
    if (!last || some.length < take) break;
    mark = { at: last.createdAt, id: last.id };
    await nextTurn();
  }
  return items;
}

async function fittingOf<Item extends Found>(filter: Filter, read: Read<Item>): Promise<Item[]> {
  const fitting: Item[] = [];
  let mark: Mark | undefined;
  for (let looked = 0; looked < limits.scim.searched; looked += READ) {
    const some = await read(mark, 0, READ);
    let began = systemStopwatch();
    for (const one of some) {
      if (fits(filter, withMeta(one))) fitting.push(one);
      if (systemStopwatch() - began < TURN_MS) continue;
      await nextTurn();
      began = systemStopwatch();
    }
    const last = some.at(-1);
    if (!last || some.length < READ) return fitting;
    mark = { at: last.createdAt, id: last.id };
    await nextTurn();
  }
  throw scimError(
    'tooMany',
    `More than ${limits.scim.searched} resources would have to be searched. Filter users by userName, displayName, externalId, id or emails, groups by displayName, externalId, id or members, with eq.`,
  );
}

function withMeta({ id, values, createdAt, updatedAt }: Found): Values {
  const meta = new Map([
    ['created', createdAt.toISOString()],
    ['lastModified', updatedAt.toISOString()],
  ]);
  return new Map([...values, ['id', id], ['meta', meta]]);
}

/** The condition of the rows after a mark, which an index finds by the time. */
export const afterMark = (mark: Mark | undefined, id: 'userId' | 'groupId'): object =>
  mark ? { createdAt: { gte: mark.at }, OR: [{ createdAt: { gt: mark.at } }, { [id]: { gt: mark.id } }] } : {};

const isAfter = (one: Mark, other: Mark): boolean =>
  one.at.getTime() === other.at.getTime() ? one.id > other.id : one.at > other.at;

const cursorOf = ({ at, id }: Mark): string => Buffer.from(JSON.stringify([at.getTime(), id])).toString('base64url');

/** Throws invalidCursor. */
function markOf(cursor: string): Mark | undefined {
  if (cursor === '') return undefined;
  try {
    const [at, id, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof at === 'number' && typeof id === 'string' && isStorable(id) && rest.length === 0) {
      const time = new Date(at);
      if (time.getTime() === at && isStorableTime(time)) return { at: time, id };
    }
  } catch {
    // Not a cursor of this server.
  }
  throw scimError('invalidCursor', 'The cursor is not one of this server.');
}
