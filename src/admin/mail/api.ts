// /api/admin/mail: the outbox, without the texts of the mails.
import { z } from 'zod';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, done, iso, paged, pageOf, time } from '../api/parts.ts';
import type { MailAdmin } from './actions.ts';

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

/** /mail and /mail/{id}/retry. */
export function mailEndpoints(outbox: MailAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/mail',
      operationId: 'listMail',
      tag: 'Email',
      needs: ['gatehouse.mail:read'],
      summary: 'Waiting, sent and failed email, newest first; never its text',
      query: z.object({ ...paged, state: z.enum(['waiting', 'sent', 'failed']).optional() }),
      response: pageOf(mail),
      async handle({ query: { limit, cursor, state } }) {
        const { items, next } = await outbox.list({ limit, after: cursor, state });
        const mails = items.map(({ lastError, createdAt, sentAt, ...one }) => ({
          ...one,
          last_error: lastError,
          created_at: iso(createdAt),
          sent_at: iso(sentAt),
        }));
        return { body: { items: mails, next: next ?? null } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/mail/{id}/retry',
      operationId: 'retryMail',
      tag: 'Email',
      needs: ['gatehouse.mail:write'],
      summary: 'Sends waiting or failed email again',
      params: byId,
      response: done,
      status: 202,
      async handle({ params, by }) {
        await outbox.retry(params.id, by);
        return { body: { done: true as const } };
      },
    }),
  ];
}
