// /admin/import: users from a CSV file, some seconds of work for each request with the progress on the page, or a trial run that
// takes everything back; and /admin/import/export: all users as CSV.

import { Readable } from 'node:stream';
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import { acceptUploads, parseForm } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { inLanguage, type PageText, t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Block, type ConsolePage, type Field, type FormBlock, hiddenField } from '../console/blocks.ts';
import { addPage, type FormReader } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { messageField } from './console-actions.ts';
import {
  IMPORT_COLUMNS,
  type ImportOptions,
  type ImportOutcome,
  type ImportResult,
  importOptions,
  UnknownColumns,
} from './import.ts';

const WRITE = 'gatehouse.users:write' as const;
const MAX_BYTES = 4 * 1024 * 1024;
/** For what the form carries beside the text: what became of the rows so far. */
const MAX_STATE_BYTES = 1.5 * 1024 * 1024;
/** Rows of one request, which may also end before (`limits.bulk.importSeconds`). */
const BATCH = { import: 500, trial: 2000 };
/** Faults that are passed on from request to request, in characters of their JSON; and those that a page displays. */
const MAX_FAULTS = 1024 * 1024;
const SHOWN_FAULTS = 1000;
const HOME = '/admin/import';
/** Each outcome as one character, for the form. */
const CODES = { created: 'c', invited: 'i', changed: 'u', disabled: 'd', unchanged: 'n', failed: 'f' } as const;
const count = z.coerce.number().int().min(0).max(1_000_000).default(0);
const fault = z.object({ line: count, username: z.string().max(100), error: z.string().max(400) });
type FaultyRow = z.output<typeof fault>;
const ticked = z.literal('on').optional();
const importForm = z.object({
  csv: z.string().max(MAX_BYTES).default(''),
  file: z.string().max(MAX_BYTES).default(''),
  trial: ticked,
  existing: importOptions.shape.existing,
  ignore: ticked,
  invite: ticked,
  message: importOptions.shape.message,
  done: count,
  failed: count,
  codes: z
    .string()
    .max(limits.bulk.importRows)
    .regex(/^[cidunf]*$/)
    .default(''),
  faults: z.string().max(MAX_FAULTS).default('[]'),
});

/** The faults that the previous requests found; they are only displayed. */
function faultsIn(text: string): FaultyRow[] {
  try {
    return z.array(fault).parse(JSON.parse(text));
  } catch (cause) {
    throw badRequest('malformed_body', { cause });
  }
}

/** The page /admin/import, the sample and the report of it, and the download /admin/import/export. */
export function importRoutes(services: ConsoleServices): Router<State, Extras> {
  const { audit, frame } = services;
  const { imports } = services.admin;
  const router = new Router<State, Extras>({ prefix: HOME });
  const accepts = acceptUploads(MAX_BYTES + MAX_STATE_BYTES);

  addPage(router, frame, '/', {
    needs: [within(WRITE)],
    accepts,
    form: readImport,
    page(_, given) {
      if (!given) return importPage(BEGIN);
      return given.codes === '' ? importPage(given) : resumePage(given);
    },
    async submit({ by, language }, given) {
      const { csv, isTrial, codes, ...options } = given;
      const limit = isTrial ? BATCH.trial : BATCH.import;
      try {
        const result = await imports.run(csv, { ...options, isTrial, done: codes.length, limit }, by);
        // Faults are passed on in a field of the form, as words.
        return { page: inLanguage(language, () => resultPage(result, given)) };
      } catch (error) {
        if (error instanceof UnknownColumns) return { page: questionPage(error, given) };
        throw error;
      }
    },
  });

  addPage(router, frame, '/report', {
    needs: [within(WRITE)],
    accepts,
    form: readImport,
    async submit({ ctx }, { csv, codes, faults }) {
      const outcomes = Object.fromEntries(Object.entries(CODES).map(([name, code]) => [code, name as ImportOutcome]));
      const report = await imports.report(
        csv,
        [...codes].flatMap((code) => outcomes[code] ?? []),
        new Map(faults.map(({ line, error }) => [line, error])),
      );
      sendCsv(ctx, 'import-report.csv', report);
      return undefined;
    },
  });

  router.get('/sample.csv', ...frame.page(within(WRITE)), (ctx) => sendCsv(ctx, 'users-sample.csv', SAMPLE));

  router.get('/export', ...frame.page(within('gatehouse.users:read')), async (ctx) => {
    await audit.record({ ...frame.actor(ctx), type: 'users.exported', outcome: 'success' });
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Content-Disposition', 'attachment; filename="users.csv"');
    ctx.type = 'text/csv; charset=utf-8; header=present';
    ctx.body = Readable.from(imports.exportAll(frame.actor(ctx)));
  });

  return router;
}

const SAMPLE = [
  'username,email,given_name,family_name,roles,groups,active',
  'ann.example,ann@example.com,Ann,Example,,,yes',
  'bo.example,bo@example.com,Bo,Example,,,yes',
  '',
].join('\r\n');

function sendCsv(ctx: Context, name: string, body: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Content-Disposition', `attachment; filename="${name}"`);
  ctx.type = 'text/csv; charset=utf-8; header=present';
  ctx.body = body;
}

/** An import between two requests. */
interface Progress extends ImportOptions {
  csv: string;
  isTrial: boolean;
  /** What became of the rows so far. */
  codes: string;
  faults: FaultyRow[];
}

const BEGIN: Progress = { ...importOptions.parse({}), csv: '', isTrial: true, codes: '', faults: [] };

const readImport: FormReader<Progress> = async (ctx) => {
  const sent = await parseForm(ctx, importForm.loose());
  const { csv, file, trial, existing, ignore, invite, message, done, codes, faults } = sent;
  const text = file.trim() === '' ? csv : file;
  const options = {
    existing,
    unknown_columns: ignore ? 'ignore' : 'reject',
    invite: invite === 'on',
    message,
  } as const;
  if (done !== codes.length) throw badRequest('malformed_body');
  return { given: { ...options, csv: text, isTrial: trial === 'on', codes, faults: faultsIn(faults) } };
};

/** What a form carries that goes on with the import. */
function carried({ csv, isTrial, existing, unknown_columns, invite, message }: Progress): Field[] {
  return [
    hiddenField('csv', csv),
    ...(isTrial ? [hiddenField('trial', 'on')] : []),
    hiddenField('existing', existing),
    ...(unknown_columns === 'ignore' ? [hiddenField('ignore', 'on')] : []),
    ...(invite ? [hiddenField('invite', 'on')] : []),
    hiddenField('message', message),
  ];
}

/** The form, with what was typed into it; the content of a file is its text. */
function importPage({ csv, isTrial, existing, invite, message }: Progress): ConsolePage {
  return {
    title: t('console.import.title'),
    lead: t('console.import.lead'),
    back: { href: '/admin/users', label: t('console.navigation.users') },
    actions: [
      { label: t('console.import.sample'), href: `${HOME}/sample.csv` },
      { label: t('console.import.export'), href: `${HOME}/export` },
    ],
    blocks: [
      {
        kind: 'form',
        lead: t('console.import.columns', { columns: IMPORT_COLUMNS.join(', ') }),
        action: '/admin/import',
        fields: [
          {
            name: 'file',
            label: t('console.import.file'),
            type: 'file',
            accept: '.csv,text/csv',
            hint: t('console.import.file.hint'),
          },
          { name: 'csv', label: t('console.import.paste'), type: 'textarea', rows: 8, value: csv },
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
          { name: 'invite', label: t('console.import.invite'), type: 'checkbox', checked: invite },
          { ...messageField, value: message },
          {
            name: 'trial',
            label: t('console.import.trial'),
            type: 'checkbox',
            checked: isTrial,
          },
        ],
        button: t('console.import.title'),
        cancel: '/admin/users',
        isUpload: true,
      },
    ],
  };
}

/** The file has unknown columns: it is imported without them, or not at all. */
function questionPage({ columns }: UnknownColumns, given: Progress): ConsolePage {
  return {
    title: t('console.import.unknown'),
    back: { href: HOME, label: t('console.import.back') },
    blocks: [
      {
        kind: 'form',
        lead: t('console.import.unknown.lead', { columns: columns.join(', ') }),
        action: HOME,
        fields: carried({ ...given, unknown_columns: 'ignore' }),
        button: t('console.import.ignore'),
        cancel: HOME,
        isUpload: true,
      },
    ],
  };
}

/** An import that stopped between two requests, for want of a fresh sign-in. */
function resumePage(state: Progress): ConsolePage {
  return {
    title: t('console.import.title'),
    back: { href: HOME, label: t('console.import.back') },
    blocks: [
      { kind: 'text', text: t('console.import.rows-done', { count: state.codes.length }) },
      { ...continueForm(state, t('console.import.continue-rest')), autoSubmit: false },
    ],
  };
}

const countOf = (codes: string, ...outcomes: ImportOutcome[]): number =>
  [...codes].filter((code) => outcomes.some((outcome) => CODES[outcome] === code)).length;

/** What this request did, and the form of the next one. */
function resultPage({ rows, total }: ImportResult, before: Progress): ConsolePage {
  const { isTrial } = before;
  const wrong = rows.flatMap(({ line, username, error }) =>
    error === undefined ? [] : [{ line, username: username.slice(0, 100), error: String(error).slice(0, 400) }],
  );
  const codes = before.codes + rows.map(({ outcome }) => CODES[outcome]).join('');
  const faults = [...before.faults];
  let size = JSON.stringify(faults).length;
  for (const one of wrong) {
    size += JSON.stringify(one).length + 1;
    if (size > MAX_FAULTS) break;
    faults.push(one);
  }
  const [done, failed] = [codes.length, countOf(codes, 'failed')];
  const state = { ...before, codes, faults };
  const isFinished = done >= total;
  const shown = faults.slice(0, SHOWN_FAULTS);
  return {
    title: isTrial ? t('console.import.title.trial') : t('console.import.title'),
    back: { href: HOME, label: t('console.import.back') },
    blocks: [
      {
        kind: 'text',
        tone: failed > 0 ? 'warning' : 'notice',
        text: t(`console.import.${isTrial ? 'result.trial' : 'result'}`, {
          done,
          total,
          created: countOf(codes, 'created', 'invited'),
          changed: countOf(codes, 'changed', 'disabled'),
          unchanged: countOf(codes, 'unchanged'),
          failed,
        }),
      },
      ...(isFinished ? [] : [{ kind: 'progress' as const, label: t('console.import.progress'), done, total }]),
      isFinished ? nextStep(before) : continueForm(state, t('console.import.continue-others', { count: total - done })),
      ...(isFinished && total > 0 ? [reportForm(state)] : []),
      {
        kind: 'table',
        title: isTrial ? t('console.import.faults.trial') : t('console.import.faults'),
        caption: t('console.import.faults.caption'),
        columns: [t('console.import.faults.line'), t('console.users.username'), t('console.import.faults.error')],
        rows: shown.map(({ line, username, error }) => [line, username, error]),
        empty: t('console.import.faults.none'),
      },
      ...(failed > shown.length
        ? [{ kind: 'text' as const, text: t('console.import.faults.more', { count: failed - shown.length }) }]
        : []),
    ],
  };
}

/** What became of the rows so far. */
const progressOf = ({ codes, faults }: Progress): Field[] => [
  hiddenField('done', codes.length),
  hiddenField('failed', countOf(codes, 'failed')),
  hiddenField('codes', codes),
  hiddenField('faults', JSON.stringify(faults)),
];

function continueForm(state: Progress, button: PageText): FormBlock {
  return {
    kind: 'form',
    action: HOME,
    fields: [...carried(state), ...progressOf(state)],
    button,
    cancel: HOME,
    isUpload: true,
    autoSubmit: true,
  };
}

/** Downloads what became of each row. */
const reportForm = (state: Progress): FormBlock => ({
  kind: 'form',
  action: `${HOME}/report`,
  fields: [hiddenField('csv', state.csv), ...progressOf(state)],
  button: t('console.import.report'),
  look: 'secondary',
  isUpload: true,
});

function nextStep(state: Progress): Block {
  if (!state.isTrial)
    return { kind: 'actions', items: [{ label: t('console.bulk.back'), href: '/admin/users', look: 'primary' }] };
  const form = { action: HOME, fields: carried({ ...state, isTrial: false }), button: t('console.import.title') };
  return { kind: 'form', ...form, cancel: HOME, isUpload: true };
}
