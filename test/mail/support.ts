// An outbox and its delivery on a database of their own, without a server around them.
import path from 'node:path';
import { type Audit, createAudit } from '../../src/audit/audit.ts';
import { createDelivery, type DraftWriter } from '../../src/mail/delivery.ts';
import { createLetterRenderer } from '../../src/mail/html.ts';
import type { MailMessage } from '../../src/mail/messages.ts';
import { createOutbox, type Outbox } from '../../src/mail/outbox.ts';
import { createMailTransport } from '../../src/mail/transport.ts';
import type { Database } from '../../src/platform/db.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createVault } from '../../src/platform/vault.ts';
import type { TestClock } from '../support/clock.ts';
import { testSecret } from '../support/secret.ts';

export const issuer = 'https://id.example.com';
export const renderHtml = createLetterRenderer(path.resolve('views'));
export const ann = { email: 'ann@example.com', userId: 'u1', username: 'ann', name: 'Ann Example' };
export const resetMail: MailMessage = { kind: 'password-reset', to: ann, token: 'T0ken'.repeat(8), minutes: 20 };

export interface Post {
  outbox: Outbox;
  audit: Audit;
  log: string[];
  counts: Record<string, number>;
  deliver(signal?: AbortSignal): Promise<number>;
}

export interface PostOptions extends Pick<Database, 'db' | 'sql' | 'kind'> {
  clock: TestClock;
  smtpUrl?: string;
  outboxDir?: string;
  secrets?: Buffer[];
  draft?: DraftWriter;
}

export function post(options: PostOptions): Post {
  const { db, sql, kind, clock, smtpUrl, outboxDir = '/nowhere', secrets = [testSecret], draft } = options;
  const { now } = clock;
  const log: string[] = [];
  const destination = { write: (line: string) => void log.push(line) };
  const logger = createLogger({ level: 'debug', format: 'json', destination });
  const vault = createVault(secrets);
  const audit = createAudit({ db, sql, kind, logger, now });
  const counts: Record<string, number> = {};
  const write = draft ?? (async () => {});
  const mailFrom = 'Gatehouse <no-reply@id.example.com>';
  return {
    audit,
    log,
    counts,
    outbox: createOutbox({ db, vault, now, issuer, renderHtml }),
    deliver: createDelivery({
      db,
      vault,
      now,
      audit,
      logger,
      transport: createMailTransport({ smtpUrl, mailFrom, outboxDir, issuer, logger }),
      drafts: { 'password-reset': write, registration: write, unlock: write },
      counted: (outcome) => {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      },
    }),
  };
}
