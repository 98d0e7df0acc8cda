// Sends what waits in the outbox. Each mail is claimed by one conditional update before it is touched, so two instances
// never send the same one; a claim runs out, so a killed instance loses none. A server that cannot be used holds up
// everything for a minute at most; a mail that is refused waits longer each time.
import type { Audit } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db, Tx } from '../platform/db.ts';
import type { Logger } from '../platform/logger.ts';
import type { Vault } from '../platform/vault.ts';
import { type DraftKind, type StoredMail, sealContext, type Wish } from './outbox.ts';
import type { MailTransport } from './transport.ts';

const BATCH = 40;
const AT_ONCE = 4;
const MAX_AGE_MS = limits.mail.giveUpAfterSeconds * 1000;

/**
 * Finds the reader of a draft and queues the mail, if there is to be one. `take` belongs into the transaction that does
 * so, first: false when another instance was quicker, and then nothing may happen.
 */
export type DraftWriter = (wish: Wish, take: (tx: Tx) => Promise<boolean>) => Promise<void>;

export interface DeliveryNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  audit: Audit;
  logger: Logger;
  transport: MailTransport;
  drafts: Record<DraftKind, DraftWriter>;
  /** For the metrics. */
  counted(outcome: 'sent' | 'deferred' | 'failed'): void;
}

/** Makes the job; it returns how many mails it looked at. */
export function createDelivery({ db, vault, now, audit, logger, transport, drafts, counted }: DeliveryNeeds) {
  type Row = Awaited<ReturnType<typeof due>>[number];
  type Step = 'go-on' | 'stop';
  let isServerDown = false;

  const later = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  function due() {
    return db.mailMessage.findMany({
      where: { sentAt: null, failedAt: null, nextTryAt: { lte: now() } },
      orderBy: { nextTryAt: 'asc' },
      take: BATCH,
    });
  }

  async function claim({ id, tries }: Row): Promise<boolean> {
    const { count } = await db.mailMessage.updateMany({
      where: { id, tries, sentAt: null, failedAt: null },
      data: { tries: tries + 1, nextTryAt: later(limits.mail.leaseSeconds) },
    });
    return count === 1;
  }

  async function finish(row: Row, mail: StoredMail | undefined, failure?: string): Promise<void> {
    const end = failure === undefined ? { sentAt: now(), lastError: null } : { failedAt: now(), lastError: failure };
    await db.mailMessage.updateMany({ where: { id: row.id }, data: { ...end, bodySealed: '' } });
    counted(failure === undefined ? 'sent' : 'failed');
    await audit.record({
      type: failure === undefined ? 'mail.sent' : 'mail.failed',
      outcome: failure === undefined ? 'success' : 'failure',
      ...(failure !== undefined && { reason: failure }),
      ...(mail?.type === 'letter' && mail.userId && { subjectId: mail.userId }),
      data: { message: mail?.kind, recipient: row.recipient, tries: row.tries + 1 },
    });
  }

  async function defer({ id }: Row, lastError: string, seconds: number): Promise<void> {
    await db.mailMessage.updateMany({ where: { id }, data: { lastError, nextTryAt: later(seconds) } });
    counted('deferred');
  }

  function open({ id, bodySealed }: Row): StoredMail | undefined {
    try {
      return JSON.parse(vault.open(bodySealed, sealContext(id)).toString()) as StoredMail;
    } catch (err) {
      logger.error({ err, mail: id }, 'a mail cannot be opened: was GATEHOUSE_SECRET changed without the old value?');
      return undefined;
    }
  }

  async function write(row: Row, { kind, wish }: StoredMail & { type: 'draft' }): Promise<void> {
    try {
      await drafts[kind](wish, async (tx) => (await tx.mailMessage.deleteMany({ where: { id: row.id } })).count === 1);
    } catch (err) {
      logger.error({ err, mail: row.id, draft: kind }, 'a mail could not be written');
      await defer(row, 'could not be written', pauseSeconds(row.tries));
    }
  }

  async function attempt(row: Row): Promise<Step> {
    if (!(await claim(row))) return 'go-on';
    const mail = open(row);
    const endsAt = mail ? new Date(mail.expiresAt).getTime() : row.createdAt.getTime() + MAX_AGE_MS;
    if (endsAt <= now().getTime()) await finish(row, mail, row.lastError ?? 'expired');
    else if (!mail) await defer(row, 'cannot be opened', limits.delivery.maxPauseSeconds);
    else if (mail.type === 'draft') await write(row, mail);
    else return send(row, mail);
    return 'go-on';
  }

  async function send(row: Row, mail: StoredMail & { type: 'letter' }): Promise<Step> {
    const { id, recipient: to, subject, createdAt } = row;
    const result = await transport.send({ id, to, subject, createdAt, text: mail.text, html: mail.html });
    if (result.outcome === 'no-server') {
      if (!isServerDown) logger.warn({ reason: result.reason }, 'mail cannot be sent; it waits and is tried again');
      isServerDown = true;
      const pause = Math.min(pauseSeconds(row.tries), limits.mail.outagePauseSeconds);
      await defer(row, result.reason, pause);
      return 'stop';
    }
    if (isServerDown) logger.info('mail can be sent again');
    isServerDown = false;
    if (result.outcome === 'sent') await finish(row, mail);
    else if (result.isFinal) await finish(row, mail, result.reason);
    else await defer(row, result.reason, pauseSeconds(row.tries));
    return 'go-on';
  }

  return async function deliver(signal?: AbortSignal): Promise<number> {
    let count = 0;
    // Until nothing is due: what drafts turn into goes out in the same run.
    for (let rows = await due(); rows.length > 0; rows = await due()) {
      count += rows.length;
      // Drafts one after the other: of two for the same person the later one must see what the first one made.
      const wishes = rows.filter(({ recipient }) => recipient === '');
      for (const draft of wishes) {
        if (signal?.aborted) return count;
        await attempt(draft);
      }
      const letters = rows.filter(({ recipient }) => recipient !== '');
      for (let start = 0; start < letters.length; start += AT_ONCE) {
        if (signal?.aborted) return count;
        const steps = await Promise.all(letters.slice(start, start + AT_ONCE).map(attempt));
        // What holds for these holds for the rest: they are not asked in vain.
        if (steps.includes('stop')) return count;
      }
    }
    return count;
  };
}

/** Pause after the given number of failed tries before this one: doubling, up to the longest. */
export function pauseSeconds(tries: number): number {
  const { firstPauseSeconds, maxPauseSeconds } = limits.delivery;
  return Math.min(firstPauseSeconds * 2 ** tries, maxPauseSeconds);
}
