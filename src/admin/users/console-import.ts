// /admin/import: users from a CSV file. The file is tried by a job, whose report the administrator reads before the job carries it out; each page
// of it reloads without a script. And /admin/import/export: all users as CSV.
import { Readable } from 'node:stream';
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { acceptUploads, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { allOf, type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Block, ConsolePage, Mark, Tone } from '../console/blocks.ts';
import { tableOf } from '../console/lists.ts';
import { newAdministratorsText } from '../console/new-administrators.ts';
import { addForm, addPage, type Params } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { messageField } from './console-actions.ts';
import {
  columnList,
  hasUsernames,
  IMPORT_COLUMNS,
  type ImportOutcome,
  type ImportRow,
  importOptions,
  reportHeader,
  reportOf,
} from './import.ts';
import type { StoredImport } from './import-job.ts';

const WRITE = 'gatehouse.users:write' as const;
/** Rows of each outcome that the page of an import displays; its report has all. */
const SHOWN = { disabled: 1000, failed: 1000, changed: 200, created: 200, invited: 200 } as const;
type Shown = Partial<Record<ImportOutcome, ImportRow[]>>;
const HOME = '/admin/import';
const REFRESH_SECONDS = 3;
const ticked = z.literal('on').optional();
const text = z.string().max(limits.import.bytes).default('');
const importForm = z.object({
  csv: text,
  file: text,
  existing: importOptions.shape.existing,
  invite: ticked,
  message: importOptions.shape.message,
});
type Given = z.output<typeof importForm>;

/** The page /admin/import, the sample, each import with its report, and the download /admin/import/export. */
export function importRoutes({ audit, frame, admin: { imports, userImport } }: ConsoleServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HOME });
  const needs = [within(WRITE)];

  addPage(router, frame, '/', {
    needs,
    accepts: acceptUploads(limits.import.bytes),
    form: importForm,
    page: async ({ by }, given) =>
      importPage(await imports.list(by), [...IMPORT_COLUMNS, ...userImport.ownColumns()], given),
    async submit({ by }, { csv, file, invite, existing, message }) {
      const given = { existing, message, invite: invite === 'on', unknown_columns: 'reject' } as const;
      const options = importOptions.parse(given);
      const read = await userImport.read(file.trim() === '' ? csv : file, 'ignore');
      return { to: pathOf(await imports.begin(read, { ...options, isTrial: true }, by)) };
    },
  });

  router.get('/sample.csv', ...frame.page(within(WRITE)), (ctx) => sendCsv(ctx, 'users-sample.csv', SAMPLE));

  router.get('/export', ...frame.page(within('gatehouse.users:read')), async (ctx) => {
    await audit.record({ ...frame.actor(ctx), type: 'users.exported', outcome: 'success' });
    sendCsv(ctx, 'users.csv', Readable.from(userImport.exportAll(frame.actor(ctx))));
  });

  addPage(router, frame, '/:id', {
    needs,
    load: (ctx, by) => imports.get(ctx.params.id ?? '', by),
    async page({ ctx, by, may, subject: found }) {
      // Without a script.
      if (isOpen(found)) ctx.set('Refresh', String(REFRESH_SECONDS));
      const rows = isOpen(found) ? {} : await imports.firstOf(found, by, SHOWN);
      const unknown = userImport.unknownOf(found.options.columns);
      return progressPage(found, { rows, unknown, mayAddFields: may('gatehouse.settings:write') });
    },
    async submit({ by, subject }) {
      const started = await imports.start(subject.id, by);
      return { to: pathOf(started), ...(!started.isTrial && { notice: t('console.import.started') }) };
    },
  });

  addPage(router, frame, '/:id/groups', {
    needs: [...needs, 'gatehouse.groups:write'],
    submit: async ({ ctx, by }) => ({ to: pathOf(await imports.tryWithGroups(ctx.params.id ?? '', by)) }),
  });

  interface Uninvited {
    found: StoredImport;
    count: number;
  }
  addForm<Uninvited, { message: string }>(router, frame, '/:id/invite', {
    needs,
    async load({ params: { id = '' } }, by) {
      return { found: await imports.get(id, by), count: await imports.countUninvited(id, by) };
    },
    elsewhere: ({ subject: { found, count } }) =>
      count > 0 ? undefined : { to: pathOf(found), notice: t('console.import.nobody-to-invite'), tone: 'warn' },
    title: ({ count }) => t('console.import.invite-title', { count }),
    purpose: t('console.import.invite-purpose'),
    back: ({ found }) => ({ href: pathOf(found), label: t('console.import.title') }),
    button: ({ count }) => t('console.import.invite-button', { count }),
    fields: ({ subject: { found } }) => [{ ...messageField, value: found.options.message }],
    body: z.object({ message: importOptions.shape.message }),
    submit: async ({ by, subject: { found, count } }, { message }) => ({
      to: pathOf(await imports.invite(found.id, { message, count }, by)),
    }),
  });

  addPage(router, frame, '/:id/cancel', {
    needs,
    async submit({ ctx, by }) {
      const canceled = await imports.cancel(ctx.params.id ?? '', by);
      if (canceled.isTrial) return { to: HOME, notice: t('console.import.trial.canceled') };
      const notice = isInviting(canceled) ? t('console.import.inviting.canceled') : t('console.import.canceled');
      return { to: pathOf(canceled), notice };
    },
  });

  router.get('/:id/report.csv', ...frame.page(within(WRITE)), async (ctx: Params) => {
    const [by, { id, options }] = [frame.actor(ctx), await imports.get(ctx.params.id ?? '', frame.actor(ctx))];
    const { result } = parseQuery(ctx, reportQuery);
    const file = { columns: options.columns, unknown: userImport.unknownOf(options.columns) };
    async function* report() {
      yield reportHeader(file);
      for await (const rows of imports.report(id, by))
        yield reportOf(result ? rows.filter(({ outcome }) => outcome === result) : rows, file);
    }
    sendCsv(ctx, 'import-report.csv', Readable.from(report()));
  });

  return router;
}

const reportQuery = z.object({ result: z.literal('failed').optional() });
const pathOf = ({ id }: { id: string }) => `${HOME}/${id}`;
const isOpen = ({ state }: StoredImport) => state === 'waiting' || state === 'running';
/** The rows are done, and invitations follow or were stopped. */
const isInviting = ({ state, isTrial, done, total, options, counts }: StoredImport) =>
  state !== 'done' && !isTrial && done === total && (options.invitations ?? counts.invited ?? 0) > 0;
/** The trial has ended, and the import waits for its start. */
const isTried = ({ state, done, total }: StoredImport) => state === 'prepared' && done === total;

const SAMPLE = [
  'username,email,given_name,family_name,roles,groups,active',
  'ann.example,ann@example.com,Ann,Example,,,yes',
  'bo.example,bo@example.com,Bo,Example,,,yes',
  '',
].join('\r\n');

function sendCsv(ctx: Context, name: string, body: string | Readable): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Disposition', `attachment; filename="${name}"`);
  ctx.type = 'text/csv; charset=utf-8; header=present';
  ctx.body = body;
}

/** Characters of a pasted file that the form has again. */
const MOST_SHOWN = 100_000;

/** The form, with what was typed into it, and the imports of a week. */
function importPage(own: readonly StoredImport[], columns: readonly string[], given?: Given): ConsolePage {
  const { existing, message, invite } = given ?? importForm.parse({});
  return {
    title: t('console.import.title'),
    lead: t('console.import.lead'),
    back: { href: '/admin/users', label: t('console.navigation.users') },
    actions: [
      { label: t('console.import.sample'), href: `${HOME}/sample.csv` },
      { label: t('console.import.export'), icon: 'download', href: `${HOME}/export` },
    ],
    blocks: present([
      {
        kind: 'form',
        lead: t('console.import.columns', { columns: columns.join(', ') }),
        action: HOME,
        fields: [
          {
            name: 'file',
            label: t('console.import.file'),
            type: 'file',
            accept: '.csv,text/csv',
            hint: t('console.import.file.hint', { megabytes: limits.import.bytes / 1024 / 1024 }),
          },
          {
            name: 'csv',
            label: t('console.import.paste'),
            type: 'textarea',
            rows: 8,
            value: given && given.csv.length <= MOST_SHOWN ? given.csv : '',
          },
          {
            name: 'existing',
            label: t('console.import.existing'),
            hint: t('console.import.existing.hint'),
            type: 'select',
            value: existing,
            options: [
              { value: 'reject', label: t('console.import.existing.reject') },
              { value: 'update', label: t('console.import.existing.update') },
            ],
          },
          { name: 'invite', label: t('console.import.invite'), type: 'checkbox', checked: invite === 'on' },
          { ...messageField, value: message },
        ],
        button: t('console.import.begin'),
        cancel: '/admin/users',
        isUpload: true,
      },
      own.length > 0 && ownImports(own),
    ]),
  };
}

function stateText(one: StoredImport): PageText {
  if (one.isTrial && isOpen(one)) return t('console.import.trial');
  if (isOpen(one) && isInviting(one)) return t('console.import.inviting.state');
  return isTried(one) ? t('console.import.trial.done') : t(`console.groups.change-state.${one.state}`);
}

const TONES: Partial<Record<StoredImport['state'], Tone>> = { failed: 'bad', canceled: 'bad', done: 'good' };
const stateMark = (one: StoredImport): Mark => ({ text: stateText(one), tone: TONES[one.state] ?? 'warn' });

const ownImports = (own: readonly StoredImport[]): Block => ({
  kind: 'table',
  title: t('console.import.own'),
  ...tableOf(own, [
    [t('console.import.rows'), (one) => ({ text: `${one.done} / ${one.total}`, href: pathOf(one) })],
    [t('console.shared.status'), stateMark],
    [{ label: t('console.import.begun'), isShort: true }, ({ createdAt }) => createdAt],
  ]),
});

interface Progress {
  rows: Shown;
  unknown: readonly string[];
  mayAddFields: boolean;
}

/** An import: the question about unknown columns, its progress, the report of its trial, or how it ended. */
function progressPage(found: StoredImport, { rows, ...columns }: Progress): ConsolePage {
  const { isTrial, state, done, total, error, options } = found;
  const isAsked = state === 'prepared' && !isTried(found);
  const hasReport = !isOpen(found) && done > 0;
  const report = { label: t('console.import.report'), icon: 'download', href: `${pathOf(found)}/report.csv` };
  const ofFailed = { ...report, label: t('console.import.report.failed'), href: `${report.href}?result=failed` };
  const hasFailed = hasReport && (found.counts.failed ?? 0) > 0;
  const lacksGroups = isTried(found) && options.missing_groups === 'reject' && options.missing.length > 0;
  // The file is deleted.
  const cancel = {
    label: isInviting(found) ? t('console.import.inviting.cancel') : t('console.import.cancel'),
    post: `${pathOf(found)}/cancel`,
  };
  const isDone = !isTrial && state === 'done';
  const lacksInvitations = isDone && (found.counts.created ?? 0) > 0;
  const next = present([
    isDone && { label: t('console.import.users'), href: '/admin/users' },
    lacksInvitations && { label: t('console.import.invite-them'), href: `${pathOf(found)}/invite` },
  ]);
  return {
    title: isTrial ? t('console.import.title.trial') : t('console.import.title'),
    ...(!isAsked && !isOpen(found) && { lead: resultText(found) }),
    back: { href: HOME, label: t('console.import.back') },
    tags: [stateMark(found)],
    actions: present([
      (isOpen(found) || state === 'prepared') && cancel,
      hasReport && report,
      hasFailed && ofFailed,
      ...next,
    ]),
    blocks: present([
      isAsked && questionForm(found, columns),
      isTrial &&
        options.shared.length > 0 && {
          kind: 'text',
          tone: 'warning',
          text: t('console.import.shared', { columns: options.shared.join(', ') }),
        },
      state === 'failed' && {
        kind: 'text',
        tone: 'warning',
        text: t('console.import.failed', { done, total, reason: t(`error.${error ?? 'internal'}`) }),
      },
      isOpen(found) && progressBlock(found),
      hasReport && countBlock(found),
      lacksGroups && groupsForm(found),
      isTried(found) && (found.counts.failed ?? 0) < total && startForm(found),
      ...(hasReport ? reportBlocks(found, rows) : []),
    ]),
  };
}

function resultText({ isTrial, done, total, counts }: StoredImport): PageText {
  const { created = 0, invited = 0, changed = 0, disabled = 0, unchanged = 0, failed = 0 } = counts;
  const values = { done, total, created: created + invited, changed: changed + disabled, unchanged, failed };
  return t(`console.import.${isTrial ? 'result.trial' : 'result'}`, values);
}

/** How many rows of each outcome there are. */
function countBlock({ isTrial, counts, changed: sent }: StoredImport): Block {
  const { created = 0, invited = 0, changed = 0, disabled = 0, unchanged = 0, failed = 0 } = counts;
  const shown = [
    ['created', created + invited],
    ['invited', isTrial ? invited : sent],
    ['changed', changed],
    ['disabled', disabled],
    ['unchanged', unchanged],
    ['failed', failed],
  ] as const;
  return {
    kind: 'stats',
    items: shown
      .filter(([name, count]) => count > 0 || name === 'created' || name === 'failed')
      .map(([name, value]) => ({
        label: t(`console.import.count.${name}`),
        value,
        ...(name === 'failed' && value > 0 && { tone: 'bad' as const }),
      })),
  };
}

/** The progress of the rows, or of the invitations after them. */
function progressBlock(found: StoredImport): Block {
  const { done, total, changed, counts, options } = found;
  if (!isInviting(found))
    return { kind: 'progress', label: resultText(found), hint: t('console.import.refresh'), done, total };
  const progress = { done: changed, total: Math.max(options.invitations ?? 0, counts.invited ?? 0) };
  const hint = sentences([t('console.import.refresh'), t('console.import.inviting.cancel-hint')]);
  return { kind: 'progress', label: t('console.import.inviting', progress), hint, ...progress };
}

/** The file has unknown columns: it is tried without them, or not at all. */
function questionForm(found: StoredImport, { unknown, mayAddFields }: Omit<Progress, 'rows'>): Block {
  const form = { kind: 'form', action: pathOf(found), fields: [] } as const;
  const count = unknown.length;
  // They are own fields by now.
  if (count === 0) return { ...form, lead: t('console.import.unknown.none'), button: t('console.import.begin') };
  const values = { columns: columnList(unknown), count };
  return {
    ...form,
    title: t('console.import.unknown', { count }),
    lead: sentences([
      t('console.import.unknown.lead', values),
      mayAddFields && t('console.import.unknown.add', { count }),
    ]),
    button: t('console.import.ignore', { count }),
    ...(mayAddFields && {
      cancel: '/admin/settings/attributes',
      cancelLabel: t('console.import.unknown.add-action', values),
    }),
  };
}

/** Rows name groups that do not exist: it is tried again with them. */
function groupsForm(found: StoredImport): Block {
  const { missing } = found.options;
  const count = missing.length;
  return {
    kind: 'form',
    title: t('console.import.missing-groups', { count }),
    lead: t('console.import.missing-groups.lead', { groups: allOf(missing), count }),
    action: `${pathOf(found)}/groups`,
    fields: [],
    button: t('console.import.missing-groups.create', { count }),
    look: 'secondary',
  };
}

function startForm(found: StoredImport): Block {
  const { administrators, missing, missing_groups: missingGroups } = found.options;
  const { usernames, roles, count } = administrators;
  const groups = { groups: allOf(missing), count: missing.length };
  const created = missingGroups === 'create' && missing.length > 0 ? [t('console.import.creates-groups', groups)] : [];
  const end = [...created, t('console.import.kept')];
  const people = usernames.map((username) => ({ username }));
  const rows = { count: found.total - (found.counts.failed ?? 0) };
  const form = { kind: 'form', action: pathOf(found), fields: [] } as const;
  if (count === 0) return { ...form, lead: sentences(end), button: t('console.import.start', rows) };
  return {
    ...form,
    lead: sentences([newAdministratorsText({ roles, people, count }), ...end]),
    button: t('console.import.start-giving', rows),
    look: 'danger',
  };
}

/** Who is disabled and which rows failed, in sight; the others are closed. */
function reportBlocks({ isTrial, counts, options }: StoredImport, rows: Shown): Block[] {
  const login = hasUsernames(options.columns) ? t('console.users.username') : t('console.shared.email');
  const moreThan = (shown: readonly ImportRow[], outcome: ImportOutcome): Text | false => {
    const count = (counts[outcome] ?? 0) - shown.length;
    return count > 0 && t('console.import.faults.more', { count });
  };
  const inSight = (outcome: 'disabled' | 'failed', title: PageText): Block[] => {
    const shown = rows[outcome] ?? [];
    if (shown.length === 0) return [];
    const more = moreThan(shown, outcome);
    const table = tableOf(shown, [
      [login, ({ username }) => username],
      [t('console.import.faults.line'), ({ line }) => line],
      outcome === 'failed' && [t('console.import.faults.error'), ({ error }) => error ?? ''],
    ]);
    return present<Block>([{ kind: 'table', title, ...table }, more && { kind: 'text', text: more }]);
  };
  const closed = (outcome: 'changed' | 'created' | 'invited'): Block | undefined => {
    const shown = rows[outcome] ?? [];
    if (shown.length === 0) return undefined;
    const more = moreThan(shown, outcome);
    const list = shown.map(({ line, username }) => ({
      label: t('console.import.faults.line-number', { line }),
      value: username,
    }));
    const title = t(`console.import.count.${outcome}`);
    return { kind: 'facts', title, rows: present([...list, more && { label: '', value: more }]), isClosed: true };
  };
  return present([
    ...inSight('disabled', t('console.import.count.disabled')),
    ...inSight('failed', isTrial ? t('console.import.faults.trial') : t('console.import.faults')),
    ...(['changed', 'created', 'invited'] as const).map(closed),
  ]);
}
