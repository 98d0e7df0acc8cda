// Which events of the audit log a stream has, and what is sent of one.

import type { Base } from '../../base/base.ts';
import { fullName } from '../../base/http/pages/tokens.ts';
import type { Db } from '../../base/storage/database.ts';
import { auditEventTypes, type EventKind, eventTypesByKind } from '../../core/audit/events.ts';
import { applicationOf } from '../../core/audit/sentence.ts';

/** The type of the event that tries a stream, and is not in the audit log. */
export const TEST = 'event-stream.test';

/** A row of `audit_events` that has its place in the chain. */
export type SealedEvent = Omit<NonNullable<Awaited<ReturnType<Db['auditEvent']['findFirst']>>>, 'salt' | 'rowMac'>;

/** Patterns that are no beginning of a type: everything about accounts and their factors. */
const KINDS_OF_PATTERN: Readonly<Record<string, readonly EventKind[]>> = {
  'user.*': ['account', 'password', 'factor'],
};

/** The types of events that a pattern means: a type, `sign-in.*`, `user.*` or `*`. Undefined for one that means none. */
export function eventPattern(pattern: string): readonly string[] | undefined {
  const kinds = KINDS_OF_PATTERN[pattern];
  if (kinds) return kinds.flatMap((kind) => eventTypesByKind[kind]);
  const found = auditEventTypes.filter(
    (type) => pattern === '*' || type === pattern || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))),
  );
  return found.length > 0 ? found : undefined;
}

interface TypeFilter {
  kind: string;
  events: readonly string[];
}

interface Filter extends TypeFilter {
  applications: readonly string[];
  /** Their ids. */
  groups: readonly string[];
}

/** The condition of the types that the stream has. An event of a newer version is in no pattern but `*`. */
export function ofTypes({ kind, events: patterns }: TypeFilter) {
  const types = patterns.includes('*') ? undefined : patterns.flatMap((one) => eventPattern(one) ?? []);
  // An alert about its mail would be followed by another one.
  const isMail = kind === 'alert' ? [{ type: { startsWith: 'mail.' } }] : [];
  return { ...(types && { type: { in: types } }), NOT: isMail };
}

/** Whether that condition holds for an event of the type. */
export const hasType = ({ kind, events: patterns }: TypeFilter, type: string): boolean =>
  !(kind === 'alert' && type.startsWith('mail.')) &&
  patterns.some((one) => one === '*' || one === type || eventPattern(one)?.includes(type));

/** Those of the events, of types that the stream has, that are about its applications. */
export const chosen = (
  events: readonly SealedEvent[],
  { applications }: Pick<Filter, 'applications'>,
): SealedEvent[] =>
  applications.length === 0
    ? [...events]
    : events.filter((event) => [event.actorApp, applicationIn(event)].some((id) => applications.includes(id ?? '')));

/** The application that the event is about, or whose sign-in it is a step of. */
const applicationIn = ({ clientId, data }: SealedEvent): string | null =>
  clientId ?? applicationOf({ clientId, data: detailsOf(data) })?.id ?? null;

/** Those of the events, of types that the stream has, that are about its applications and groups: by the groups of their people now. */
export async function matching(
  events: readonly SealedEvent[],
  filter: Filter,
  { db, now }: Pick<Base, 'db' | 'now'>,
): Promise<SealedEvent[]> {
  const found = chosen(events, filter);
  const groups = new Set(filter.groups);
  if (groups.size === 0 || found.length === 0) return found;
  const people = [...new Set(found.flatMap(({ subjectId, actorId }) => subjectId ?? actorId ?? []))];
  const isIn = { ancestors: { some: { ancestorId: { in: [...groups] } } } };
  const at = now();
  const isMember = [
    { OR: [{ since: null }, { since: { lte: at } }] },
    { OR: [{ until: null }, { until: { gt: at } }] },
  ];
  const members = await db.groupMember.findMany({ where: { userId: { in: people }, group: isIn, AND: isMember } });
  const memberIds = new Set(members.map(({ userId }) => userId));
  const others = people.filter((id) => !memberIds.has(id));
  for (const id of await deletedFrom(groups, others, db)) memberIds.add(id);
  return found.filter(
    ({ subjectId, actorId, data }) =>
      memberIds.has(subjectId ?? actorId ?? '') || groups.has(String(detailsOf(data).groupId)),
  );
}

/** Those of the people who were members when their account was deleted. */
async function deletedFrom(groups: ReadonlySet<string>, people: readonly string[], db: Db): Promise<string[]> {
  if (people.length === 0) return [];
  const rows = await db.auditEvent.findMany({ where: { type: 'account.deleted', subjectId: { in: [...people] } } });
  return rows.flatMap(({ subjectId, data }) => {
    const { groups: left } = detailsOf(data);
    return subjectId !== null && Array.isArray(left) && left.some((id) => groups.has(String(id))) ? subjectId : [];
  });
}

const detailsOf = (data: string) => JSON.parse(data) as Record<string, unknown>;

/** Where an event stands in the audit chain (docs/operating.md has the hash), and which event of the stream is before it. */
interface Chain {
  seq: number;
  hash: string;
  digest: string;
  after: { seq: number; hash: string } | null;
}

interface Person {
  id: string;
  username?: string;
  name?: string | null;
  email?: string | null;
}

/** What is sent of an event. */
export interface EventBody {
  type: string;
  /** RFC 3339. */
  timestamp: string;
  data: {
    id: number;
    outcome: string;
    reason: string | null;
    actor: Person | null;
    /** The application or directory that acted. */
    actor_application: string | null;
    subject: Person | null;
    application: string | null;
    address: string | null;
    user_agent: string | null;
    request_id: string | null;
    details: Record<string, unknown>;
    /** Nothing is left of it but its place (docs/privacy.md). */
    erased?: true;
  };
  chain: Chain;
}

/** What a test sends, which is not in the audit log. */
export function testEvent(at: Date): EventBody {
  const parties = { actor: null, actor_application: null, subject: null, application: null };
  const data = { id: 0, outcome: 'success', reason: null, ...parties, address: null, user_agent: null };
  const chain = { seq: TEST_SEQ, hash: '', digest: '', after: null };
  return { type: TEST, timestamp: at.toISOString(), data: { ...data, request_id: null, details: {} }, chain };
}

/** The position of a test: those of the chain begin with 1. */
export const TEST_SEQ = 0;

/**
 * The bodies of events that follow each other in a stream.
 *
 * @param before the event of the stream before the first one, where the log still has it
 */
export async function bodiesOf(
  events: readonly SealedEvent[],
  { body, before }: { body: 'thin' | 'full'; before: SealedEvent | undefined },
  db: Db,
): Promise<EventBody[]> {
  const people = body === 'full' ? await peopleIn(events, db) : new Map<string, Person>();
  let last: Chain['after'] = before?.chainHash ? { seq: before.chainSeq ?? 0, hash: before.chainHash } : null;
  return events.map((event) => {
    const at = { seq: event.chainSeq ?? 0, hash: event.chainHash ?? '' };
    const chain = { ...at, digest: event.digest, after: last };
    last = at;
    const personOf = (id: string | null) => (id === null ? null : (people.get(id) ?? { id }));
    return {
      type: event.type,
      timestamp: event.at.toISOString(),
      data: {
        id: event.id,
        outcome: event.outcome,
        reason: event.reason,
        actor: personOf(event.actorId),
        actor_application: event.actorApp,
        subject: personOf(event.subjectId),
        application: applicationIn(event),
        address: event.address,
        user_agent: event.userAgent,
        request_id: event.requestId,
        details: detailsOf(event.data),
        ...(event.erasedBy !== null && { erased: true }),
      },
      chain,
    };
  });
}

async function peopleIn(events: readonly SealedEvent[], db: Db): Promise<Map<string, Person>> {
  const ids = [
    ...new Set(events.flatMap(({ actorId, subjectId }) => [actorId, subjectId]).filter((id) => id !== null)),
  ];
  const users = await db.user.findMany({ where: { id: { in: ids } } });
  return new Map(
    users.map((user) => [user.id, { id: user.id, username: user.username, name: fullName(user), email: user.email }]),
  );
}
