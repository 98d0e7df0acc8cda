// One page of audit events in the console, from the newest or from the oldest on.
import { z } from 'zod';
import { t } from '../../base/texts/text.ts';
import type { Audit, AuditFilter } from '../../core/audit/audit.ts';
import type { Action, EventItem, Field, PageLinks } from '../console/blocks.ts';
import { listPath, trailField } from '../console/frame.ts';
import { pageLinks } from '../console/lists.ts';
import type { Names } from '../console/names.ts';
import { eventItems } from './console-rows.ts';

const PAGE = 50;
const id = z.coerce.number().int().positive().optional();

/** Its part of the query. `before` and `after` are cursors: one for each order. */
export const eventPageQuery = { before: id, after: id, trail: trailField, sort: z.enum(['at', '-at']).default('-at') };
interface EventListAddress {
  path: string;
  filters: Record<string, string | undefined>;
}

type Given = z.output<z.ZodObject<typeof eventPageQuery>>;

/** The link that turns the order round, for the head of the list. @param list its path and filters */
export function orderLink({ sort }: Pick<Given, 'sort'>, { path, filters }: EventListAddress): Action {
  const [label, other] =
    sort === '-at' ? ([t('console.audit.oldest'), 'at'] as const) : ([t('console.audit.newest'), ''] as const);
  return { label, icon: 'arrow-up-down', href: listPath(path, { ...filters, sort: other }) };
}

/** Keeps the order while filters change. */
export const orderField = ({ sort }: Pick<Given, 'sort'>): Field => ({
  name: 'sort',
  label: '',
  type: 'hidden',
  value: sort === '-at' ? '' : sort,
});

/** @param list its path, and the filters that the links to other pages keep */
export async function readEventPage(
  { audit, names }: { audit: Audit; names: Names },
  filter: AuditFilter,
  { before, after, trail, sort }: Given,
  list: EventListAddress,
): Promise<{ items: EventItem[]; pages: PageLinks; isFirst: boolean }> {
  const isOldestFirst = sort === 'at';
  const cursor = isOldestFirst ? after : before;
  const at = isOldestFirst ? { isOldestFirst, ...(after && { after }) } : before && { before };
  const entries = await audit.list({ ...filter, ...at, limit: PAGE + 1 });
  const page = entries.slice(0, PAGE);
  const next = entries.length > PAGE ? page.at(-1)?.id : undefined;
  return {
    items: await eventItems(page, names),
    pages: pageLinks(
      { ...list, sort, defaultSort: '-at' },
      { after: cursor?.toString(), trail },
      next?.toString(),
      isOldestFirst ? 'after' : 'before',
    ),
    isFirst: cursor === undefined,
  };
}
