// Sends what is queued in the outbox: hands messages to the mail server, and turns deferred requests into messages.
// A mail server that takes nothing delays everything for a minute at most; a rejected message waits longer each time.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { traced } from '../../base/platform/tracing.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Alarm } from '../audit/alarm.ts';
import type { Audit } from '../audit/audit.ts';
import {
  type AttemptResult,
  createJobQueue,
  type JobOutcome,
  type JobQueue,
  retryPauseSeconds,
} from '../jobs/queue.ts';
import type { MailServer } from './mail-server.ts';
import { createMessageStore, type MailJob, type MailLane } from './message-store.ts';
import type { DeferredContent, DeferredKind, FinishedContent, MailRequest } from './outbox.ts';
import type { MailTransport } from './transport.ts';

/** One deferred request at a time: of two for the same account, the second must see the token of the first. */
const CONCURRENCY = { lane: (lane: string) => ((lane as MailLane) === 'deferred' ? 1 : 4), total: 5 };
const MAX_AGE_MS = limits.mail.giveUpAfterSeconds * 1000;
const METRIC = { done: 'sent', retried: 'deferred', 'given-up': 'failed' } as const;
export type MailOutcome = (typeof METRIC)[JobOutcome] | 'written';

/**
 * Looks up the recipient of a deferred request and queues the mail, if there is one to send. Its transaction begins with `claim`, which
 * deletes the request; when that returns false, another instance was first and nothing may be written.
 */
export type DeferredWriter = (request: MailRequest, claim: (tx: Tx) => Promise<boolean>) => Promise<void>;

export interface DeliveryDependencies {
  transport: MailTransport;
  writers: Record<DeferredKind, DeferredWriter>;
  /** The content of a picture. Without it, mails have the name in place of their logo. */
  readPicture?: (name: string) => Promise<Buffer | undefined>;
  /** For the metrics. */
  countMail(outcome: MailOutcome): void;
  audit: Audit;
  alarm: Alarm;
  mailServer: MailServer;
  /** Called in the transaction for an email that was given up, or written to a file. */
  notReceived(mail: Pick<MailJob, 'kind' | 'userId'>, tx: Tx): Promise<void>;
}

/** Makes the queue of outgoing mail. */
export function createDelivery(dependencies: Base & DeliveryDependencies): JobQueue {
  const send = createSender(dependencies);
  const write = createDeferredRequestHandler(dependencies);
  return createJobQueue<MailJob>({
    now: dependencies.now,
    store: createMessageStore(dependencies),
    async attempt(job) {
      const { content } = job;
      if (!content)
        return { outcome: 'retry', reason: 'cannot be opened', pauseSeconds: limits.delivery.maxPauseSeconds };
      return content.type === 'deferred' ? write(job, content) : send(job, content);
    },
    leaseSeconds: limits.mail.leaseSeconds,
    concurrency: CONCURRENCY,
    expiresAt: ({ content, createdAt }) => new Date(content?.expiresAt ?? createdAt.getTime() + MAX_AGE_MS),
    onOutcome({ lane }, outcome) {
      // A deferred request is no email yet.
      if (lane !== 'mail-server') return;
      dependencies.countMail(outcome === 'done' && !dependencies.mailServer.isSet() ? 'written' : METRIC[outcome]);
    },
  });
}

/** Hands a message to the mail server; logs once when that goes away and once when it is back. */
function createSender({
  transport,
  logger,
  readPicture,
}: Base & {
  transport: MailTransport;
  /** The content of a picture. Without it, mails have the name in place of their logo. */
  readPicture?: (name: string) => Promise<Buffer | undefined>;
}) {
  let isServerDown = false;
  const hand = traced('mail send', transport.send, ({ outcome }) => ({ 'gatehouse.outcome': outcome }));

  return async function send(
    job: MailJob,
    { text, html, logo: name, sender }: FinishedContent,
  ): Promise<AttemptResult> {
    const { id, recipient: to, subject, createdAt, tries } = job;
    const content = name && (await readPicture?.(name));
    const logo = content ? { name, content } : undefined;
    const result = await hand({ id, to, subject, createdAt, text, html, logo, sender });
    if (result.outcome === 'no-server') {
      if (!isServerDown) logger.warn({ reason: result.reason }, 'mail cannot be sent; it waits and is tried again');
      isServerDown = true;
      const pauseSeconds = Math.min(retryPauseSeconds(tries), limits.mail.outagePauseSeconds);
      return { outcome: 'retry', reason: result.reason, pauseSeconds, closesLane: true };
    }
    if (isServerDown) logger.info('mail can be sent again');
    isServerDown = false;
    if (result.outcome === 'sent') return { outcome: 'done' };
    return { outcome: result.isFinal ? 'give-up' : 'retry', reason: result.reason };
  };
}

function createDeferredRequestHandler({ logger, writers }: Base & { writers: Record<DeferredKind, DeferredWriter> }) {
  return async function write({ id }: MailJob, { kind, request }: DeferredContent): Promise<AttemptResult> {
    try {
      await writers[kind](request, async (tx) => (await tx.mailMessage.deleteMany({ where: { id } })).count === 1);
      return { outcome: 'done' };
    } catch (err) {
      logger.error({ err, mail: id, request: kind }, 'a deferred mail could not be written');
      return { outcome: 'retry', reason: 'could not be written' };
    }
  };
}
