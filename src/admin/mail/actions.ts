// The outbox: recipients, subjects and delivery; never the text, which holds links and codes.
import type { Actor, Audit } from '../../audit/audit.ts';
import { notFound } from '../../http/errors.ts';
import type { Outbox } from '../../mail/outbox.ts';
import { type Db, transaction } from '../../storage/database.ts';

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
  retry(id: string, by: Actor): Promise<void>;
}

export interface MailAdminDependencies {
  db: Db;
  outbox: Pick<Outbox, 'retry'>;
  audit: Audit;
  /** Wakes the delivery. */
  wakeMailDelivery(): void;
}

const WHERE = {
  waiting: { sentAt: null, failedAt: null },
  sent: { sentAt: { not: null } },
  failed: { failedAt: { not: null } },
} as const;
// A draft has no recipient yet: its account is looked up later, so that the answer takes equally long without one.
const NOT_A_DRAFT = { recipient: { not: '' } };

/** Lists mail by cursor, and sends failed mail again. `retry` throws not_found. */
export function createMailAdmin({ db, outbox, audit, wakeMailDelivery }: MailAdminDependencies): MailAdmin {
  return {
    async list({ limit, after, state }) {
      const [, time, id] = /^(\d{1,14})\.([\w-]{1,64})$/.exec(after ?? '') ?? [];
      const at = time === undefined ? undefined : new Date(Number(time));
      const cursor = at && id ? { createdAt: { lte: at }, OR: [{ createdAt: { lt: at } }, { id: { lt: id } }] } : {};
      const rows = await db.mailMessage.findMany({
        where: { AND: [NOT_A_DRAFT, state ? WHERE[state] : {}, cursor] },
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
        if (!(await outbox.retry(id, tx))) throw notFound({ message: 'There is no such mail, or it was sent.' });
        await audit.record({ ...by, type: 'mail.retried', outcome: 'success', data: { mail: id } }, tx);
      });
      wakeMailDelivery();
    },
  };
}
