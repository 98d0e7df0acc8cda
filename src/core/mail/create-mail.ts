// Builds the mail services: the outbox that other domains queue mail in, and the delivery that a server runs.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { viewsDir } from '../../base/platform/package.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { createDelivery, type DeliveryDependencies } from './delivery.ts';
import { createHtmlRenderer } from './html.ts';
import { senderText } from './mail-server.ts';
import { createOwnerNotifier, type NotifyOwner } from './notify-owner.ts';
import { createOutbox, type Outbox, type OutboxDependencies } from './outbox.ts';
import { createMailTransport } from './transport.ts';

export function createMail(dependencies: Base & Omit<OutboxDependencies, 'renderHtml'>): {
  outbox: Outbox;
  notifyOwner: NotifyOwner;
} {
  const outbox = createOutbox({ ...dependencies, renderHtml: createHtmlRenderer(viewsDir) });
  return { outbox, notifyOwner: createOwnerNotifier({ ...dependencies, outbox }) };
}

/** Makes the job that delivers mail. It runs shortly after one was queued. */
export function createMailDelivery(services: Base & Omit<DeliveryDependencies, 'transport'>): ScheduledJob[] {
  const { config, logger, mailServer } = services;
  const queue = createDelivery({ ...services, transport: createMailTransport(services) });
  if (!mailServer.isSet()) {
    logger.info({ folder: config.outboxDir }, 'no mail server is set: email is written to files');
  } else if (mailServer.hasStandardSender()) {
    logger.warn(`the sender of email is not set: it is sent as ${senderText(mailServer.sender())}`);
  }
  const { pollSeconds } = limits.delivery;
  return [{ name: 'mail', everySeconds: pollSeconds, wakeDelayMs: limits.mail.delayMs, ...queue }];
}
