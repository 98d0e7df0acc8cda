// Builds the mail services: the outbox that other domains queue mail in, and the delivery that a server runs.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { viewsDir } from '../../base/platform/package.ts';
import { type ScheduledJob, wakeSoon } from '../jobs/scheduler.ts';
import { createDelivery, type DeliveryDependencies } from './delivery.ts';
import { createHtmlRenderer } from './html.ts';
import { createOwnerNotifier, type NotifyOwner } from './notify-owner.ts';
import { createOutbox, type Outbox, type OutboxDependencies } from './outbox.ts';
import { createMailTransport } from './transport.ts';

const MAIL_JOB = 'mail';

export function createMail(dependencies: Base & Omit<OutboxDependencies, 'renderHtml'>): {
  outbox: Outbox;
  notifyOwner: NotifyOwner;
} {
  const outbox = createOutbox({ ...dependencies, renderHtml: createHtmlRenderer(viewsDir) });
  return { outbox, notifyOwner: createOwnerNotifier({ ...dependencies, outbox }) };
}

/** Makes the job that delivers mail, and `wakeSoon`, which runs it shortly after a mail was queued. */
export function createMailDelivery(
  services: Base &
    Omit<DeliveryDependencies, 'transport'> & {
      /** Runs a job of the scheduler now. */
      wake(job: string): void;
    },
): {
  jobs: ScheduledJob[];
  scheduleDelivery(): void;
} {
  const { config, logger, wake } = services;
  const isWrittenToFiles = !config.hasMailServer;
  const queue = createDelivery({ ...services, isWrittenToFiles, transport: createMailTransport(services) });
  if (isWrittenToFiles) {
    logger.info({ folder: config.outboxDir }, 'SMTP_URL is not set: email is written to files');
  }
  return {
    jobs: [{ name: MAIL_JOB, everySeconds: limits.delivery.pollSeconds, ...queue }],
    scheduleDelivery: wakeSoon(() => wake(MAIL_JOB), limits.mail.delayMs),
  };
}
