// What the lists of the console share: their address, sorting by a column, counts, and the first page.
import { z } from 'zod';
import type { Context } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { present } from '../../base/platform/defined.ts';
import { inLanguage, type PageText, type Text, t } from '../../base/texts/text.ts';
import { paged } from '../api/parts.ts';
import { type Cell, type Column, type Field, hiddenField, type Search, selectField } from './blocks.ts';
import { listPath, trailField } from './frame.ts';

/**
 * A list whose address has filters and an order. Returns what reads the address: the given values, and the parts of the page that lead to
 * other addresses of the same list.
 *
 * @param sorts the orders, the one of an address without `sort` first; a search in no order lists the best matches first, where there is `match`
 * @param more what else the address may have; no link keeps it
 */
export function listAt<
  Filters extends z.ZodRawShape,
  const Sort extends string = '',
  More extends z.ZodRawShape = Record<never, never>,
>(path: string, filters: Filters, sorts: readonly [Sort, ...Sort[]] = ['' as Sort], more: More = {} as More) {
  const [first] = sorts;
  const order = z.enum([...sorts]).optional();
  const query = z.object({ ...filters, ...more, after: paged.cursor, trail: trailField, sort: order });
  type Given = z.output<z.ZodObject<Filters & More>> & { after?: string; trail: string; sort: Sort };

  return (ctx: Context) => {
    const read = parseQuery(ctx, query) as unknown as Omit<Given, 'sort'> & { sort?: Sort; q?: string };
    const defaultSort = read.q && sorts.includes('match' as Sort) ? ('match' as Sort) : first;
    const { sort = defaultSort } = read;
    const given = { ...read, sort } as Given;
    const names = Object.keys(filters);
    const chosen = Object.fromEntries(names.map((name) => [name, (given as Record<string, string>)[name]]));
    const address: ListAddress = { path, filters: chosen, sort, defaultSort };
    return {
      given,
      isFiltered: Object.values(chosen).some(Boolean),
      /** The address of its first page with this filter. */
      with: (filter: Record<string, string | undefined>) =>
        sortedPath({ ...address, filters: { ...chosen, ...filter } }, sort),
      column: (label: PageText, key: string, rest?: Partial<Column>) => sortColumn(label, key, address, rest),
      /** The filter form: these fields, and hidden ones for the other filters and the order. */
      search: (fields: readonly Field[], rest: Partial<Search> = {}): Search => ({
        action: path,
        ...rest,
        fields: present([
          ...fields,
          ...names
            .filter((name) => fields.every((field) => field.name !== name))
            .map((name) => hiddenField(name, chosen[name])),
          sorts.length > 1 && hiddenField('sort', sort === defaultSort ? '' : sort),
        ]),
      }),
      pages: (next: string | undefined) => pageLinks(address, given, next),
    };
  };
}

/** The field that searches a list. */
export const searchField = (
  value: string,
  placeholder: PageText,
  label: PageText = t('console.page.search'),
): Field => ({
  name: 'q',
  label,
  type: 'search',
  value,
  isLabelHidden: true,
  placeholder,
});

/** A filter of a list with few values, of which '' filters nothing. */
export const choiceField = (
  name: string,
  label: PageText,
  value: string,
  choices: Readonly<Record<string, PageText>>,
): Field => ({ ...selectField(name, label, value, choices), isLabelHidden: true });

/** The address of a list: its path, its filters, and its order (`name`, or `-name` reversed). */
export interface ListAddress {
  path: string;
  filters: Record<string, string | undefined>;
  sort: string;
  /** The order without `sort` in the address. */
  defaultSort: string;
}

/**
 * A column that the list can be sorted by. The link reverses the present order; another column begins in its own order.
 * @param key the order to begin with, such as `name` or `-created`
 */
export function sortColumn(label: PageText, key: string, list: ListAddress, more: Partial<Column> = {}): Column {
  const name = key.replace(/^-/, '');
  if (list.sort === name) return { label, ...more, sort: { href: sortedPath(list, `-${name}`), order: 'ascending' } };
  if (list.sort === `-${name}`) return { label, ...more, sort: { href: sortedPath(list, name), order: 'descending' } };
  return { label, ...more, sort: { href: sortedPath(list, key), order: undefined } };
}

/** The address of the list in this order, from its first page on. */
export function sortedPath({ path, filters, defaultSort }: ListAddress, sort: string): string {
  return listPath(path, { ...filters, sort: sort === defaultSort ? '' : sort });
}

/** Stands for the first page in a trail. */
const FIRST = '-';
/** Characters, so that addresses stay short: the oldest pages are left out. */
const MAX_TRAIL = 2000;

/** The links to the first, the previous and the next page. @param cursor the name of the cursor in the address; `after` by default */
export function pageLinks(
  list: ListAddress,
  { after, trail }: { after?: string | undefined; trail: string },
  next: string | undefined,
  cursor = 'after',
) {
  const sort = list.sort === list.defaultSort ? '' : list.sort;
  const at = (page: string, before: readonly string[]) =>
    listPath(list.path, { ...list.filters, sort, [cursor]: page, trail: before.join(' ') });
  if (after === undefined) return { first: undefined, previous: undefined, next: next && at(next, [FIRST]) };
  const first = sortedPath(list, list.sort);
  const before = trail.split(' ').filter(Boolean);
  const following = next && at(next, shortened([...before, after]));
  const last = before.at(-1);
  if (last === FIRST) return { first: undefined, previous: first, next: following };
  return { first, previous: last && at(last, before.slice(0, -1)), next: following };
}

function shortened(trail: readonly string[]): readonly string[] {
  return trail.join(' ').length > MAX_TRAIL ? shortened(trail.slice(1)) : trail;
}

/**
 * Sorts rows that are all in memory, by numbers or text.
 *
 * @param language of the page, whose order the texts have
 */
export function sortedBy<T>(
  rows: readonly T[],
  sort: string,
  language: string,
  keys: Record<string, (row: T) => PageText | number>,
): T[] {
  const key = keys[sort.replace(/^-/, '')];
  if (!key) return [...rows];
  const direction = sort.startsWith('-') ? -1 : 1;
  const { compare } = new Intl.Collator(language);
  const keyed = inLanguage(language, () =>
    rows.map((row) => {
      const value = key(row);
      return { row, value: typeof value === 'number' ? value : String(value) };
    }),
  );
  const order = (a: string | number, b: string | number) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b));
  return keyed.sort((a, b) => direction * order(a.value, b.value)).map(({ row }) => row);
}

/** `1 user`, `57 users` or, where they were not counted to the end, `10,000+ users`. */
export function countText(count: number, what: 'users' | 'members', isMore: boolean): Text {
  return t(`console.list.${what}`, { count, more: isMore ? 'yes' : 'no' });
}

/** Columns, each with its cell of a row; those that are false are left out. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly (readonly [head: PageText | Column, cell: (row: Row) => Cell] | false)[],
): { columns: (PageText | Column)[]; rows: Cell[][] } {
  const shown = columns.filter((column) => column !== false);
  return { columns: shown.map(([head]) => head), rows: rows.map((row) => shown.map(([, cell]) => cell(row))) };
}
