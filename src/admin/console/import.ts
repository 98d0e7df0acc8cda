// /admin/import: people from a CSV file, tried first if wanted, a few hundred at a time with the progress on the page; and
// /admin/import/export, everybody as CSV.
import { Readable } from 'node:stream';
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { bodyLimit, parseForm } from '../../http/input.ts';
import { IMPORT_COLUMNS, type ImportResult, type UserImport } from '../import-users.ts';
import type { Block } from './blocks.ts';
import type { Frame, Problem } from './frame.ts';

const WRITE = 'gatehouse.users:write' as const;
const MAX_BYTES = 4 * 1024 * 1024;
/** Rows of one request: seconds at most, also with invitations. */
const BATCH = 200;
const count = z.coerce.number().int().min(0).max(1_000_000).default(0);
const importForm = z.object({
  csv: z.string().max(MAX_BYTES),
  trial: z.literal('on').optional(),
  done: count,
  failed: count,
});

export function importRoutes({ frame, imports }: { frame: Frame; imports: UserImport }): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/import' });

  router.get('/', ...frame.page(WRITE), (ctx) => show(ctx, '', true));

  router.post('/', bodyLimit(MAX_BYTES), ...frame.change(WRITE), async (ctx) => {
    const { csv, trial, done, failed } = await parseForm(ctx, importForm.loose());
    const isTrial = trial === 'on';
    await frame.attempt(
      ctx,
      async () => {
        const result = await imports.run(
          csv,
          { isTrial, limit: isTrial ? 5000 : BATCH, firstLine: done + 2 },
          frame.by(ctx),
        );
        showResult(ctx, result, { csv, isTrial, before: done, failedBefore: failed });
      },
      (problem) => show(ctx, csv, isTrial, problem),
    );
  });

  router.get('/export', ...frame.page('gatehouse.users:read'), (ctx) => {
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
          { name: 'csv', label: 'CSV', type: 'textarea', rows: 12, value: csv, required: true },
          { name: 'trial', label: 'Only try it: check each row and make nothing', type: 'checkbox', checked: isTrial },
        ],
        button: 'Go',
        cancel: '/admin/users',
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
    { rows, total, rest }: ImportResult,
    { csv, isTrial, before, failedBefore }: { csv: string; isTrial: boolean; before: number; failedBefore: number },
  ): void {
    const wrong = rows.filter(({ problem }) => problem !== undefined);
    const done = before + rows.length;
    const failed = failedBefore + wrong.length;
    const verb = isTrial ? 'would be made' : 'are made';
    const hidden = (name: string, value: string | number) => ({ name, label: '', type: 'hidden' as const, value });
    const next: Block[] = isTrial
      ? [
          {
            kind: 'form',
            action: '/admin/import',
            fields: [hidden('csv', csv)],
            button: 'Import now',
            cancel: '/admin/import',
          },
        ]
      : rest
        ? [
            {
              kind: 'form',
              action: '/admin/import',
              fields: [hidden('csv', rest), hidden('done', done), hidden('failed', failed)],
              button: `Go on with the other ${total - rows.length}`,
            },
          ]
        : [{ kind: 'actions', items: [{ label: 'To the users', href: '/admin/users', look: 'primary' }] }];
    frame.show(ctx, {
      title: isTrial ? 'Import users: tried' : 'Import users',
      back: { href: '/admin/import', label: 'Import' },
      blocks: [
        {
          kind: 'text',
          tone: failed > 0 ? 'warning' : 'notice',
          text: `${done} of ${before + total} rows: ${done - failed} ${verb}, ${failed} not.`,
        },
        ...next,
        {
          kind: 'table',
          title: 'Not made',
          caption: 'Rows with a fault',
          columns: ['Line', 'User name', 'Why'],
          rows: wrong.map(({ line, username, problem }) => [line, username, problem]),
          empty: 'Every row is fine.',
        },
      ],
    });
  }

  return router;
}
