// Puts the sending of mail together: the transport, the writers of drafts, the job, and when it is woken.
import { createDelivery, type DeliveryNeeds } from '../mail/delivery.ts';
import { createMailTransport } from '../mail/transport.ts';
import type { Jobs } from '../platform/jobs.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Services } from '../services.ts';

const MAIL_JOB = 'mail';
// Mail is queued inside transactions: by then they are committed. It also parts the work for an account that exists
// from the answer to whoever asked about it.
const WAKE_MS = 250;

export interface MailParts {
  services: Services;
  metrics: Metrics;
  jobs: Jobs;
  drafts: DeliveryNeeds['drafts'];
}

/** Adds the job; returns what wakes it soon. */
export function assembleMail({ services, metrics, jobs, drafts }: MailParts): () => void {
  const { config, db, vault, now, audit, logger } = services;
  const deliver = createDelivery({
    db,
    vault,
    now,
    audit,
    logger,
    transport: createMailTransport({ ...config, logger }),
    drafts,
    counted: (outcome) => metrics.mails.inc({ outcome }),
  });
  jobs.add({ name: MAIL_JOB, everySeconds: 5, run: deliver });
  if (config.smtpUrl === undefined)
    logger.info({ folder: config.outboxDir }, 'SMTP_URL is not set: mail is written to files');

  let isWaking = false;
  return () => {
    if (isWaking) return;
    isWaking = true;
    const wake = () => {
      isWaking = false;
      jobs.wake(MAIL_JOB);
    };
    setTimeout(wake, WAKE_MS).unref();
  };
}
