// The audit log as an actor sees it whose permission is limited to the members of roles. The limit is part of the query, so
// that every page is full.
import type { Db } from '../storage/database.ts';
import { type Fragment, fragment, joinFragments, trustedText } from '../storage/fragments.ts';
import type { AuditFilter } from './filter.ts';

const COLUMNS = {
  outcome: 'outcome',
  actorId: 'actor_id',
  actorApp: 'actor_app',
  subjectId: 'subject_id',
  clientId: 'client_id',
  address: 'address',
  requestId: 'request_id',
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

/** The ids of a page of the entries that match the filter and are about users for whom `isVisible` holds, in its order. */
export async function limitedIds(
  db: Db,
  { types, partyId, from, until, before, after, isOldestFirst, limit, ...equals }: AuditFilter & { limit: number },
  isVisible: (column: string) => Fragment,
): Promise<number[]> {
  // Not those by such users: what an administrator who has the role does to the server is nothing about the role.
  const where: Fragment[] = [isVisible('e.subject_id')];
  for (const [name, column] of Object.entries(COLUMNS)) {
    const value = equals[name as keyof typeof COLUMNS];
    if (value !== undefined) where.push(fragment`e.${trustedText(column)} = ${value}`);
  }
  if (types) where.push(types.length > 0 ? fragment`e.type IN (${joinFragments(types, ', ')})` : fragment`1 = 0`);
  if (partyId !== undefined) where.push(fragment`(e.subject_id = ${partyId} OR e.actor_id = ${partyId})`);
  if (from) where.push(fragment`e.at >= ${from}`);
  if (until) where.push(fragment`e.at < ${until}`);
  if (before !== undefined) where.push(fragment`e.id < ${before}`);
  if (after !== undefined) where.push(fragment`e.id > ${after}`);
  const order = trustedText(isOldestFirst ? 'ASC' : 'DESC');
  const rows = await db.$queryRaw<{ id: number | bigint }[]>`
    SELECT e.id FROM audit_events e WHERE ${joinFragments(where, ' AND ')} ORDER BY e.id ${order} LIMIT ${limit}`;
  return rows.map(({ id }) => Number(id));
}
