// Audit events as items of a page: a sentence with links, where it came from, and the raw event for developers.

import { z } from 'zod';
import type { Context } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { addressIn, dotted, type PageText, partsOf, Slot, t } from '../../base/texts/text.ts';
import type { AuditEntry, AuditFilter } from '../../core/audit/audit.ts';
import { type AuditEventType, type EventKind, eventTypesByKind, kindOfEvent } from '../../core/audit/events.ts';
import { applicationOf, type Mention, mentionsIn, sentenceOf } from '../../core/audit/sentence.ts';
import { browserName } from '../../core/mail/browser-name.ts';
import type { MailKind } from '../../core/mail/messages.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../protocols/oidc/in-process-clients.ts';
import type { Action, Block, Empty, EventItem, Field, Mark, PageLinks } from '../console/blocks.ts';
import { listPath, trailField } from '../console/frame.ts';
import { pageLinks } from '../console/lists.ts';
import { applicationCell, type Names, userCell } from '../console/names.ts';
import type { ConsoleServices } from '../console-services.ts';

const KIND_ICONS: Record<EventKind, { icon: string }> = {
  'sign-in': { icon: 'log-in' },
  session: { icon: 'log-out' },
  account: { icon: 'user-round' },
  password: { icon: 'key-round' },
  factor: { icon: 'shield-check' },
  role: { icon: 'shield' },
  group: { icon: 'users-round' },
  request: { icon: 'arrow-right-left' },
  application: { icon: 'layout-grid' },
  connection: { icon: 'plug' },
  server: { icon: 'server' },
};
const FAILED = { icon: 'circle-x' };

/** The items for these events, with the names of users, applications and connections. */
export async function eventItems(events: readonly AuditEntry[], names: Names): Promise<EventItem[]> {
  const mentions = mentionsIn(events);
  const idsOf = (type: Mention['type']) => mentions.flatMap((one) => (one.type === type ? [one.id] : []));
  const [applications, users, connections, directories] = await Promise.all([
    names.applications(idsOf('application')),
    names.users(idsOf('user')),
    names.connections(idsOf('connection')),
    names.directories(idsOf('directory')),
  ]);
  const markOf = ({ type, id, name }: Mention): Mark => {
    if (type === 'user') return users.has(id) || !name ? (userCell(id, users) as Mark) : { text: name };
    if (type === 'application')
      return applications.has(id) || !name || id === FIRST_PARTY_CLIENT_ID
        ? (applicationCell(id, applications) as Mark)
        : { text: name };
    if (type === 'directory')
      return { text: directories.get(id) ?? name ?? id, ...(directories.has(id) && { href: `/admin/scim/${id}` }) };
    return { text: connections.get(id) ?? id, ...(connections.has(id) && { href: `/admin/connections/${id}` }) };
  };
  return grouped(events).map((group) => {
    const [event] = group;
    const application = applicationOf(event);
    const sentence = sentenceOf(event, (mention) => new Slot(markOf(mention)));
    const name = application && markOf(application).text;
    return {
      at: event.at,
      ...(hasFailed(event) ? FAILED : KIND_ICONS[kindOfEvent(event.type) ?? 'server']),
      ...toneOf(event),
      sentence,
      place: dotted([name && !isNamedIn(sentence, name) ? name : undefined, placeOf(group)]),
      details: group.flatMap(detailsOf),
    };
  });
}

/** One item for the keys of a first start, and one for an event with its steps. Their events stay as they are, and the item has the details of each. */
function grouped(events: readonly AuditEntry[]): [AuditEntry, ...AuditEntry[]][] {
  const groups = new Map<AuditEntry, [AuditEntry, ...AuditEntry[]]>();
  const steps: [AuditEntry, AuditEntry][] = [];
  let last: [AuditEntry, ...AuditEntry[]] | undefined;
  for (const event of events) {
    const result = resultOf(event, events);
    if (result !== event) steps.push([event, result]);
    else if (last && isAlike(last[0], event)) last.push(event);
    else {
      last = [event];
      groups.set(event, last);
    }
  }
  for (const [step, result] of steps) groups.get(result)?.push(step);
  return [...groups.values()];
}

/** What a sign-in is made of. Without its end, as after a password alone, each is an item. */
const STEPS: readonly string[] = [
  'sign-in.password',
  'sign-in.passkey',
  'sign-in.upstream',
  'sign-in.second-factor',
  'one-time-code.sent',
] satisfies AuditEventType[];
const STEP_MS = 15 * 60_000;

const PASSWORDS: readonly AuditEventType[] = ['password.changed', 'password.set', 'password.reset'];

/** As after a first password. */
const endedNothing = ({ type, data }: AuditEntry) => type === 'sessions.ended-all' && data.count === 0;

/** What an email reports, or was asked for by. Another one is an item. */
const CAUSES: Readonly<Record<string, readonly AuditEventType[]>> = {
  'one-time-code': ['one-time-code.sent'],
  'new-sign-in': ['sign-in.new-browser'],
  invitation: ['account.invited'],
  deletion: ['account.deletion-requested'],
  'verify-email': ['email.verification-requested'],
  'confirm-new-email': ['email.change-requested'],
  'email-changed': ['email.changed'],
  'password-reset': ['password.reset-requested'],
  'password-changed': PASSWORDS,
  'factor-changed': eventTypesByKind.factor.filter((type) => !/^(browser|one-time-code)\./.test(type)),
} satisfies Partial<Record<MailKind, readonly AuditEventType[]>>;

/** The event that this one is displayed with, of those on the page: the nearest that it belongs to, or what that one belongs to. */
function resultOf(event: AuditEntry, events: readonly AuditEntry[]): AuditEntry {
  if (event.outcome !== 'success' || event.subjectId === null) return event;
  // A sign-in ends after its steps; the others come after what they belong to.
  const isStep = STEPS.includes(event.type);
  const [nearest] = events
    .filter((other) => other !== event && other.subjectId === event.subjectId && belongsTo(event, other))
    .map((other) => ({ other, ms: (event.at.getTime() - other.at.getTime()) * (isStep ? -1 : 1) }))
    .filter(({ ms }) => ms >= 0 && ms <= STEP_MS)
    .sort((one, other) => one.ms - other.ms);
  return nearest ? resultOf(nearest.other, events) : event;
}

/** A step belongs to its sign-in, an assertion to the sign-in just before, an email or the end of no session to its cause. */
function belongsTo(event: AuditEntry, { type, address, clientId }: AuditEntry): boolean {
  if (STEPS.includes(event.type)) return type === 'sign-in.completed' && address === event.address;
  if (event.type === 'saml.response') return type === 'sign-in.completed' && clientId === event.clientId;
  return causesOf(event).includes(type);
}

function causesOf(event: AuditEntry): readonly string[] {
  if (event.type === 'mail.sent') return CAUSES[String(event.data.message)] ?? [];
  return endedNothing(event) ? PASSWORDS : [];
}

const GROUPED_MS = 60_000;

const isAlike = (one: AuditEntry, other: AuditEntry) =>
  [one, other].every(({ type, outcome }) => type === 'key.created' && outcome === 'success') &&
  one.actorId === other.actorId &&
  one.actorApp === other.actorApp &&
  Math.abs(one.at.getTime() - other.at.getTime()) < GROUPED_MS;

const isNamedIn = (sentence: PageText, name: PageText) =>
  partsOf(sentence).some((part) => part instanceof Slot && String(part) === String(name));

/** An application without the optional logout URI is no failure. */
const hasFailed = ({ outcome, reason }: AuditEntry) => outcome !== 'success' && reason !== 'no_logout';

function toneOf(event: AuditEntry): { tone?: 'good' | 'bad' } {
  const { type } = event;
  if (hasFailed(event)) return { tone: 'bad' };
  return type === 'sign-in.completed' ? { tone: 'good' } : {};
}

function placeOf([event, ...others]: [AuditEntry, ...AuditEntry[]]): PageText {
  const { userAgent, address, data } = event;
  const { apiKey, repeated, recipient, country } = data as {
    apiKey?: { name?: unknown };
    repeated?: unknown;
    recipient?: unknown;
    country?: string;
  };
  const isRepeated = others.every(({ type }) => type === event.type);
  return dotted([
    others.length > 0 &&
      (isRepeated
        ? t('console.audit.times', { count: others.length + 1 })
        : t('console.audit.more', { count: others.length })),
    typeof repeated === 'number' && repeated > 1 ? t('console.audit.times', { count: repeated }) : undefined,
    typeof apiKey?.name === 'string' ? t('console.audit.api-key', { name: apiKey.name }) : undefined,
    typeof recipient === 'string' ? recipient : undefined,
    browserName(userAgent),
    address && addressIn(address, country),
  ]);
}

/** Every column of the entry that has a value. */
function detailsOf(event: AuditEntry): EventItem['details'] {
  const code = (text: string | number | null) =>
    text === null || text === '' ? null : { text: String(text), code: true };
  const rows = [
    { label: t('console.audit.event'), value: code(event.type) },
    { label: t('console.audit.outcome'), value: code(event.outcome) },
    { label: t('console.audit.reason'), value: code(event.reason) },
    { label: t('console.audit.time'), value: code(event.at.toISOString()) },
    { label: t('console.audit.actor'), value: code(event.actorId ?? event.actorApp) },
    { label: t('console.audit.user'), value: code(event.subjectId) },
    { label: t('console.audit.application'), value: code(event.clientId) },
    { label: t('console.audit.ip-address'), value: code(event.address) },
    { label: t('console.audit.browser'), value: code(event.userAgent) },
    { label: t('console.audit.request-id'), value: code(event.requestId) },
    { label: t('console.audit.event-id'), value: code(event.id) },
    {
      label: t('console.audit.data'),
      value: Object.keys(event.data).length > 0 ? code(JSON.stringify(event.data, undefined, 2)) : null,
    },
  ];
  return rows.filter(({ value }) => value !== null);
}

// One page of audit events in the console, from the newest or from the oldest on.

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
export function orderLink({ sort }: { sort: Given['sort'] }, { path, filters }: EventListAddress): Action {
  const [label, other] =
    sort === '-at' ? ([t('console.audit.oldest'), 'at'] as const) : ([t('console.audit.newest'), ''] as const);
  return { label, icon: 'arrow-up-down', href: listPath(path, { ...filters, sort: other }) };
}

/** Keeps the order while filters change. */
export const orderField = ({ sort }: { sort: Given['sort'] }): Field => ({
  name: 'sort',
  label: '',
  type: 'hidden',
  value: sort === '-at' ? '' : sort,
});

/** @param list its path, and the filters that the links to other pages keep */
export async function readEventPage(
  { admin: { audit }, frame, names }: ConsoleServices,
  ctx: Context,
  filter: AuditFilter,
  { before, after, trail, sort }: Given,
  list: EventListAddress,
): Promise<{ items: EventItem[]; pages: PageLinks; isFirst: boolean }> {
  const isOldestFirst = sort === 'at';
  const cursor = isOldestFirst ? after : before;
  const at = isOldestFirst ? { isOldestFirst, ...(after && { after }) } : before && { before };
  const entries = await audit.list({ ...filter, ...at, limit: PAGE + 1 }, frame.actor(ctx));
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

/** What happened to what a page is about, with the link that turns the order round. @param path of the list */
export async function activityBlock(
  services: ConsoleServices,
  ctx: Context,
  path: string,
  filter: AuditFilter,
  {
    caption,
    ...texts
  }: { title: PageText; caption(values: { order: 'oldest' | 'newest' }): PageText; empty: PageText | Empty },
): Promise<Block> {
  const given = parseQuery(ctx, z.object(eventPageQuery));
  const list = { path, filters: {} };
  const { items, pages } = await readEventPage(services, ctx, filter, given, list);
  return {
    kind: 'events',
    ...texts,
    caption: caption({ order: given.sort === 'at' ? 'oldest' : 'newest' }),
    actions: items.length > 1 ? [orderLink(given, list)] : [],
    items,
    pages,
  };
}
