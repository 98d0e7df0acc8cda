// /admin/audit: the activity log, filtered, and as a file.

import Router from '@koa/router';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { conflict } from '../../base/http/errors.ts';
import { parse, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { randomId } from '../../base/platform/random.ts';
import { rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import { type AuditFilter, directoryActor } from '../../core/audit/audit.ts';
import { auditEventTypes, type EventKind, eventTypesByKind } from '../../core/audit/events.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import { sendStream } from '../api/router.ts';
import { type ConsolePage, type Empty, type Field, hiddenField, type Search, selectField } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { type NamedField, typedApplicationValue } from '../console/names.ts';
import { addPage, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { sameNameText, type TypedUser, typedUserValue } from '../suggestions/typed-user.ts';
import { eventPageQuery, orderField, orderLink, readEventPage } from './console-rows.ts';

const HERE = '/admin/audit';
const READ = 'gatehouse.audit:read' as const;
const MINUTE_MS = 60_000;
const SAVED = `${HERE}/filters`;
const text = z.string().trim().max(1024).default('');
// PostgreSQL has no year 0.
const isMoment = (text: string) =>
  !text.startsWith('0000') &&
  z.iso.date().safeParse(text.slice(0, 10)).success &&
  !Number.isNaN(Date.parse(`${text}Z`));
/** A day, or a day and a time, in the time zone of the filter. */
const moment = z
  .union([z.literal(''), z.iso.date(), z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/)])
  .refine((text) => text === '' || isMoment(text), rule('since-year-one'))
  .default('');
const zone = z
  .string()
  .max(64)
  .refine((text) => text === '' || isZone(text))
  .default('');
const kinds = Object.keys(eventTypesByKind) as EventKind[];
const RANGES = ['hour', 'today', 'yesterday', 'week'] as const;
const filters = {
  kind: z.enum(['', ...kinds]).default(''),
  type: z.enum(['', ...auditEventTypes]).default(''),
  outcome: z.enum(['', 'success', 'failure']).default(''),
  user: text,
  client: text,
  address: text,
  request: text,
  directory: text,
  from: moment,
  until: moment,
  /** Days of the time zone, in place of `from` and `until`. */
  range: z.enum(['', ...RANGES]).default(''),
  zone,
};
/** `pick`: the button of a range, which replaces the range and the times of the form. */
const query = z.object({ ...filters, pick: z.enum(['', 'any', ...RANGES]).default(''), ...eventPageQuery });
const savedFilter = z.object({ name: z.string().trim().min(1).max(60), query: z.string().max(5000) });
type Filters = z.output<z.ZodObject<typeof filters>>;

/** The page /admin/audit and the download /admin/audit/export. */
export function auditRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const savedFilters = createSavedFilters(services);
  const { audit } = services.admin;
  const router = new Router<State, Extras>({ prefix: HERE });

  addPage(router, frame, '/', { needs: [within(READ)], page });

  async function page({ ctx, by }: Visit<undefined>): Promise<ConsolePage> {
    const { before, after, trail, sort, pick, ...sent } = parseQuery(ctx, query);
    const given = pick ? picked(sent, pick) : withoutRangeOfTimes(sent);
    const ownZone = zoneOf(frame.account(ctx));
    const { zoned, found, application, wanted } = await lookUp(ctx, given);
    const at = { before, after, trail, sort };
    const { items, pages, isFirst } = await readEventPage(services, ctx, wanted, at, { path: HERE, filters: given });
    const isFiltered = isFilter(given);
    const here = listPath(HERE, given);
    const saved = await savedFilters.list(by.actorId ?? '');
    const current = saved.find((one) => addressOf(one.query) === here);
    return {
      title: t('console.audit.title'),
      lead: t('console.audit.lead'),
      actions: present([
        isFiltered && { label: t('console.list.remove-filters'), href: HERE },
        ...(['csv', 'jsonl'] as const).map((format) => ({
          label: format === 'csv' ? t('console.audit.export-csv') : t('console.audit.export-json-lines'),
          icon: 'download',
          href: listPath(`${HERE}/export`, { ...given, format }),
        })),
      ]),
      blocks: [
        {
          kind: 'events',
          title: t('console.audit.events'),
          actions: present([
            isFiltered && !current && { label: t('console.audit.save-title'), href: listPath(SAVED, given) },
            current && {
              label: t('console.audit.remove-saved', { name: current.name }),
              post: `${SAVED}/${current.id}/remove`,
            },
            items.length > 1 && orderLink({ sort }, { path: HERE, filters: given }),
          ]),
          caption: sort === 'at' ? t('console.audit.oldest-caption') : t('console.audit.newest-caption'),
          filter: {
            ...filterForm(zoned, orderField({ sort }), {
              user: typedUserValue(given.user, found),
              client: await typedApplicationValue(services.names, given.client, application),
              directory: (await services.names.directories([given.directory])).get(given.directory) ?? given.directory,
              zones: [...new Set(['UTC', ownZone, given.zone || 'UTC'])],
            }),
            segments: [
              ...(['any', ...RANGES] as const).map((range) => ({
                label: t(`console.audit.range.${range}`),
                button: { name: 'pick', value: range },
                isCurrent: !current && !given.from && !given.until && range === (given.range || 'any'),
              })),
              ...saved.map((one) => ({
                label: one.name,
                href: addressOf(one.query),
                isCurrent: one.id === current?.id,
              })),
            ],
          },
          items,
          empty:
            (found && sameNameText(given.user, found)) ??
            (isFiltered || !isFirst ? t('console.audit.no-match') : NOTHING_YET),
          pages,
        },
      ],
    };
  }

  addPage(router, frame, '/filters', {
    needs: [within(READ)],
    form: savedFilter,
    page: ({ ctx }, given) => savePage(given?.query ?? ctx.querystring),
    async submit({ by }, { name, query: wanted }) {
      const query = parse(z.object(filters), Object.fromEntries(new URLSearchParams(wanted)));
      const [, stored = ''] = listPath(HERE, query).split('?');
      await savedFilters.save(by.actorId ?? '', { name, query: stored });
      return { to: addressOf(stored), notice: t('console.audit.was-saved', { name }) };
    },
  });

  addPage(router, frame, '/filters/:id/remove', {
    needs: [within(READ)],
    async submit({ ctx, by }) {
      await savedFilters.remove(by.actorId ?? '', ctx.params.id ?? '');
      return { to: HERE, notice: t('console.audit.was-removed') };
    },
  });

  router.get('/export', ...frame.page(within(READ)), async (ctx: Context) => {
    const { format, ...given } = parseQuery(ctx, z.object({ ...filters, format: z.enum(['csv', 'jsonl']) }));
    const { wanted } = await lookUp(ctx, given);
    sendStream(ctx, await audit.export(format, wanted, frame.actor(ctx)));
  });

  /** The user and the application that the filters name, and what to look for. */
  async function lookUp(ctx: Context, given: Filters) {
    const zoned = { ...given, zone: given.zone || zoneOf(frame.account(ctx)) };
    const found = given.user ? await services.findUser(given.user, frame.actor(ctx)) : undefined;
    const application = given.client ? await applicationOf(services, ctx, given.client) : undefined;
    return { zoned, found, application, wanted: filterOf(zoned, { found, application, now: services.now() }) };
  }

  return router;
}

/** Times that are typed replace the range. */
const withoutRangeOfTimes = (sent: Filters): Filters => (sent.from || sent.until ? { ...sent, range: '' } : sent);

/** A range that is picked replaces the times; the time zone belongs to a range or times. */
const picked = (sent: Filters, pick: 'any' | (typeof RANGES)[number]): Filters => ({
  ...sent,
  from: '',
  until: '',
  ...(pick === 'any' ? { range: '', zone: '' } : { range: pick }),
});

/** A time zone alone filters nothing. */
const isFilter = ({ zone: _zone, ...given }: Filters): boolean => Object.values(given).some(Boolean);

const addressOf = (query: string): string => (query ? `${HERE}?${query}` : HERE);

/** @param query of the address of the list that the filter is of */
const savePage = (query: string): ConsolePage => ({
  title: t('console.audit.save-title'),
  lead: t('console.audit.save-lead'),
  back: { href: addressOf(query), label: t('console.audit.title') },
  blocks: [
    {
      kind: 'form',
      action: SAVED,
      fields: [hiddenField('query', query), { name: 'name', label: t('console.audit.save-name'), required: true }],
      button: t('console.audit.save'),
      cancel: addressOf(query),
    },
  ],
});

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The administrator's own, which the profile names; UTC without one. */
const zoneOf = ({ zoneinfo }: Account): string => (zoneinfo && isZone(zoneinfo) ? zoneinfo : 'UTC');

/** The moment of a time on the clocks of this zone; of one that they skip in spring, the moment an hour later. */
export function momentIn(timeZone: string, local: string): Date {
  const wall = Date.parse(`${local}Z`);
  const two = '2-digit';
  const day = { year: 'numeric', month: two, day: two } as const;
  const time = { hour: two, minute: two, second: two } as const;
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, hourCycle: 'h23', ...day, ...time });
  const offsetAt = (at: number) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - at;
  };
  // The clocks may change between this moment and the wanted one, whose offset counts.
  const near = wall - offsetAt(wall);
  return new Date(wall - offsetAt(near));
}

const NOTHING_YET: Empty = {
  icon: 'scroll-text',
  title: t('console.audit.none'),
  text: t('console.audit.none-text'),
};

const FIRST_MINUTE = '00:00';
const LAST_MINUTE = '23:59';
/** A day without a time is a whole one. */
const withTime = (moment: string, time: string): string => (moment.length === 10 ? `${moment}T${time}` : moment);

function filterForm(
  { kind, type, outcome, address, request, directory, from, until, range, zone }: Filters,
  order: Field,
  named: { user: NamedField; client: NamedField; directory: string; zones: readonly string[] },
): Search {
  const onlyIfSet = present<Field>([
    type !== '' &&
      selectField('type', t('console.audit.event'), type, { '': t('console.audit.every-event'), [type]: type }),
    directory !== '' &&
      selectField('directory', t('console.audit.directory'), directory, {
        '': t('console.audit.every-actor'),
        [directory]: named.directory,
      }),
    request !== '' && { name: 'request', label: t('console.audit.request-id'), value: request },
  ]);
  const seldom: Field[] = [
    { name: 'from', label: t('console.audit.from'), type: 'datetime-local', value: withTime(from, FIRST_MINUTE) },
    { name: 'until', label: t('console.audit.until'), type: 'datetime-local', value: withTime(until, LAST_MINUTE) },
    {
      name: 'zone',
      label: t('console.audit.zone'),
      type: 'select',
      value: zone,
      options: named.zones.map((value) => ({ value, label: value })),
    },
    { name: 'address', label: t('console.audit.ip-address'), value: address, isCode: true },
  ];
  return {
    action: HERE,
    button: t('console.audit.filter'),
    fields: [
      { name: 'user', label: t('console.audit.user'), ...named.user, suggest: 'users' },
      { name: 'client', label: t('console.audit.application'), ...named.client, suggest: 'applications' },
      selectField('kind', t('console.audit.kind'), kind, {
        '': t('console.audit.everything'),
        ...Object.fromEntries(kinds.map((one) => [one, t(`console.events.kind.${one}`)])),
      }),
      selectField('outcome', t('console.audit.outcome'), outcome, {
        '': t('console.audit.any'),
        success: t('console.audit.succeeded'),
        failure: t('console.audit.failed'),
      }),
      ...seldom.map((field): Field => ({ ...field, isSeldom: true, isHalf: true })),
      hiddenField('range', range),
      order,
      ...onlyIfSet,
    ],
  };
}

/** What to look for. A user is named by id, username, email address or full name, an application by identifier or name; `until` is a whole minute. */
function filterOf(
  { kind, type, outcome, user, client, address, request, directory, range, ...times }: Filters,
  { found, application, now }: { found: TypedUser | undefined; application: NamedApplication | undefined; now: Date },
): AuditFilter {
  const isOfDays = range !== '' && range !== 'hour';
  const { from, until, zone } = isOfDays ? { ...times, ...daysOf(range, times.zone, now) } : times;
  return {
    ...(kind && { types: [...eventTypesByKind[kind]] }),
    ...(type && { types: [type] }),
    ...(outcome && { outcome }),
    ...(user && { partyId: found?.account?.id ?? user }),
    ...(client && { clientId: application?.clientId ?? client }),
    ...(request && { requestId: request }),
    ...(directory && { actorApp: directoryActor(directory) }),
    ...(address && { address: storedAddress(address) }),
    ...(range === 'hour' && { from: new Date(now.getTime() - 60 * MINUTE_MS) }),
    ...(from && { from: momentIn(zone, withTime(from, FIRST_MINUTE)) }),
    ...(until && { until: new Date(momentIn(zone, withTime(until, LAST_MINUTE)).getTime() + MINUTE_MS) }),
  };
}

const DAY_MS = 24 * 60 * MINUTE_MS;

/** The first and the last day of a range, in this time zone. */
function daysOf(
  range: Exclude<(typeof RANGES)[number], 'hour'>,
  timeZone: string,
  now: Date,
): { from: string; until: string } {
  const today = now.toLocaleDateString('en-CA', { timeZone });
  const daysAgo = (days: number) => new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10);
  const yesterday = daysAgo(1);
  if (range === 'yesterday') return { from: yesterday, until: yesterday };
  return { from: range === 'week' ? daysAgo(6) : today, until: '' };
}

/** As requests have it: the short form of IPv6. */
const storedAddress = (text: string): string => (ipaddr.isValid(text) ? ipaddr.process(text).toString() : text);

type NamedApplication = { clientId: string; name: string };

async function applicationOf(
  { admin: { applications }, frame }: ConsoleServices,
  ctx: Context,
  text: string,
): Promise<NamedApplication | undefined> {
  const found = (await applications.list({ search: text, limit: 5 }, frame.actor(ctx))).applications;
  const isIt = ({ clientId, name }: NamedApplication) => clientId === text || name.toLowerCase() === text.toLowerCase();
  return found.find(isIt) ?? (found.length === 1 ? found[0] : undefined);
}

/** The filters that each administrator gave a name. */
function createSavedFilters({ db, now }: ConsoleServices) {
  return {
    /** By name. */
    list: (userId: string) =>
      db.savedFilter.findMany({
        where: { userId },
        orderBy: { name: 'asc' },
        select: { id: true, name: true, query: true },
      }),

    /** Replaces one of the same name. Throws 409 for one too many. @param query of the address */
    async save(userId: string, { name, query }: { name: string; query: string }): Promise<void> {
      const stored = await db.savedFilter.findMany({ where: { userId }, select: { name: true } });
      if (stored.length >= limits.savedFilters && !stored.some((one) => one.name === name))
        throw conflict('conflict', { message: t('console.audit.too-many', { count: limits.savedFilters }) });
      await db.savedFilter.upsert({
        where: { userId_name: { userId, name } },
        create: { id: randomId(), userId, name, query, createdAt: now() },
        update: { query },
      });
    },

    /** Also of one that is gone. */
    async remove(userId: string, id: string): Promise<void> {
      await db.savedFilter.deleteMany({ where: { id, userId } });
    },
  };
}
