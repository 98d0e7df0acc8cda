// /admin/audit: the activity log, filtered, and as a file.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { AuditFilter } from '../../core/audit/audit.ts';
import { auditEventTypes, type EventKind, eventTypesByKind } from '../../core/audit/events.ts';
import { eventKinds } from '../../core/audit/sentence.ts';
import { within } from '../../people/rbac/rights.ts';
import { sendStream } from '../api/router.ts';
import type { ConsolePage, Empty, Field, Search } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { type NamedField, typedApplicationValue } from '../console/names.ts';
import { addPage, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { sameNameText, type TypedUser, typedUserValue } from '../suggestions/typed-user.ts';
import { eventPageQuery, orderField, orderLink, readEventPage } from './console-rows.ts';

const HERE = '/admin/audit';
const READ = 'gatehouse.audit:read' as const;
const DAY_MS = 86_400_000;
const text = z.string().trim().max(1024).default('');
const date = z.union([z.literal(''), z.iso.date()]).default('');
const kinds = Object.keys(eventKinds) as EventKind[];
const filters = {
  kind: z.enum(['', ...kinds]).default(''),
  type: z.enum(['', ...auditEventTypes]).default(''),
  outcome: z.enum(['', 'success', 'failure']).default(''),
  user: text,
  client: text,
  request: text,
  from: date,
  until: date,
};
const query = z.object({ ...filters, ...eventPageQuery });
type Filters = z.output<z.ZodObject<typeof filters>>;

/** The page /admin/audit and the download /admin/audit/export. */
export function auditRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const { audit } = services.admin;
  const router = new Router<State, Extras>({ prefix: HERE });

  addPage(router, frame, '/', { needs: [within(READ)], page });

  async function page({ ctx, by }: Visit<undefined>): Promise<ConsolePage> {
    const { before, after, trail, sort, ...given } = parseQuery(ctx, query);
    const found = given.user ? await services.findUser(given.user, by) : undefined;
    const application = given.client ? await applicationOf(services, ctx, given.client) : undefined;
    const wanted = filterOf(given, found, application);
    const at = { before, after, trail, sort };
    const { items, pages, isFirst } = await readEventPage(services, ctx, wanted, at, { path: HERE, filters: given });
    const isFiltered = Object.values(given).some(Boolean);
    return {
      title: t('console.audit.title'),
      lead: t('console.audit.lead'),
      actions: [
        ...(isFiltered ? [{ label: t('console.list.remove-filters'), href: HERE }] : []),
        ...(['csv', 'jsonl'] as const).map((format) => ({
          label: format === 'csv' ? t('console.audit.export-csv') : t('console.audit.export-json-lines'),
          icon: 'download',
          href: listPath(`${HERE}/export`, { ...given, format }),
        })),
      ],
      blocks: [
        {
          kind: 'events',
          title: t('console.audit.events'),
          actions: items.length > 1 ? [orderLink({ sort }, { path: HERE, filters: given })] : [],
          caption: sort === 'at' ? t('console.audit.oldest-caption') : t('console.audit.newest-caption'),
          filter: filterForm(given, orderField({ sort }), {
            user: typedUserValue(given.user, found),
            client: await typedApplicationValue(services.names, given.client, application),
          }),
          items,
          empty:
            (found && sameNameText(given.user, found)) ??
            (isFiltered || !isFirst ? t('console.audit.no-match') : NOTHING_YET),
          pages,
        },
      ],
    };
  }

  router.get('/export', ...frame.page(within(READ)), async (ctx: Context) => {
    const { format, ...given } = parseQuery(ctx, z.object({ ...filters, format: z.enum(['csv', 'jsonl']) }));
    const found = given.user ? await services.findUser(given.user, frame.actor(ctx)) : undefined;
    const application = given.client ? await applicationOf(services, ctx, given.client) : undefined;
    const filter = filterOf(given, found, application);
    sendStream(ctx, await audit.export(format, filter, frame.actor(ctx)));
  });

  return router;
}

const NOTHING_YET: Empty = {
  icon: 'scroll-text',
  title: t('console.audit.none'),
  text: t('console.audit.none-text'),
};

function filterForm(
  { kind, type, outcome, request, from, until }: Filters,
  order: Field,
  named: { user: NamedField; client: NamedField },
): Search {
  const rare: Field[] = [
    ...(type
      ? [
          {
            name: 'type',
            label: t('console.audit.event'),
            type: 'select' as const,
            value: type,
            options: [
              { value: '', label: t('console.audit.every-event') },
              { value: type, label: type },
            ],
          },
        ]
      : []),
    ...(request ? [{ name: 'request', label: t('console.audit.request-id'), value: request }] : []),
  ];
  return {
    action: HERE,
    button: t('console.audit.filter'),
    fields: [
      { name: 'user', label: t('console.audit.user'), ...named.user, suggest: 'users' },
      { name: 'client', label: t('console.audit.application'), ...named.client, suggest: 'applications' },
      {
        name: 'kind',
        label: t('console.audit.kind'),
        type: 'select',
        value: kind,
        options: [
          { value: '', label: t('console.audit.everything') },
          ...kinds.map((value) => ({ value, label: eventKinds[value] })),
        ],
      },
      {
        name: 'outcome',
        label: t('console.audit.outcome'),
        type: 'select',
        value: outcome,
        options: [
          { value: '', label: t('console.audit.any') },
          { value: 'success', label: t('console.audit.succeeded') },
          { value: 'failure', label: t('console.audit.failed') },
        ],
      },
      { name: 'from', label: t('console.audit.from'), type: 'date', value: from },
      { name: 'until', label: t('console.audit.through'), type: 'date', value: until },
      order,
      ...rare,
    ],
  };
}

/** What to look for. A user is named by id, username, email address or full name, an application by identifier or name. Days are those of UTC. */
function filterOf(
  { kind, type, outcome, user, client, request, from, until }: Filters,
  found: TypedUser | undefined,
  application: NamedApplication | undefined,
): AuditFilter {
  return {
    ...(kind && { types: [...eventTypesByKind[kind]] }),
    ...(type && { types: [type] }),
    ...(outcome && { outcome }),
    ...(user && { partyId: found?.account?.id ?? user }),
    ...(client && { clientId: application?.clientId ?? client }),
    ...(request && { requestId: request }),
    ...(from && { from: new Date(from) }),
    ...(until && { until: new Date(new Date(until).getTime() + DAY_MS) }),
  };
}

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
