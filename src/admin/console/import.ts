// /admin/import: people from a CSV file, tried first if wanted, a few hundred at a time with the progress on the page; and
// /admin/import/export, everybody as CSV.
import { Readable } from 'node:stream';
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../../audit/audit.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { badRequest } from '../../http/errors.ts';
import { acceptUploads, parseForm } from '../../http/input.ts';
import { IMPORT_COLUMNS, type ImportResult, type UserImport } from '../import-users.ts';
import type { Block } from './blocks.ts';
import type { Frame, Problem } from './frame.ts';

const WRITE = 'gatehouse.users:write' as const;
const MAX_BYTES = 4 * 1024 * 1024;
/** For what the form carries beside the text: the rows that were wrong so far. */
const MAX_BESIDE = 1024 * 1024;
/** Rows of one request: seconds at most, also with invitations. */
const BATCH = { made: 500, tried: 5000 };
/** Wrong rows that are remembered from request to request. */
const MAX_SHOWN = 1000;
const count = z.coerce.number().int().min(0).max(1_000_000).default(0);
const fault = z.object({ line: count, username: z.string().max(100), problem: z.string().max(400) });
type FaultyRow = z.output<typeof fault>;
const importForm = z.object({
  csv: z.string().max(MAX_BYTES).default(''),
  file: z.string().max(MAX_BYTES).default(''),
  trial: z.literal('on').optional(),
  done: count,
  failed: count,
  faults: z.string().max(MAX_BYTES).default('[]'),
});

/** What the requests before this one have found; it only ever comes back onto the page. */
function faultsIn(text: string): FaultyRow[] {
  try {
    return z.array(fault).max(MAX_SHOWN).parse(JSON.parse(text));
  } catch (cause) {
    throw badRequest('malformed_body', { cause });
  }
}

export interface ImportNeeds {
  frame: Frame;
  imports: UserImport;
  audit: Audit;
}

export function importRoutes({ frame, imports, audit }: ImportNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/import' });

  router.get('/', ...frame.page(WRITE), (ctx) => show(ctx, '', true));

  router.post('/', acceptUploads(MAX_BYTES + MAX_BESIDE), ...frame.change(WRITE), async (ctx) => {
    const form = await parseForm(ctx, importForm.loose());
    const { file, trial, done, failed } = form;
    const csv = file.trim() === '' ? form.csv : file;
    const isTrial = trial === 'on';
    const before = { done, failed, faults: faultsIn(form.faults) };
    await frame.attempt(
      ctx,
      async () => {
        const limit = isTrial ? BATCH.tried : BATCH.made;
        const result = await imports.run(csv, { isTrial, done, limit }, frame.by(ctx));
        showResult(ctx, result, { csv, isTrial, before });
      },
      (problem) => show(ctx, csv, isTrial, problem),
    );
  });

  router.get('/export', ...frame.page('gatehouse.users:read'), async (ctx) => {
    await audit.record({ ...frame.by(ctx), type: 'users.exported', outcome: 'success' });
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Content-Disposition', 'attachment; filename="users.csv"');
    ctx.type = 'text/csv; charset=utf-8; header=present';
    ctx.body = Readable.from(imports.exportAll());
  });

  function show(ctx: Context, csv: string, isTrial: boolean, problem?: Problem): void {
    const blocks: Block[] = [
      {
        kind: 'form',
        lead: `The first line names the columns: ${IMPORT_COLUMNS.join(', ')}. Only username is needed; several roles have semicolons between them. Whoever has neither a password hash nor an invitation sets a password by “Forgot password”.`,
        action: '/admin/import',
        fields: [
          { name: 'file', label: 'CSV file', type: 'file', accept: '.csv,text/csv', hint: 'In UTF-8, at most 4 MB.' },
          { name: 'csv', label: 'Or the text itself', type: 'textarea', rows: 8, value: csv },
          { name: 'trial', label: 'Only try it: check each row and make nothing', type: 'checkbox', checked: isTrial },
        ],
        ...{ button: 'Go', cancel: '/admin/users', isUpload: true },
      },
    ];
    const page = {
      title: 'Import users',
      back: { href: '/admin/users', label: 'Users' },
      actions: [{ label: 'Everybody as CSV', href: '/admin/import/export' }],
      ...problem,
      blocks,
    };
    frame.show(ctx, page, problem?.status);
  }

  function showResult(
    ctx: Context,
    { rows, total }: ImportResult,
    { csv, isTrial, before }: { csv: string; isTrial: boolean; before: Before },
  ): void {
    const wrong = rows.flatMap(({ line, username, problem }) =>
      problem === undefined ? [] : [{ line, username: username.slice(0, 100), problem: problem.slice(0, 400) }],
    );
    const done = before.done + rows.length;
    const failed = before.failed + wrong.length;
    const faults = [...before.faults, ...wrong].slice(0, MAX_SHOWN);
    const isOver = done >= total;
    frame.show(ctx, {
      title: isTrial ? 'Import users: tried' : 'Import users',
      back: { href: '/admin/import', label: 'Import' },
      blocks: [
        {
          kind: 'text',
          tone: failed > 0 ? 'warning' : 'notice',
          text: `${done} of ${total} rows: ${done - failed} ${isTrial ? 'would be made' : 'are made'}, ${failed} not.`,
        },
        ...(isOver ? [] : [{ kind: 'progress' as const, label: 'How far it is', done, total }]),
        isOver ? after(isTrial, csv) : goOn({ csv, isTrial, done, failed, faults, left: total - done }),
        {
          kind: 'table',
          title: isTrial ? 'Would not be made' : 'Not made',
          caption: 'Rows with a fault',
          columns: ['Line', 'User name', 'Why'],
          rows: faults.map(({ line, username, problem }) => [line, username, problem]),
          empty: 'Every row is fine.',
        },
        ...(failed > faults.length
          ? [{ kind: 'text' as const, text: `And ${failed - faults.length} more, which are not shown.` }]
          : []),
      ],
    });
  }

  return router;
}

interface Before {
  done: number;
  failed: number;
  faults: FaultyRow[];
}

const hidden = (name: string, value: string | number) => ({ name, label: '', type: 'hidden' as const, value });

function goOn({
  csv,
  isTrial,
  done,
  failed,
  faults,
  left,
}: Before & { csv: string; isTrial: boolean; left: number }): Block {
  const state = [hidden('done', done), hidden('failed', failed), hidden('faults', JSON.stringify(faults))];
  return {
    kind: 'form',
    action: '/admin/import',
    fields: [hidden('csv', csv), ...(isTrial ? [hidden('trial', 'on')] : []), ...state],
    button: `Go on with the other ${left}`,
    ...{ cancel: '/admin/import', isUpload: true, goesOn: true },
  };
}

function after(isTrial: boolean, csv: string): Block {
  if (!isTrial) return { kind: 'actions', items: [{ label: 'To the users', href: '/admin/users', look: 'primary' }] };
  const form = { action: '/admin/import', fields: [hidden('csv', csv)], button: 'Import now', cancel: '/admin/import' };
  return { kind: 'form', ...form, isUpload: true };
}
