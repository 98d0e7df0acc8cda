// /admin/audit: the audit log, filtered, and as a file.
import { Readable } from 'node:stream';
import Router from '@koa/router';
import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Audit, AuditFilter } from '../../audit/audit.ts';
import { type AuditEventType, auditEventTypes } from '../../audit/events.ts';
import { csv, jsonLines } from '../../audit/export.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import type { Authority } from '../../rbac/authority.ts';
import { within } from '../../rbac/rights.ts';
import type { Search } from '../console/blocks.ts';
import { type Frame, listPath } from '../console/frame.ts';
import type { Names } from '../console/names.ts';
import { visibleTo } from './api.ts';
import { eventRows } from './console-rows.ts';

export interface AuditPagesDependencies {
  frame: Frame;
  names: Names;
  audit: Audit;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  authority: Pick<Authority, 'extent'>;
}

const READ = 'gatehouse.audit:read' as const;
const PAGE = 50;
const text = z.string().trim().max(1024).default('');
const filters = {
  type: z.enum(['', ...auditEventTypes]).default(''),
  outcome: z.enum(['', 'success', 'failure']).default(''),
  user: text,
  client: text,
  request: text,
  from: z.union([z.literal(''), z.iso.date()]).default(''),
};
const query = z.object({ ...filters, before: z.coerce.number().int().positive().optional() });
type Filters = Omit<z.output<typeof query>, 'before'>;

/** The page /admin/audit and the download /admin/audit/export. */
export function auditRoutes({
  frame,
  names,
  audit,
  accounts,
  authority,
}: AuditPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/audit' });

  router.get('/', ...frame.page(within(READ)), async (ctx) => {
    const { before, ...given } = parseQuery(ctx, query);
    const entries = await audit.list({
      ...(await filterOf(accounts, given)),
      ...(await visibleTo(authority, frame.actor(ctx))),
      ...(before && { before }),
      limit: PAGE + 1,
    });
    const page = entries.slice(0, PAGE);
    const last = page.at(-1);
    frame.show(ctx, {
      title: 'Audit',
      lead: 'What happened, who did it and when.',
      actions: (['csv', 'jsonl'] as const).map((format) => ({
        label: format === 'csv' ? 'As CSV' : 'As JSON Lines',
        icon: 'download',
        href: listPath('/admin/audit/export', { ...given, format }),
      })),
      blocks: [
        {
          kind: 'table',
          filter: filterForm(given),
          caption: 'Events, the newest first',
          ...(await eventRows(page, names)),
          empty: 'There is no such event.',
          next:
            entries.length > PAGE && last ? listPath('/admin/audit', { ...given, before: String(last.id) }) : undefined,
        },
      ],
    });
  });

  router.get('/export', ...frame.page(within(READ)), async (ctx: Context) => {
    const { format, ...given } = parseQuery(ctx, z.object({ ...filters, format: z.enum(['csv', 'jsonl']) }));
    const filter = await filterOf(accounts, given);
    await audit.record({ ...frame.actor(ctx), type: 'audit.exported', outcome: 'success', data: { format, filter } });
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Content-Disposition', `attachment; filename="audit.${format}"`);
    ctx.type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/jsonl; charset=utf-8';
    const visible = { ...filter, ...(await visibleTo(authority, frame.actor(ctx))) };
    ctx.body = Readable.from(format === 'csv' ? csv(audit, visible) : jsonLines(audit, visible));
  });

  return router;
}

function filterForm({ type, outcome, user, client, request, from }: Filters): Search {
  return {
    action: '/admin/audit',
    fields: [
      {
        name: 'type',
        label: 'What',
        type: 'select',
        value: type,
        options: [{ value: '', label: 'Everything' }, ...auditEventTypes.map((value) => ({ value, label: value }))],
      },
      {
        name: 'outcome',
        label: 'Outcome',
        type: 'select',
        value: outcome,
        options: ['', 'success', 'failure'].map((value) => ({ value, label: value || 'any' })),
      },
      { name: 'user', label: 'About the user', value: user },
      { name: 'client', label: 'Client or entity ID', value: client },
      { name: 'request', label: 'Request number', value: request },
      { name: 'from', label: 'Since (YYYY-MM-DD)', value: from },
    ],
  };
}

/** What to look for; a user is named by id, user name or e-mail address. */
async function filterOf(
  accounts: AuditPagesDependencies['accounts'],
  { type, outcome, user, client, request, from }: Filters,
): Promise<AuditFilter> {
  const subject = user === '' ? undefined : ((await accounts.find(user)) ?? (await accounts.findByLogin(user)));
  return {
    ...(type && { types: [type as AuditEventType] }),
    ...(outcome && { outcome }),
    ...(user && { subjectId: subject?.id ?? user }),
    ...(client && { clientId: client }),
    ...(request && { requestId: request }),
    ...(from && { from: new Date(from) }),
  };
}
