// /api/admin/mail: the outbox, without the texts of the mails.
import { z } from 'zod';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, done, iso, paged, pageOf, time } from '../api/parts.ts';
import type { MailAdmin } from './actions.ts';

const mail = z.object({
  id: z.string(),
  kind: z.string().describe('Such as invitation or password-reset'),
  user_id: z.string().nullable().describe('The account that it is for'),
  recipient: z.string(),
  subject: z.string(),
  state: z.enum(['waiting', 'sent', 'failed']),
  tries: z.int(),
  last_error: z.string().nullable(),
  created_at: time,
  sent_at: time.nullable(),
  written_to_file: z.boolean().describe('No mail server is set: the email is a file, and nobody received it'),
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
      query: z.object({
        ...paged,
        state: z.enum(['waiting', 'sent', 'failed']).optional(),
        user_id: z.string().max(100).optional(),
      }),
      response: pageOf(mail),
      async handle({ query: { limit, cursor, state, user_id: userId } }) {
        const { items, next } = await outbox.list({ limit, after: cursor, state, userId });
        const mails = items.map(({ lastError, createdAt, sentAt, userId, ...one }) => ({
          ...one,
          user_id: userId,
          last_error: lastError,
          created_at: iso(createdAt),
          sent_at: iso(sentAt),
          written_to_file: one.state === 'sent' && outbox.server.host === undefined,
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
      summary: 'Queues waiting or failed email again',
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
