// The outbox as administrators see it: to whom, about what, whether it went; never the text, which holds links and codes.
import type { Audit, By } from '../audit/audit.ts';
import { notFound } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, transaction } from '../platform/db.ts';

export type MailState = 'waiting' | 'sent' | 'failed';

export interface MailView {
  id: string;
  recipient: string;
  subject: string;
  state: MailState;
  tries: number;
  lastError: string | null;
  createdAt: Date;
  sentAt: Date | null;
}

export interface MailAdmin {
  list(query: {
    limit: number;
    after?: string | undefined;
    state?: MailState | undefined;
  }): Promise<{ items: MailView[]; next?: string }>;
  retry(id: string, by: By): Promise<void>;
}

export interface MailAdminNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  /** Wakes the delivery. */
  queued(): void;
}

const WHERE = {
  waiting: { sentAt: null, failedAt: null },
  sent: { sentAt: { not: null } },
  failed: { failedAt: { not: null } },
} as const;
// A draft is a wish of somebody whose account is looked up when it is sent: no mail yet, and none of the admin's business.
const LETTER = { recipient: { not: '' } };

export function createMailAdmin({ db, now, audit, queued }: MailAdminNeeds): MailAdmin {
  return {
    async list({ limit, after, state }) {
      const [, time, id] = /^(\d{1,14})\.([\w-]{1,64})$/.exec(after ?? '') ?? [];
      const at = time === undefined ? undefined : new Date(Number(time));
      const cursor = at && id ? { createdAt: { lte: at }, OR: [{ createdAt: { lt: at } }, { id: { lt: id } }] } : {};
      const rows = await db.mailMessage.findMany({
        where: { AND: [LETTER, state ? WHERE[state] : {}, cursor] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: limit + 1,
        omit: { bodySealed: true },
      });
      const items = rows.slice(0, limit).map(({ failedAt, nextTryAt: _next, ...row }) => ({
        ...row,
        state: row.sentAt ? ('sent' as const) : failedAt ? ('failed' as const) : ('waiting' as const),
      }));
      const last = items.at(-1);
      return rows.length > limit && last ? { items, next: `${last.createdAt.getTime()}.${last.id}` } : { items };
    },

    async retry(id, by) {
      await transaction(db, async (tx) => {
        const data = { failedAt: null, nextTryAt: now() };
        const { count } = await tx.mailMessage.updateMany({ where: { id, sentAt: null, ...LETTER }, data });
        if (count === 0) throw notFound({ message: 'There is no such mail, or it was sent.' });
        await audit.record({ ...by, type: 'mail.retried', outcome: 'success', data: { mail: id } }, tx);
      });
      queued();
    },
  };
}
