// /api/admin/mail: the outbox, without what the mails say.
import { z } from 'zod';
import type { MailAdmin } from '../mail.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { byId, done, iso, paged, pageOf, time } from './parts.ts';

const mail = z.object({
  id: z.string(),
  recipient: z.string(),
  subject: z.string(),
  state: z.enum(['waiting', 'sent', 'failed']),
  tries: z.int(),
  last_error: z.string().nullable(),
  created_at: time,
  sent_at: time.nullable(),
});

export function mailEndpoints(outbox: MailAdmin): Endpoint[] {
  return [
    endpoint({
      ...{ method: 'get', path: '/mail', operationId: 'listMail', tag: 'Mail', needs: ['gatehouse.mail:read'] },
      summary: 'Mail that waits, was sent or could not be, newest first; never its text',
      query: z.object({ ...paged, state: z.enum(['waiting', 'sent', 'failed']).optional() }),
      response: pageOf(mail),
      async handle({ query: { limit, cursor, state } }) {
        const { items, next } = await outbox.list({ limit, after: cursor, state });
        const shownItems = items.map(({ lastError, createdAt, sentAt, ...one }) => ({
          ...{ ...one, last_error: lastError, created_at: iso(createdAt), sent_at: iso(sentAt) },
        }));
        return { body: { items: shownItems, next: next ?? null } };
      },
    }),
    endpoint({
      ...{
        method: 'post',
        path: '/mail/{id}/retry',
        operationId: 'retryMail',
        tag: 'Mail',
        needs: ['gatehouse.mail:write'],
      },
      summary: 'Tries again to send what was given up, or waits',
      ...{ params: byId, response: done, status: 202 },
      async handle({ params, by }) {
        await outbox.retry(params.id, by);
        return { body: { done: true as const } };
      },
    }),
  ];
}
