// The audit log as an administrator may see it, filtered, in pages or as one stream; and /api/admin/audit.

import { z } from 'zod';
import { defined } from '../../base/platform/defined.ts';
import type { Actor, AuditEntry, AuditFilter } from '../../core/audit/audit.ts';
import { auditEventTypes } from '../../core/audit/events.ts';
import { csv, jsonLines, type NamedEntry } from '../../core/audit/export.ts';
import { isWithinExtent } from '../../people/accounts/members.ts';
import { CUT, loggedAttributes } from '../../people/accounts/simple-attributes.ts';
import { within } from '../../people/rbac/rights.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../protocols/oidc/in-process-clients.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint, type Streamed } from '../api/endpoint.ts';
import { givenTime, jsonOf, paged, pageOf, text, time } from '../api/parts.ts';
import { createNames } from '../console/names.ts';
import { createUserLookup } from '../users/lookup.ts';

const tag = 'Audit';
const READ = 'gatehouse.audit:read' as const;
const needs = [within(READ)];

// The ids of the table have 32 bits.
const MAX_ID = 2 ** 31 - 1;

const eventType = auditEventTypes.map((type) => type.replaceAll('.', '\\.')).join('|');
const types = z
  .string()
  .max(1000)
  .meta({ pattern: `^(${eventType})(,(${eventType}))*$` })
  .transform((list) => list.split(','))
  .pipe(z.array(z.enum(auditEventTypes)))
  .describe('One or more, with commas between them');
const filters = {
  type: types.optional(),
  outcome: z.enum(['success', 'failure']).optional(),
  actor: text.optional().describe('Id of the account that acted'),
  actor_app: z
    .string()
    .max(1024)
    .optional()
    .describe('client_id of the application that acted, or scim: and the id of the SCIM connection'),
  user: text.optional().describe('Id of the account that the event is about'),
  group: text.optional().describe('Id of the group that the event is about'),
  client: z.string().max(1024).optional().describe('client_id or entity ID of the application that the event is about'),
  address: text.optional(),
  request_id: text.optional(),
  from: givenTime.optional(),
  until: givenTime.optional().describe('Before this time'),
};
const entry = z
  .object({
    id: z.int(),
    at: time,
    type: z.string(),
    outcome: z.string(),
    reason: z.string().nullable(),
    actor: z.string().nullable(),
    actor_app: z.string().nullable(),
    user: z.string().nullable(),
    client: z.string().nullable(),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.string().nullable(),
    data: z.record(z.string(), z.json()),
  })
  .meta({ id: 'AuditEntry' });

export type AuditAdmin = ReturnType<typeof createAuditAdmin>;

/** What the actor may see: everything, or what is about the members of roles; of attributes, those that the actor sees in users. */
export function createAuditAdmin(services: AdminServices) {
  const { audit, authority, settings } = services;
  const { audienceOf } = createUserLookup(services);
  const names = createNames(services);

  async function named(entries: AuditEntry[]): Promise<NamedEntry[]> {
    const [users, applications] = await Promise.all([
      names.people(entries.flatMap(({ actorId, subjectId }) => [actorId, subjectId])),
      names.applications(entries.flatMap(({ actorApp, clientId }) => [actorApp, clientId])),
    ]);
    const nameOf = (clientId: string | null) =>
      clientId === FIRST_PARTY_CLIENT_ID ? 'Gatehouse' : (applications.get(clientId ?? '')?.name ?? null);
    return entries.map((entry) => ({
      ...entry,
      actorName: users.get(entry.actorId ?? '') ?? null,
      actorAppName: nameOf(entry.actorApp) ?? directoryIn(entry),
      subjectName: users.get(entry.subjectId ?? '') ?? null,
      clientName: nameOf(entry.clientId),
    }));
  }

  async function visibleTo(by: Actor): Promise<AuditFilter> {
    const extent = await authority.extent(by, READ);
    return extent === 'all' ? {} : { isVisible: (column) => isWithinExtent(column, extent) };
  }

  /** Leaves out of an entry the attributes that the actor may not see: an entry about an account has the values `before` and `after`. */
  async function withVisibleAttributes(by: Actor): Promise<(entry: AuditEntry) => AuditEntry> {
    const [schema, audience] = [settings.latest().user_attributes, await audienceOf(by)];
    const visibleIn = (values: unknown): unknown => {
      const { attributes } = (values ?? {}) as { attributes?: unknown };
      if (typeof attributes !== 'string') return values;
      const visible = loggedAttributes(audience, schema, attributes);
      return { ...(values as object), attributes: visible === CUT ? CUT : JSON.stringify(visible) };
    };
    return (entry) => {
      if (!entry.type.startsWith('account.')) return entry;
      const data = Object.entries(entry.data).map(([key, values]) => [key, visibleIn(values)]);
      return { ...entry, data: Object.fromEntries(data) };
    };
  }

  return {
    async list(filter: AuditFilter, by: Actor): Promise<AuditEntry[]> {
      const entries = await audit.list({ ...filter, ...(await visibleTo(by)) });
      return entries.map(await withVisibleAttributes(by));
    },

    /** A stream, newest first. It is audited itself. */
    async export(format: 'jsonl' | 'csv', filter: AuditFilter, by: Actor): Promise<Streamed> {
      await audit.record({ ...by, type: 'audit.exported', outcome: 'success', data: { format, filter } });
      const visible = { ...filter, ...(await visibleTo(by)) };
      const visibleEntry = await withVisibleAttributes(by);
      const rowsOf = (entries: AuditEntry[]) => named(entries.map(visibleEntry));
      return format === 'csv'
        ? {
            stream: csv(audit, visible, rowsOf),
            type: 'text/csv; charset=utf-8; header=present',
            fileName: 'audit.csv',
          }
        : {
            stream: jsonLines(audit, visible, rowsOf),
            type: 'application/jsonl; charset=utf-8',
            fileName: 'audit.jsonl',
          };
    },
  };
}

/** /audit and /audit/export. */
export function auditEndpoints(audit: AuditAdmin): Endpoint[] {
  return [
    endpoint('listAudit', 'GET /audit', {
      tag,
      needs,
      summary: 'The audit log, newest first',
      query: z.object({
        ...paged,
        cursor: z.coerce.number().int().min(1).max(MAX_ID).optional(),
        ...filters,
      }),
      response: pageOf(entry),
      async handle({ query: { limit, cursor, ...query }, by }) {
        const before = cursor === undefined ? {} : { before: cursor };
        const entries = await audit.list({ ...filterOf(query), ...before, limit: limit + 1 }, by);
        const items = entries.slice(0, limit).map(toJson);
        const last = items.at(-1);
        return { body: { items, next: entries.length > limit && last ? String(last.id) : null } };
      },
    }),
    endpoint('exportAudit', 'GET /audit/export', {
      tag,
      needs,
      summary: 'The audit log as one stream, newest first',
      description:
        'With the present names of users and applications beside their ids. Cells that could be read as formulas are prefixed with an apostrophe (CSV injection).',
      query: z.object({ format: z.enum(['jsonl', 'csv']).default('jsonl'), ...filters }),
      streams: ['application/jsonl', 'text/csv'],
      handle: ({ query: { format, ...query }, by }) => audit.export(format, filterOf(query), by),
    }),
  ];
}

const directoryIn = ({ data }: AuditEntry): string | null => (data as { scim?: { name: string } }).scim?.name ?? null;

function filterOf(query: z.output<z.ZodObject<typeof filters>>): AuditFilter {
  const { type, outcome, actor, actor_app, user, group, client, address, request_id, from, until } = query;
  return defined({
    types: type,
    outcome,
    actorId: actor,
    actorApp: actor_app,
    subjectId: user,
    groupId: group,
    clientId: client,
    address,
    requestId: request_id,
    from,
    until,
  });
}

const toJson = (one: AuditEntry) =>
  jsonOf(entry, one, {
    actor: one.actorId,
    user: one.subjectId,
    client: one.clientId,
    data: one.data as z.output<typeof entry>['data'],
  });
