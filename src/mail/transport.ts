// The only file that knows nodemailer: a finished mail goes to the mail server, or as a file into the outbox folder.
// What can go wrong is a value: the message was refused, or the server could not be used at all.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { limits } from '../limits.ts';
import type { Logger } from '../platform/logger.ts';

export interface FinishedMail {
  /** Of the row: gives the Message-ID, which stays the same when a mail is sent again. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  createdAt: Date;
}

export type SendOutcome =
  | { outcome: 'sent' }
  /** The server does not take this message; `isFinal` when it never will. */
  | { outcome: 'refused'; isFinal: boolean; reason: string }
  /** No server, no sign-in to it, or it refuses us: nothing to do with this message. */
  | { outcome: 'no-server'; reason: string };

export interface MailTransport {
  send(mail: FinishedMail): Promise<SendOutcome>;
}

export interface MailTransportNeeds {
  smtpUrl?: string | undefined;
  mailFrom: string;
  /** Where mail is written without a mail server. */
  outboxDir: string;
  issuer: string;
  logger: Logger;
}

/** With SMTP_URL to that server, else into files. */
export function createMailTransport(needs: MailTransportNeeds): MailTransport {
  return needs.smtpUrl === undefined ? fileTransport(needs) : smtpTransport({ ...needs, smtpUrl: needs.smtpUrl });
}

function smtpTransport({ smtpUrl, mailFrom, issuer }: MailTransportNeeds & { smtpUrl: string }): MailTransport {
  const { timeoutMs } = limits.mail;
  const smtp = createTransport({
    url: smtpUrl,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: 2 * timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      try {
        await smtp.sendMail(envelopeOf(mail, mailFrom, issuer));
        return { outcome: 'sent' };
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

function fileTransport({ outboxDir, mailFrom, issuer, logger }: MailTransportNeeds): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      try {
        const { message } = await composer.sendMail(envelopeOf(mail, mailFrom, issuer));
        // The same name when it is written again after a crash, and never half a file under it.
        const stamp = mail.createdAt.toISOString().replace(/[-:]|\..*/g, '');
        const file = path.join(outboxDir, `${stamp}-${mail.id}.eml`);
        await mkdir(outboxDir, { recursive: true, mode: 0o700 });
        await writeFile(`${file}.part`, message, { mode: 0o600 });
        await rename(`${file}.part`, file);
        logger.info({ file }, 'no SMTP_URL is set: the mail was written to a file');
        return { outcome: 'sent' };
      } catch (error) {
        return { outcome: 'no-server', reason: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

function envelopeOf({ id, to, subject, text, html }: FinishedMail, from: string, issuer: string): SendMailOptions {
  return {
    from,
    // As an object it is one address, whatever it holds; as text it would be parsed as a list.
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${id}@${new URL(issuer).hostname}>`,
    // RFC 3834: no out-of-office answers, please.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

// RFC 5321 4.2.1: 5yz about this recipient or content is final, 4yz is not. Everything else (no connection, no TLS, no
// sign-in, MAIL FROM refused, 421) would be the same for every message.
function outcomeOf(error: unknown): SendOutcome {
  const { command, responseCode } = error as { command?: unknown; responseCode?: unknown };
  const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
  if (command === 'API') return { outcome: 'refused', isFinal: true, reason }; // refused before anything was sent
  const isAboutMessage = (command === 'RCPT TO' || command === 'DATA') && typeof responseCode === 'number';
  if (!isAboutMessage || responseCode === 421) return { outcome: 'no-server', reason };
  return { outcome: 'refused', isFinal: responseCode >= 500, reason };
}
