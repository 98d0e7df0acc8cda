// The table `mail_messages` as a queue of jobs (core/jobs/queue.ts). Messages and deferred requests are separate queues. The
// body of a sent or failed message is deleted.

import type { Base } from '../../base/base.ts';
import { type Db, type Tx, transaction } from '../../base/storage/database.ts';
import type { Alarm } from '../audit/alarm.ts';
import type { Audit, AuditInput } from '../audit/audit.ts';
import { jobTable, type QueuedJob, type QueueStore } from '../jobs/queue.ts';
import { noteDelivery } from './link-tokens.ts';
import type { MailServer } from './mail-server.ts';
import { DEFERRED_RECIPIENT, decryptContent, type StoredContent } from './outbox.ts';

export type MailLane = 'mail-server' | 'deferred';

export interface MailJob extends QueuedJob {
  lane: MailLane;
  recipient: string;
  subject: string;
  /** Of the message, and the account that it is for. */
  kind: string;
  userId: string | null;
  createdAt: Date;
  /** Undefined while the secret that encrypted it is not configured, and when another program changed recipient or subject. */
  content: StoredContent | undefined;
}

const messageTable = jobTable('mail_messages', 'sent_at');

const PENDING = { sentAt: null, failedAt: null };
// A deferred request has none yet: its account is looked up later, so that the answer takes equally long without one.
const HAS_RECIPIENT = { recipient: { not: DEFERRED_RECIPIENT } };

/** The emails of each state, for every list and every count. */
export const mailOf = {
  waiting: { ...PENDING, ...HAS_RECIPIENT },
  sent: { sentAt: { not: null }, ...HAS_RECIPIENT },
  // SQLite uses no index for IS NOT NULL.
  failed: { failedAt: { gt: new Date(0) }, ...HAS_RECIPIENT },
  any: HAS_RECIPIENT,
} as const;

/** How many emails wait, and how many were given up. */
export async function countUnsentMail(db: Db): Promise<{ waiting: number; failed: number }> {
  const [waiting, failed] = await Promise.all([
    db.mailMessage.count({ where: mailOf.waiting }),
    db.mailMessage.count({ where: mailOf.failed }),
  ]);
  return { waiting, failed };
}

/** The store of the mail queue. */
export function createMessageStore(
  dependencies: Base & {
    audit: Audit;
    mailServer: MailServer;
    alarm: Alarm;
    /** Called in the transaction for an email that was given up, or written to a file. */
    notReceived(mail: Pick<MailJob, 'kind' | 'userId'>, tx: Tx): Promise<void>;
  },
): QueueStore<MailJob> {
  const { db, now, audit, mailServer, notReceived } = dependencies;
  /** The row as this attempt has claimed it, which counted a try. */
  const claimed = ({ id, tries }: MailJob) => ({ id, tries: tries + 1, ...PENDING });

  /** A deferred request is no email: nobody can send it again, and it holds what a person typed. */
  async function removeRequest(job: MailJob, tx: Tx): Promise<boolean> {
    return (await tx.mailMessage.deleteMany({ where: claimed(job) })).count > 0;
  }

  async function markFailed(job: MailJob, reason: string, tx: Tx): Promise<boolean> {
    const data = { failedAt: now(), lastError: reason, bodySealed: '' };
    const { count } = await tx.mailMessage.updateMany({ where: claimed(job), data });
    if (count === 0) return false;
    await noteInvitation(job, now(), tx);
    await notReceived(job, tx);
    return true;
  }

  return {
    ...messageTable(dependencies),
    due: (query) => dueJobs(dependencies, query),

    async complete(job) {
      if (job.lane === 'deferred') return; // its row was deleted in the transaction that wrote the mail
      // Repeated when its answer was lost: one entry in the audit log.
      await transaction(db, async (tx) => {
        const isFile = !mailServer.isSet();
        const data = { sentAt: now(), failedAt: null, lastError: null, bodySealed: '', isFile };
        const { count } = await tx.mailMessage.updateMany({ where: { id: job.id, sentAt: null }, data });
        if (count === 0) return;
        await noteInvitation(job, null, tx);
        if (isFile) await notReceived(job, tx);
        await record(audit, job, { tx, isFile });
      });
    },

    async giveUp(job, reason) {
      await transaction(db, async (tx) => {
        const isDone = await (job.lane === 'deferred' ? removeRequest(job, tx) : markFailed(job, reason, tx));
        if (isDone) await record(audit, job, { tx, failure: reason });
      });
    },
  };
}

async function noteInvitation({ content, createdAt }: MailJob, bouncedAt: Date | null, tx: Tx): Promise<void> {
  if (content?.type !== 'message' || content.kind !== 'invitation' || !content.userId) return;
  await noteDelivery({ userId: content.userId, sentAt: createdAt, bouncedAt }, tx);
}

/** Unfinished messages and deferred requests whose turn has come, oldest first. */
async function dueJobs(
  dependencies: Base & { alarm: Alarm },
  { limit, exceptLanes }: Parameters<QueueStore<MailJob>['due']>[0],
): Promise<MailJob[]> {
  const { db, now } = dependencies;
  const isExcluded = (lane: MailLane) => exceptLanes.includes(lane);
  if (isExcluded('mail-server') && isExcluded('deferred')) return [];
  const rows = await db.mailMessage.findMany({
    where: {
      ...PENDING,
      nextTryAt: { lte: now() },
      ...(isExcluded('deferred') && HAS_RECIPIENT),
      ...(isExcluded('mail-server') && { recipient: DEFERRED_RECIPIENT }),
    },
    orderBy: { nextTryAt: 'asc' },
    take: limit,
  });
  return rows.map(({ bodySealed, ...row }) => ({
    ...row,
    lane: row.recipient === DEFERRED_RECIPIENT ? 'deferred' : 'mail-server',
    content: decrypt(dependencies, row, bodySealed),
  }));
}

function decrypt(
  { vault, logger, alarm }: Base & { alarm: Alarm },
  { id, recipient, subject }: { id: string; recipient: string; subject: string },
  sealed: string,
): StoredContent | undefined {
  try {
    const content = decryptContent(vault, id, sealed);
    if (content.type === 'deferred' || (content.recipient === recipient && content.subject === subject)) return content;
    const table = 'mail_messages';
    void alarm.raise('row', `a row of ${table} was changed by another program: ${id}`, { table, key: id });
    return undefined;
  } catch (err) {
    logger.error(
      { err, mail: id },
      'queued mail cannot be decrypted; GATEHOUSE_SECRET was probably changed without keeping the old value',
    );
    return undefined;
  }
}

async function record(
  audit: Audit,
  { content, recipient, tries }: MailJob,
  { tx, failure, isFile = false }: { tx: Tx; failure?: string; isFile?: boolean },
): Promise<void> {
  const event: AuditInput = {
    type: failure === undefined ? 'mail.sent' : 'mail.failed',
    outcome: failure === undefined ? 'success' : 'failure',
    ...(failure !== undefined && { reason: failure }),
    ...(content?.type === 'message' && content.userId && { subjectId: content.userId }),
    data: {
      ...(recipient !== DEFERRED_RECIPIENT && { recipient }),
      message: content?.kind,
      tries: tries + 1,
      ...(isFile && { file: true }),
    },
  };
  await audit.record(event, tx);
}
