// /admin/mail: what waits, was sent or failed, and a retry of what failed.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import type { Block, Search, Tone } from '../console/blocks.ts';
import { type Frame, listPath } from '../console/frame.ts';
import type { MailAdmin, MailState, MailView } from './actions.ts';

const READ = 'gatehouse.mail:read' as const;
const WRITE = 'gatehouse.mail:write' as const;
const query = z.object({
  state: z.enum(['', 'waiting', 'sent', 'failed']).default(''),
  after: z.string().max(200).optional(),
});
const TONES: Record<MailState, Tone> = { sent: 'good', waiting: 'plain', failed: 'bad' };

export interface MailPagesDependencies {
  frame: Frame;
  mail: MailAdmin;
}

/** All pages below /admin/mail. */
export function mailRoutes({ frame, mail }: MailPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/mail' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { state, after } = parseQuery(ctx, query);
    const page = await mail.list({ limit: 50, after, ...(state && { state }) });
    const failed = page.items.filter((one) => one.state === 'failed');
    frame.show(ctx, {
      title: 'Mail',
      lead: 'What was sent, what waits, and what failed.',
      blocks: [
        {
          kind: 'table',
          filter: stateFilter(state),
          caption: 'Mail, the newest first. Its text is not displayed: it holds links and codes.',
          columns: ['To', 'Subject', 'State', 'Created', 'Tries', 'Last error'],
          rows: page.items.map((one) => [
            ...[one.recipient, one.subject, { text: one.state, tone: TONES[one.state] }],
            ...[one.createdAt, one.tries, one.lastError],
          ]),
          empty: 'There is none.',
          next: page.next && listPath('/admin/mail', { state, after: page.next }),
        },
        ...(frame.may(ctx, WRITE) && failed.length > 0 ? [retryButtons(failed)] : []),
      ],
    });
  });

  router.post('/:id/retry', ...frame.change(WRITE), async (ctx) => {
    await mail.retry(ctx.params.id ?? '', frame.actor(ctx));
    frame.redirect(ctx, '/admin/mail', 'It is sent again.');
  });

  return router;
}

function stateFilter(state: string): Search {
  const options = ['', 'waiting', 'sent', 'failed'].map((value) => ({ value, label: value || 'all' }));
  const field = { name: 'state', label: 'State', type: 'select' as const, value: state, options };
  return { action: '/admin/mail', button: 'Show', fields: [field] };
}

function retryButtons(failed: readonly MailView[]): Block {
  const items = failed.map(({ id, recipient, subject }) => ({
    label: recipient,
    of: subject,
    post: `/admin/mail/${id}/retry`,
  }));
  return { kind: 'actions', title: 'Send again', items };
}
