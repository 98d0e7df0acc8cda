// Builds the mail services: the outbox that other domains queue mail in, and the delivery that a server runs.

import type { Base } from '../../base/base.ts';
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import { limits } from '../../base/limits.ts';
import { viewsDir } from '../../base/platform/package.ts';
import type { OfferedLanguages } from '../../base/texts/languages.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import type { Alarm } from '../audit/alarm.ts';
import type { Audit } from '../audit/audit.ts';
import { type ScheduledJob, wakeSoon } from '../jobs/scheduler.ts';
import { createDelivery, type DeferredWriter, type MailOutcome } from './delivery.ts';
import { createHtmlRenderer } from './html.ts';
import { createOwnerNotifier, type NotifyOwner } from './notify-owner.ts';
import { createOutbox, type DeferredKind, type Outbox } from './outbox.ts';
import { createMailTransport } from './transport.ts';

const MAIL_JOB = 'mail';

export interface MailDependencies {
  brand?: () => BrandLook | undefined;
  brandOf?: (application: string) => BrandLook | undefined;
  offered?: () => OfferedLanguages;
  texts?: () => MessageSource | undefined;
  /** Starts the delivery; called when a mail is queued, before its transaction commits. */
  wakeDelivery?: () => void;
}

export function createMail(dependencies: Base & MailDependencies): { outbox: Outbox; notifyOwner: NotifyOwner } {
  const outbox = createOutbox({ ...dependencies, renderHtml: createHtmlRenderer(viewsDir) });
  return { outbox, notifyOwner: createOwnerNotifier({ ...dependencies, outbox }) };
}

export interface MailDeliveryDependencies {
  /** Runs a job of the scheduler now. */
  wake(job: string): void;
  audit: Audit;
  writers: Record<DeferredKind, DeferredWriter>;
  /** The content of a picture. Without it, mails have the name in place of their logo. */
  readPicture?: (name: string) => Promise<Buffer | undefined>;
  /** For the metrics. */
  countMail(outcome: MailOutcome): void;
  alarm: Alarm;
}

/** Makes the job that delivers mail, and `wakeSoon`, which runs it shortly after a mail was queued. */
export function createMailDelivery(services: Base & MailDeliveryDependencies): {
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
