// /api/admin/mail: the outbox, without the texts of the mails.

import { z } from 'zod';
import { conflict, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { addressOf, type SmtpServer, senderText } from '../../core/mail/mail-server.ts';
import { countUnsentMail, mailOf } from '../../core/mail/message-store.ts';
import { type MailKind, recipientOf } from '../../core/mail/messages.ts';
import { publicDomainOf, type SenderRecord, senderRecords } from '../../core/mail/sender-records.ts';
import { createTestMail } from '../../core/mail/test-mail.ts';
import type { MailAnswers, SendOutcome } from '../../core/mail/transport.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, done, iso, paged, pageOf, time } from '../api/parts.ts';

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
  written_to_file: z.boolean().describe('No mail server was set: the email is a file, and nobody received it'),
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
        const mails = items.map(({ lastError, createdAt, sentAt, userId, isFile, ...one }) => ({
          ...one,
          user_id: userId,
          last_error: lastError,
          created_at: iso(createdAt),
          sent_at: iso(sentAt),
          written_to_file: isFile,
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

// The outbox: recipients, subjects and delivery; never the text, which holds links and codes. And the test email.

export type MailState = 'waiting' | 'sent' | 'failed';

export interface MailView {
  id: string;
  /** Of the message. */
  kind: string;
  /** The account that it is for. */
  userId: string | null;
  recipient: string;
  subject: string;
  state: MailState;
  tries: number;
  lastError: string | null;
  createdAt: Date;
  sentAt: Date | null;
  /** No mail server was set: it was written to a file, and nobody received it. */
  isFile: boolean;
}

export type MailAdmin = ReturnType<typeof createMailAdmin>;

/** Waiting mail in which the last error is looked for: what was tried is tried again later than what is new. */
const RETRIED = 50;

/** Lists mail by cursor, and sends failed mail again. `retry` throws not_found. */
export function createMailAdmin(services: AdminServices) {
  const { db, outbox, audit } = services;
  return {
    ...deliveryActions(services),

    async list({
      limit,
      after,
      state,
      userId,
      isOldestFirst = false,
    }: {
      limit: number;
      after?: string | undefined;
      state?: MailState | undefined;
      userId?: string | undefined;
      /** Newest first by default. */
      isOldestFirst?: boolean;
    }): Promise<{ items: MailView[]; next?: string }> {
      const [, time, id] = /^(\d{1,14})\.([\w-]{1,64})$/.exec(after ?? '') ?? [];
      const at = time === undefined ? undefined : new Date(Number(time));
      const cursor =
        !at || !id
          ? {}
          : isOldestFirst
            ? { createdAt: { gte: at }, OR: [{ createdAt: { gt: at } }, { id: { gt: id } }] }
            : { createdAt: { lte: at }, OR: [{ createdAt: { lt: at } }, { id: { lt: id } }] };
      const order = isOldestFirst ? 'asc' : 'desc';
      const rows = await db.mailMessage.findMany({
        where: { AND: [mailOf[state ?? 'any'], userId === undefined ? {} : { userId }, cursor] },
        orderBy: [{ createdAt: order }, { id: order }],
        take: limit + 1,
        omit: { bodySealed: true },
      });
      const items = rows.slice(0, limit).map(viewOf);
      const last = items.at(-1);
      return rows.length > limit && last ? { items, next: `${last.createdAt.getTime()}.${last.id}` } : { items };
    },

    /** The newest email of a kind to a user. */
    async lastTo(userId: string, kind: MailKind): Promise<MailView | undefined> {
      const where = { userId, kind };
      const row = await db.mailMessage.findFirst({ where, orderBy: { createdAt: 'desc' }, omit: { bodySealed: true } });
      return row ? viewOf(row) : undefined;
    },

    async retry(id: string, by: Actor): Promise<void> {
      await transaction(db, async (tx) => {
        if (!(await outbox.retry(id, tx))) throw notFound({ message: t('console.mail.fault.no-mail') });
        await audit.record({ ...by, type: 'mail.retried', outcome: 'success', data: { mail: id } }, tx);
      });
    },
  };
}

type Row = Omit<MailView, 'state'> & { failedAt: Date | null; nextTryAt: Date };

const viewOf = ({ failedAt, nextTryAt: _next, ...row }: Row): MailView => ({
  ...row,
  state: row.sentAt ? 'sent' : failedAt ? 'failed' : 'waiting',
});

/** The state of the delivery, and a test of it. */
function deliveryActions(services: AdminServices) {
  const { db, audit, brand, brandImages, config, mailLimits, mailServer, resolveTxt, texts } = services;
  const testMail = createTestMail(services, { texts, brand: brand.current, readPicture: brandImages.read });
  const sender = () => mailServer.sender(brand.current()?.name);
  return {
    /** The mail server and the sender, or the folder of the outbox. */
    server() {
      const server = mailServer.current();
      return { host: server && addressOf(server), sender: senderText(sender()), folder: config.outboxDir };
    },
    templates: testMail,

    /** How many mails wait and failed, and the last error. */
    async state(): Promise<{ waiting: number; failed: number; lastError: string | null }> {
      const select = { lastError: true, createdAt: true } as const;
      const [counts, waitingOnes, failedOnes] = await Promise.all([
        countUnsentMail(db),
        db.mailMessage.findMany({ where: mailOf.waiting, orderBy: { nextTryAt: 'desc' }, take: RETRIED, select }),
        db.mailMessage.findMany({ where: mailOf.failed, orderBy: { failedAt: 'desc' }, take: 1, select }),
      ]);
      const [last] = [...waitingOnes, ...failedOnes]
        .filter(({ lastError }) => lastError !== null)
        .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
      return { ...counts, lastError: last?.lastError ?? null };
    },

    /** To the administrator's own address, with what the DNS says about the sender. Throws conflict without an address, and too_many_requests. */
    async sendTest(account: Account, by: Actor, selector?: string): Promise<MailTest> {
      const to = recipientOf(account);
      if (!to) throw conflict('conflict', { message: t('console.mail.fault.no-address') });
      const decision = await mailLimits.to(to.email, 'test');
      if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds);
      const server = await mailServer.forMail();
      const domain = publicDomainOf(sender().address);
      const [{ result, answers }, records] = await Promise.all([
        testMail.send(to),
        server && domain ? senderRecords(resolveTxt, domain, { host: server.host, selector }) : [],
      ]);
      const isSent = result.outcome === 'sent';
      const data = { message: 'test', recipient: to.email };
      const about = isSent ? {} : { reason: result.reason };
      const type = isSent ? 'mail.sent' : 'mail.failed';
      await audit.record({
        ...by,
        type,
        outcome: isSent ? 'success' : 'failure',
        ...about,
        subjectId: account.id,
        data,
      });
      return { result, answers, tls: server?.tls, username: server?.username, domain, records };
    },
  };
}

export interface MailTest {
  result: SendOutcome;
  answers: MailAnswers;
  /** Of the mail server; undefined for a file. */
  tls: SmtpServer['tls'] | undefined;
  username: string | undefined;
  /** Of the sender, if it is public. */
  domain: string | undefined;
  records: SenderRecord[];
}
