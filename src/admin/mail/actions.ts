// The outbox: recipients, subjects and delivery; never the text, which holds links and codes. And the test email.

import { conflict, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { countUnsentMail, mailOf } from '../../core/mail/message-store.ts';
import { type MailKind, recipientOf } from '../../core/mail/messages.ts';
import { createTestMail } from '../../core/mail/test-mail.ts';
import type { SendOutcome } from '../../core/mail/transport.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AdminServices } from '../admin-services.ts';

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
}

export type MailAdmin = ReturnType<typeof createMailAdmin>;

/** Waiting mail in which the last error is looked for: what was tried is tried again later than what is new. */
const RETRIED = 50;

/** Lists mail by cursor, and sends failed mail again. `retry` throws not_found. */
export function createMailAdmin(services: AdminServices) {
  const { db, outbox, audit, wakeMailDelivery } = services;
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
      wakeMailDelivery();
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
  const { db, audit, brand, brandImages, mailLimits, texts } = services;
  const testMail = createTestMail(services, { texts, brand: brand.current, readPicture: brandImages.read });
  return {
    server: testMail.server,
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

    /** To the administrator's own address. Throws conflict without one, and too_many_requests. */
    async sendTest(account: Account, by: Actor): Promise<SendOutcome> {
      const to = recipientOf(account);
      if (!to) throw conflict('conflict', { message: t('console.mail.fault.no-address') });
      const verdict = await mailLimits.to(to.email, 'test');
      if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
      const result = await testMail.send(to);
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
      return result;
    },
  };
}
