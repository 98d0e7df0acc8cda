// Reads applications of every protocol: one, all, or pages by name with a cursor, so that changes do not shift the pages.

import { notFound } from '../base/http/errors.ts';
import { inChunks } from '../base/storage/chunks.ts';
import { fromValueCursor, toValueCursor } from '../base/storage/cursors.ts';
import type { Db, Tx } from '../base/storage/database.ts';
import { type Fragment, fragment, joinFragments, noFragment, trustedText } from '../base/storage/fragments.ts';
import { isStorable, withoutUnstorable } from '../base/storage/storable-text.ts';
import type { Account } from '../people/accounts/account.ts';
import { nameKey } from '../people/accounts/names.ts';
import { accessDecisionFilter } from './access-decision.ts';
import {
  type Application,
  type ApplicationSource,
  fromRow,
  type Protocol,
  UnreadableApplication,
  withAccess,
} from './application.ts';
import { withoutGroupToChoose } from './groups-to-choose.ts';

export interface ListApplications {
  /** Part of the name or identifier. Without an order the best matches come first: equal ones, then beginnings, then the rest. */
  search?: string | undefined;
  protocol?: Protocol | undefined;
  enabled?: boolean | undefined;
  /** `agents`: those that registered themselves, or have a metadata document. */
  source?: ApplicationSource | 'agents' | undefined;
  /** Only these, by client_id or entity ID. */
  identifiers?: readonly string[] | undefined;
  limit?: number | undefined;
  /** `next` of the page before, in the same order. */
  after?: string | undefined;
  /** From the end of the alphabet, or from the highest rank. */
  isDescending?: boolean | undefined;
  /** Sorts by these numbers, of up to a thousand by client_id or entity ID, equal ones by name; the others have less, and are sorted by name. */
  rank?: ReadonlyMap<string, number> | undefined;
}

/** At most so many of these, by client_id or entity ID; of all by default. */
export interface OpenTo {
  identifiers?: readonly string[] | undefined;
  limit: number;
  /** `next` of the page before. */
  after?: string | undefined;
}

export interface ApplicationPage {
  applications: Application[];
  /** Absent on the last page. */
  next?: string;
}

const PAGE = 50;

/** An application before a change, and whether this server wrote its row; `isGenuine` raises an alarm if not. */
export interface StoredApplication {
  application: Application;
  isGenuine(): boolean;
}

/** Every way to read applications. */
export function createApplicationReads(db: Db) {
  /** By the id of the row, for a change in this transaction; throws not_found (404). */
  async function forChange(id: string, tx: Tx): Promise<StoredApplication> {
    const row = await tx.asStored.application.findUnique({ where: { id }, include: withAccess });
    if (!row) throw notFound({ detail: { applicationId: id } });
    return { application: fromRow(row), isGenuine: () => tx.macs.isGenuine('applications', row, row.mac) };
  }

  return {
    forChange,

    /** By client_id or entity ID, as this server registered it: one that another program wrote is unknown. */
    async find(clientId: string, tx: Tx = db): Promise<Application | undefined> {
      const row = await tx.application.findUnique({ where: { clientId }, include: withAccess });
      return row ? fromRow(row) : undefined;
    },

    /** By the id of the row; throws not_found (404). */
    get: async (id: string, tx: Tx = db): Promise<Application> => (await forChange(id, tx)).application,

    /** Every application, sorted by client_id or entity ID, also one with a wrong MAC: for plans, which may replace it. */
    all: async (tx: Tx = db): Promise<Application[]> => (await allRows(tx.asStored)).map(fromRow),

    /** The same without those that another program wrote. */
    allGenuine: async (): Promise<Application[]> => (await allRows(db)).map(fromRow),

    /** Every application, and the errors of those that are damaged. */
    async readable(): Promise<{ applications: Application[]; unreadable: UnreadableApplication[] }> {
      const applications: Application[] = [];
      const unreadable: UnreadableApplication[] = [];
      for (const row of await allRows(db.asStored)) {
        try {
          applications.push(fromRow(row));
        } catch (error) {
          if (!(error instanceof UnreadableApplication)) throw error;
          unreadable.push(error);
        }
      }
      return { applications, unreadable };
    },

    /** A page of applications, by name or by rank. */
    async list(query: ListApplications = {}): Promise<ApplicationPage> {
      if (query.rank) return listByRank(db, query, query.rank);
      const { isDescending, limit = PAGE } = query;
      const rank = isDescending === undefined ? rankOf(query.search) : undefined;
      const conditions = [...matching(query), ...beyond(query.after, rank, isDescending)];
      const order = trustedText(isDescending ? 'DESC' : 'ASC');
      const found = await db.$queryRaw<{ id: string; rank: number }[]>`SELECT id, ${rank ?? fragment`0`} AS "rank"
        FROM applications ${where(conditions)}
        ORDER BY ${rank ? fragment`"rank",` : noFragment} name_key ${order}, id ${order} LIMIT ${limit + 1}`;
      const applications = await byIds(
        db,
        found.slice(0, limit).map((row) => row.id),
      );
      const last = applications.at(-1);
      const lastRank = Number(found[limit - 1]?.rank ?? 0);
      return found.length > limit && last ? { applications, next: cursorOf(last, lastRank) } : { applications };
    },

    /** Those that this account can sign in to by the access rule, by name. */
    async openTo(account: Account, { identifiers, limit, after }: OpenTo): Promise<ApplicationPage> {
      const listed = identifiers ? { clientId: { in: identifiers.filter(isStorable) } } : {};
      const [nameKey, id] = parseCursor(after) ?? [];
      const beyond =
        nameKey === undefined || id === undefined
          ? {}
          : { OR: [{ nameKey: { gt: nameKey } }, { nameKey, id: { gt: id } }] };
      const rows = await db.asStored.application.findMany({
        where: {
          AND: [accessDecisionFilter(account), listed, beyond],
          NOT: { id: { in: await withoutGroupToChoose(account, db) } },
        },
        include: withAccess,
        orderBy: [{ nameKey: 'asc' }, { id: 'asc' }],
        take: limit + 1,
      });
      const applications = rows.slice(0, limit).map(fromRow);
      const last = applications.at(-1);
      return rows.length > limit && last ? { applications, next: cursorOf(last, 0) } : { applications };
    },

    /** How many match, by protocol. */
    async countByProtocol(query: ListApplications): Promise<Record<Protocol, number>> {
      const rows = await db.$queryRaw<
        { protocol: string; count: number | bigint }[]
      >`SELECT protocol, COUNT(*) AS count FROM applications ${where(matching(query))} GROUP BY protocol`;
      const count = (wanted: string) => Number(rows.find(({ protocol }) => protocol === wanted)?.count ?? 0);
      return { oidc: count('oidc'), saml: count('saml'), proxy: count('proxy') };
    },
  };
}

async function allRows({ application }: Pick<Tx, 'application'>) {
  const ids = await application.findMany({ select: { id: true }, orderBy: { clientId: 'asc' } });
  return inChunks(ids, (piece) =>
    application.findMany({
      where: { id: { in: piece.map(({ id }) => id) } },
      include: withAccess,
      orderBy: { clientId: 'asc' },
    }),
  );
}

/**
 * The ranked applications come after all others, or descending before them. The cursor of a page that ends among the ranked ones is how many of
 * them were listed; among the others it is that of `list`.
 */
async function listByRank(
  db: Db,
  { after, isDescending = false, limit = PAGE, ...query }: ListApplications,
  rank: ReadonlyMap<string, number>,
): Promise<ApplicationPage> {
  const given = matching(query);
  const identifiers = joinFragments(rank.size > 0 ? [...rank.keys()] : [''], ', ');
  const rows = await db.$queryRaw<{ id: string; clientId: string }[]>`SELECT id, client_id AS "clientId"
    FROM applications ${where([...given, fragment`client_id IN (${identifiers})`])} ORDER BY name_key, id`;
  const sign = isDescending ? -1 : 1;
  const numberOf = ({ clientId }: { clientId: string }) => sign * (rank.get(clientId) ?? 0);
  const ranked = rows.sort((one, other) => numberOf(one) - numberOf(other)).map(({ id }) => id);
  const listed = /^\d{1,4}$/.test(after ?? '') ? Number(after) : undefined;

  const nextRanked = async (most: number) => ranked.slice(listed ?? 0, (listed ?? 0) + most);
  async function nextOthers(most: number): Promise<string[]> {
    const conditions = [...given, fragment`client_id NOT IN (${identifiers})`, ...beyond(after, undefined)];
    const found = await db.$queryRaw<{ id: string }[]>`SELECT id FROM applications ${where(conditions)}
      ORDER BY name_key, id LIMIT ${most}`;
    return found.map(({ id }) => id);
  }

  const isPastFirst = isDescending ? after !== undefined && listed === undefined : listed !== undefined;
  const [first, second] = isDescending ? [nextRanked, nextOthers] : [nextOthers, nextRanked];
  const ids = isPastFirst ? [] : await first(limit + 1);
  if (ids.length <= limit) ids.push(...(await second(limit + 1 - ids.length)));

  const applications = await byIds(db, ids.slice(0, limit));
  const last = applications.at(-1);
  if (ids.length <= limit || !last) return { applications };
  const at = ranked.indexOf(last.id);
  return { applications, next: at < 0 ? cursorOf(last, 0) : String(at + 1) };
}

async function byIds(db: Db, ids: readonly string[]): Promise<Application[]> {
  const rows = await db.asStored.application.findMany({ where: { id: { in: [...ids] } }, include: withAccess });
  return ids.flatMap((one) => rows.filter((row) => row.id === one).map(fromRow));
}

/** Only what is asked for, so that an index answers it. */
function matching({ search, protocol, enabled, identifiers, source }: ListApplications): Fragment[] {
  const text = search && withoutUnstorable(search).trim();
  const pattern = text ? `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%` : undefined;
  const only = identifiers?.filter(isStorable);
  const sources = source === 'agents' ? ['dynamic', 'document'] : source && [source];
  return [
    ...(protocol ? [fragment`protocol = ${protocol}`] : []),
    ...(enabled === undefined ? [] : [fragment`enabled = ${enabled}`]),
    ...(pattern
      ? [fragment`(lower(name) LIKE ${pattern} ESCAPE '\\' OR lower(client_id) LIKE ${pattern} ESCAPE '\\')`]
      : []),
    ...(only ? [only.length === 0 ? fragment`1 = 0` : fragment`client_id IN (${joinFragments(only, ', ')})`] : []),
    ...(sources ? [fragment`source IN (${joinFragments(sources, ', ')})`] : []),
  ];
}

/** After the last one of a page. */
function beyond(after: string | undefined, rank: Fragment | undefined, isDescending = false): Fragment[] {
  const [key, id, lastRank] = parseCursor(after) ?? [];
  if (key === undefined) return [];
  const later = fragment`(name_key, id) ${trustedText(isDescending ? '<' : '>')} (${key}, ${id})`;
  return [rank ? fragment`(${rank} > ${lastRank} OR (${rank} = ${lastRank} AND ${later}))` : later];
}

const where = (conditions: readonly Fragment[]): Fragment =>
  conditions.length === 0 ? noFragment : fragment`WHERE ${joinFragments([...conditions], ' AND ')}`;

/** 0 where the name or identifier is the text, 1 where it begins with it, else 2; undefined without a text. */
function rankOf(search: string | undefined): Fragment | undefined {
  const text = withoutUnstorable(search ?? '')
    .trim()
    .toLowerCase();
  if (text === '') return undefined;
  const key = listKey(text);
  const begins = (value: string) => `${value.replace(/[\\%_]/g, '\\$&')}%`;
  return fragment`CASE WHEN name_key = ${key} OR lower(client_id) = ${text} THEN 0
    WHEN name_key LIKE ${begins(key)} ESCAPE '\\' OR lower(client_id) LIKE ${begins(text)} ESCAPE '\\' THEN 1 ELSE 2 END`;
}

function cursorOf({ name, id }: Application, rank: number): string {
  return toValueCursor([listKey(name), id, rank]);
}

// A malformed cursor starts at the first page.
function parseCursor(text: string | undefined): [key: string, id: string, rank: number] | undefined {
  const [key, id, rank] = fromValueCursor(text);
  const isOne =
    typeof key === 'string' && typeof id === 'string' && typeof rank === 'number' && [0, 1, 2].includes(rank);
  return isOne ? [withoutUnstorable(key), withoutUnstorable(id), rank] : undefined;
}

// The key by which lists of applications are sorted: their name as the names of users are compared, so that case does not matter.

/** An entry of an index on PostgreSQL holds 2704 bytes, and compatibility forms may be 18 times as long as the name. */
const MAX_CHARACTERS = 255;

export function listKey(name: string): string {
  return [...nameKey(name)].slice(0, MAX_CHARACTERS).join('');
}
