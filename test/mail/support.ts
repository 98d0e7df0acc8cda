// An outbox and its delivery on a test database, without a server around them.

import path from 'node:path';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import type { Database } from '../../src/base/storage/database.ts';
import { type Audit, createAudit } from '../../src/core/audit/audit.ts';
import { createDelivery, type DeferredWriter } from '../../src/core/mail/delivery.ts';
import { createHtmlRenderer } from '../../src/core/mail/html.ts';
import { createMailServer } from '../../src/core/mail/mail-server.ts';
import type { MailMessage } from '../../src/core/mail/messages.ts';
import { createOutbox, decryptContent, type Outbox } from '../../src/core/mail/outbox.ts';
import { createMailTransport } from '../../src/core/mail/transport.ts';
import type { TestClock } from '../support/clock.ts';
import { testSecret } from '../support/secret.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';

export const issuer = 'https://id.example.com';
export const renderHtml = createHtmlRenderer(path.resolve('views'));
export const ann = { email: 'ann@example.com', userId: 'u1', username: 'ann', name: 'Ann Example' };
export const resetMail: MailMessage = { kind: 'password-reset', to: ann, token: 'T0ken'.repeat(8), minutes: 20 };

/** An outbox with its delivery, and what they left behind. */
export interface MailService {
  outbox: Outbox;
  audit: Audit;
  log: string[];
  counts: Record<string, number>;
  deliver(signal?: AbortSignal): Promise<number>;
  /** The decrypted content of the only row. */
  storedContent(): Promise<unknown>;
}

export interface MailServiceOptions extends Pick<Database, 'db' | 'sql'> {
  clock: TestClock;
  smtpUrl?: string;
  outboxDir?: string;
  secrets?: Buffer[];
  /** Writes the mail of every deferred request. */
  writer?: DeferredWriter;
}

export function mailService(options: MailServiceOptions): MailService {
  const { db, sql, clock, smtpUrl, outboxDir = '/nowhere', secrets = [testSecret], writer } = options;
  const { now } = clock;
  const log: string[] = [];
  const destination = { write: (line: string) => void log.push(line) };
  const logger = createLogger({ level: 'debug', format: 'json', destination });
  const vault = createVault(secrets);
  const audit = createAudit(servicesOf({ db, sql, vault, logger, now }));
  const counts: Record<string, number> = {};
  const write = writer ?? (async () => {});
  const mailFrom = 'Gatehouse <no-reply@id.example.com>';
  const config = { issuer, issuerUrl: new URL(issuer), smtpUrl, mailFrom, outboxDir } as never;
  const mailServer = createMailServer({ config, settings: fixedSettings() });
  return {
    audit,
    log,
    counts,
    async storedContent() {
      const { id, bodySealed } = await db.mailMessage.findFirstOrThrow();
      return decryptContent(vault, id, bodySealed);
    },
    outbox: createOutbox({ config, logger, db, sql, vault, now, renderHtml, wake: () => {} }),
    deliver: createDelivery({
      config,
      logger,
      db,
      sql,
      vault,
      now,
      audit,
      alarm: { raise: async (_kind, message) => void log.push(message) },
      mailServer,
      transport: createMailTransport({ ...servicesOf({ config, logger }), mailServer }),
      writers: { 'password-reset': write, registration: write, unlock: write },
      notReceived: async () => {},
      countMail: (outcome) => {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      },
    }).run,
  };
}
