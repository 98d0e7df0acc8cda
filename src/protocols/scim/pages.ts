// Pages of a list: by `startIndex` and `count` (RFC 7644 3.4.2.4), or by a cursor (RFC 9865), which loses nobody when others are deleted
// meanwhile.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../../base/limits.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';
import { type Clock, systemStopwatch } from '../../base/platform/clock.ts';
import { fromValueCursor, toValueCursor } from '../../base/storage/cursors.ts';
import { isStorable, isStorableTime } from '../../base/storage/storable-text.ts';
import { scimError } from './errors.ts';
import { type Filter, fits, mentions } from './filter.ts';
import type { Resource, Values } from './resource-values.ts';

/** Rows that are read in one turn of the event loop. */
const READ = 250;
/** Milliseconds of a turn in which resources are compared with a filter. */
const TURN_MS = 10;
/** From this `startIndex` on, the end of a page is kept for some minutes, because the next page begins there. */
const FAR = 1000;
const KEPT_MS = 5 * 60 * 1000;
/** Ends that are kept, of all lists. */
const MOST_KEPT = 200;
/** A condition that no row meets. */
const NOTHING = { connectionId: '' };

/** Where a page begins: after so many, or at a cursor; an empty one is the beginning. */
export type Place = { limit: number } & ({ offset: number } | { cursor: string });

/** A page of all that fit, with the cursor of the next one. */
export interface Page {
  found: Resource[];
  total: number;
  next?: string;
}

/** A place in the order of their creation. */
export interface Mark {
  at: Date;
  id: string;
}

/** Where the next page of a list begins, and how many the list has: they are counted once, which takes longer the more they are. */
interface Continued {
  mark: Mark;
  total: number;
}

export type Places = ReturnType<typeof createPlaces>;

/** The ends of pages by `startIndex` far behind in a list: to skip all before them would take longer from page to page. */
export function createPlaces(now: Clock) {
  const ends = new BoundedMap<string, Continued & { until: number }>(MOST_KEPT);
  return {
    /** @param list the list, such as its connection and filter */
    find(list: string, offset: number): Continued | undefined {
      const end = ends.get(`${offset} ${list}`);
      return end && end.until > now().getTime() ? end : undefined;
    },
    keep(list: string, offset: number, end: Continued): void {
      if (offset < FAR) return;
      ends.set(`${offset} ${list}`, { ...end, until: now().getTime() + KEPT_MS });
    },
  };
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
  const conditions = filter.kind === 'and' ? filter.of : [filter];
  for (const one of conditions) {
    const [name = '', value = ''] = equalText(one) ?? [];
    const found = isStorable(value) ? await indexed(name, value) : NOTHING;
    if (found) where.push(found);
    const isDecided = found && name === related && isValueAlone(one);
    if (!isDecided) rest.push(one);
  }
  if (rest.some((one) => mentions(one, related)))
    throw scimError(
      'invalidFilter',
      `${related} are compared by \`${related}.value eq "…"\` only, alone or with \`and\`.`,
    );
  return rest.length === 0 ? { where } : { where, rest: { kind: 'and', of: rest } };
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
 * @param list a text that no other list has
 * @param count of all that `read` finds
 * @param markAt the one after so many, read from an index alone: to skip rows takes five times as long
 * @param read those after a mark in the order of their creation
 * @param complete adds what only those on the page need; `isCut`: these are fewer, and the page ends with them
 */
export async function pageOf({
  filter,
  place,
  places,
  list,
  count,
  markAt,
  read,
  complete,
}: {
  filter: Filter | undefined;
  place: Place;
  places: Places;
  list: string;
  count(): Promise<number>;
  markAt(skip: number): Promise<Mark | undefined>;
  read: Read;
  complete(items: Resource[]): Promise<{ items: Resource[]; isCut: boolean }>;
}): Promise<Page> {
  const continued = 'cursor' in place ? continuedOf(place.cursor) : places.find(list, place.offset);
  const offset = 'offset' in place ? place.offset : 0;
  const { limit } = place;

  async function pageOfFitting(by: Filter): Promise<{ onPage: Resource[]; total: number }> {
    const fitting = await fittingOf(by, read);
    const mark = 'cursor' in place ? continued?.mark : undefined;
    const start = mark ? fitting.findIndex(({ createdAt, id }) => isAfter({ at: createdAt, id }, mark)) : offset;
    return { onPage: start < 0 ? [] : fitting.slice(start, start + limit + 1), total: fitting.length };
  }

  async function pageOfAll(): Promise<{ onPage: Resource[]; total: number }> {
    const total = continued?.total ?? (await count());
    const start = continued?.mark ?? (offset > 0 ? await markAt(offset - 1) : undefined);
    const isEmpty = limit === 0 || (offset > 0 && !start);
    return { onPage: isEmpty ? [] : await firstOf(read, start, limit + 1), total };
  }

  // With the first one of the next page, which tells whether there is one.
  const { onPage, total } = await (filter ? pageOfFitting(filter) : pageOfAll());
  const { items: found, isCut } = await complete(onPage.slice(0, limit));
  const last = found.at(-1);
  if (!last || (!isCut && onPage.length <= limit)) return { found, total };
  const end = { mark: { at: last.createdAt, id: last.id }, total };
  if ('cursor' in place) return { found, total, next: cursorOf(end) };
  if (!filter) places.keep(list, offset + found.length, end);
  return { found, total };
}

type Read = (after: Mark | undefined, take: number) => Promise<Resource[]>;

async function firstOf(read: Read, from: Mark | undefined, wanted: number): Promise<Resource[]> {
  const items: Resource[] = [];
  for (let mark = from; items.length < wanted; ) {
    const take = Math.min(READ, wanted - items.length);
    const some = await read(mark, take);
    items.push(...some);
    const last = some.at(-1);
    if (!last || some.length < take) break;
    mark = { at: last.createdAt, id: last.id };
    await nextTurn();
  }
  return items;
}

async function fittingOf(filter: Filter, read: Read): Promise<Resource[]> {
  const fitting: Resource[] = [];
  let mark: Mark | undefined;
  for (let looked = 0; looked < limits.scim.searched; looked += READ) {
    const some = await read(mark, READ);
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

function withMeta({ id, values, createdAt, updatedAt }: Resource): Values {
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

const cursorOf = ({ mark: { at, id }, total }: Continued): string => toValueCursor([at.getTime(), id, total]);

/** Throws invalidCursor. */
function continuedOf(cursor: string): Continued | undefined {
  if (cursor === '') return undefined;
  const [at, id, total, ...rest] = fromValueCursor(cursor);
  const isCount = typeof total === 'number' && Number.isSafeInteger(total) && total >= 0;
  if (typeof at === 'number' && typeof id === 'string' && isStorable(id) && isCount && rest.length === 0) {
    const time = new Date(at);
    if (time.getTime() === at && isStorableTime(time)) return { mark: { at: time, id }, total };
  }
  throw scimError('invalidCursor', 'The cursor is not one of this server.');
}
