// Builds the mail services: the outbox that other domains queue mail in, and the delivery that a server runs.
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import type { OfferedLanguages } from '../../base/texts/languages.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { wakeSoon } from '../jobs/wake-soon.ts';
import { createDelivery, type DeliveryDependencies } from './delivery.ts';
import { createHtmlRenderer } from './html.ts';
import { createOwnerNotifier, type NotifyOwner } from './notify-owner.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { createMailTransport, type MailTransportDependencies } from './transport.ts';

const MAIL_JOB = 'mail';

export interface MailDependencies {
  db: Db;
  vault: Vault;
  now: Clock;
  issuer: string;
  /** The folder `views`. */
  viewsDir: string;
  brand?: () => BrandLook | undefined;
  brandOf?: (application: string) => BrandLook | undefined;
  offered?: () => OfferedLanguages;
  texts?: () => MessageSource | undefined;
  /** Starts the delivery; called when a mail is queued, before its transaction commits. */
  wakeDelivery?: () => void;
}

export function createMail(dependencies: MailDependencies): { outbox: Outbox; notifyOwner: NotifyOwner } {
  const { viewsDir, ...given } = dependencies;
  const renderHtml = createHtmlRenderer(viewsDir);
  const outbox = createOutbox({ ...given, renderHtml });
  return { outbox, notifyOwner: createOwnerNotifier({ outbox, now: given.now }) };
}

export interface MailDeliveryDependencies extends Omit<DeliveryDependencies, 'transport'> {
  transport: Omit<MailTransportDependencies, 'logger'>;
  /** Runs a job of the scheduler now. */
  wake(job: string): void;
}

/** Makes the job that delivers mail, and `wakeSoon`, which runs it shortly after a mail was queued. */
export function createMailDelivery({ transport, wake, ...dependencies }: MailDeliveryDependencies): {
  jobs: ScheduledJob[];
  scheduleDelivery(): void;
} {
  const { logger } = dependencies;
  const isWrittenToFiles = transport.smtpUrl === undefined;
  const queue = createDelivery({
    ...dependencies,
    isWrittenToFiles,
    transport: createMailTransport({ ...transport, logger }),
  });
  if (isWrittenToFiles) {
    logger.info({ folder: transport.outboxDir }, 'SMTP_URL is not set: email is written to files');
  }
  return {
    jobs: [{ name: MAIL_JOB, everySeconds: limits.delivery.pollSeconds, ...queue }],
    scheduleDelivery: wakeSoon(() => wake(MAIL_JOB), limits.mail.delayMs),
  };
}
