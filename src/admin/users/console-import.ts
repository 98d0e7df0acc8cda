// /admin/import: users from a CSV file, some seconds of work for each request with the progress on the page, or a trial run that
// creates nothing; and /admin/import/export: all users as CSV.

import { Readable } from 'node:stream';
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import { acceptUploads, parseForm } from '../../base/http/input.ts';
import { inLanguage, type PageText, t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Block, type ConsolePage, type FormBlock, hiddenField } from '../console/blocks.ts';
import { addPage, type FormReader } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { createUserImport, IMPORT_COLUMNS, type ImportResult } from './import.ts';

const WRITE = 'gatehouse.users:write' as const;
const MAX_BYTES = 4 * 1024 * 1024;
/** For what the form carries beside the text: the faults so far. */
const MAX_STATE_BYTES = 1024 * 1024;
/** Rows of one request, which may also end before (`limits.bulk.importSeconds`). */
const BATCH = { import: 500, trial: 5000 };
/** Faults that are passed on from request to request. */
const MAX_FAULTS = 1000;
const count = z.coerce.number().int().min(0).max(1_000_000).default(0);
const fault = z.object({ line: count, username: z.string().max(100), error: z.string().max(400) });
type FaultyRow = z.output<typeof fault>;
const importForm = z.object({
  csv: z.string().max(MAX_BYTES).default(''),
  file: z.string().max(MAX_BYTES).default(''),
  trial: z.literal('on').optional(),
  done: count,
  failed: count,
  faults: z.string().max(MAX_BYTES).default('[]'),
});

/** The faults that the previous requests found; they are only displayed. */
function faultsIn(text: string): FaultyRow[] {
  try {
    return z.array(fault).max(MAX_FAULTS).parse(JSON.parse(text));
  } catch (cause) {
    throw badRequest('malformed_body', { cause });
  }
}

/** The page /admin/import and the download /admin/import/export. */
export function importRoutes(services: ConsoleServices): Router<State, Extras> {
  const { audit, frame } = services;
  const imports = createUserImport(services);
  const router = new Router<State, Extras>({ prefix: '/admin/import' });

  addPage(router, frame, '/', {
    needs: [within(WRITE)],
    accepts: acceptUploads(MAX_BYTES + MAX_STATE_BYTES),
    form: readImport,
    page(_, given) {
      if (!given) return importPage('', true);
      return given.done === 0 ? importPage(given.csv, given.isTrial) : resumePage(given);
    },
    async submit({ by, language }, given) {
      const { csv, isTrial, done } = given;
      const limit = isTrial ? BATCH.trial : BATCH.import;
      const result = await imports.run(csv, { isTrial, done, limit }, by);
      // Faults are passed on in a field of the form, as words.
      return { page: inLanguage(language, () => resultPage(result, given)) };
    },
  });

  router.get('/export', ...frame.page(within('gatehouse.users:read')), async (ctx) => {
    await audit.record({ ...frame.actor(ctx), type: 'users.exported', outcome: 'success' });
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Content-Disposition', 'attachment; filename="users.csv"');
    ctx.type = 'text/csv; charset=utf-8; header=present';
    ctx.body = Readable.from(imports.exportAll(frame.actor(ctx)));
  });

  return router;
}

/** An import between two requests. */
interface Progress {
  csv: string;
  isTrial: boolean;
  done: number;
  failed: number;
  faults: FaultyRow[];
}

const readImport: FormReader<Progress> = async (ctx) => {
  const { csv, file, trial, done, failed, faults } = await parseForm(ctx, importForm.loose());
  const text = file.trim() === '' ? csv : file;
  return { given: { csv: text, isTrial: trial === 'on', done, failed, faults: faultsIn(faults) } };
};

/** The form, with what was typed into it; the content of a file is its text. */
function importPage(csv: string, isTrial: boolean): ConsolePage {
  return {
    title: t('console.import.title'),
    lead: t('console.import.lead'),
    back: { href: '/admin/users', label: t('console.navigation.users') },
    actions: [{ label: t('console.import.export'), href: '/admin/import/export' }],
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

/** An import that stopped between two requests, for want of a fresh sign-in. */
function resumePage(state: Progress): ConsolePage {
  return {
    title: t('console.import.title'),
    back: { href: '/admin/import', label: t('console.import.back') },
    blocks: [
      { kind: 'text', text: t('console.import.rows-done', { count: state.done }) },
      { ...continueForm(state, t('console.import.continue-rest')), autoSubmit: false },
    ],
  };
}

/** What this request did, and the form of the next one. */
function resultPage({ rows, total }: ImportResult, { csv, isTrial, ...before }: Progress): ConsolePage {
  const wrong = rows.flatMap(({ line, username, error }) =>
    error === undefined ? [] : [{ line, username: username.slice(0, 100), error: String(error).slice(0, 400) }],
  );
  const done = before.done + rows.length;
  const failed = before.failed + wrong.length;
  const faults = [...before.faults, ...wrong].slice(0, MAX_FAULTS);
  const isFinished = done >= total;
  return {
    title: isTrial ? t('console.import.title.trial') : t('console.import.title'),
    back: { href: '/admin/import', label: t('console.import.back') },
    blocks: [
      {
        kind: 'text',
        tone: failed > 0 ? 'warning' : 'notice',
        text: t(`console.import.${isTrial ? 'result.trial' : 'result'}`, {
          done,
          total,
          created: done - failed,
          failed,
        }),
      },
      ...(isFinished ? [] : [{ kind: 'progress' as const, label: t('console.import.progress'), done, total }]),
      isFinished
        ? nextStep(isTrial, csv)
        : continueForm(
            { csv, isTrial, done, failed, faults },
            t('console.import.continue-others', { count: total - done }),
          ),
      {
        kind: 'table',
        title: isTrial ? t('console.import.faults.trial') : t('console.import.faults'),
        caption: t('console.import.faults.caption'),
        columns: [t('console.import.faults.line'), t('console.users.username'), t('console.import.faults.error')],
        rows: faults.map(({ line, username, error }) => [line, username, error]),
        empty: t('console.import.faults.none'),
      },
      ...(failed > faults.length
        ? [{ kind: 'text' as const, text: t('console.import.faults.more', { count: failed - faults.length }) }]
        : []),
    ],
  };
}

function continueForm({ csv, isTrial, done, failed, faults }: Progress, button: PageText): FormBlock {
  const state = [
    hiddenField('done', done),
    hiddenField('failed', failed),
    hiddenField('faults', JSON.stringify(faults)),
  ];
  return {
    kind: 'form',
    action: '/admin/import',
    fields: [hiddenField('csv', csv), ...(isTrial ? [hiddenField('trial', 'on')] : []), ...state],
    button,
    cancel: '/admin/import',
    isUpload: true,
    autoSubmit: true,
  };
}

function nextStep(isTrial: boolean, csv: string): Block {
  if (!isTrial)
    return { kind: 'actions', items: [{ label: t('console.bulk.back'), href: '/admin/users', look: 'primary' }] };
  const form = {
    action: '/admin/import',
    fields: [hiddenField('csv', csv)],
    button: t('console.import.title'),
    cancel: '/admin/import',
  };
  return { kind: 'form', ...form, isUpload: true };
}
