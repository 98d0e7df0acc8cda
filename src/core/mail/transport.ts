// Hands a finished mail to the mail server with nodemailer, or writes it as a file into the outbox folder. Failures are
// return values: the message was rejected, or the server takes no message at all.

import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SendMailOptions, Transporter } from 'nodemailer';
import type { Base } from '../../base/base.ts';
import type { Config } from '../../base/config.ts';
import { limits } from '../../base/limits.ts';
import { LOGO_ID } from './html.ts';

export interface FinishedMail {
  /** The ID of the row. The Message-ID is made from it and stays the same when a mail is sent again. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** A part of the mail that the HTML displays. */
  logo?: { name: string; content: Buffer } | undefined;
  /** The name of the brand. */
  sender?: string | undefined;
  createdAt: Date;
}

export type SendOutcome =
  /** `answer`: of the mail server, or the file that was written. */
  | { outcome: 'sent'; answer: string }
  /** The server rejects this message; `isFinal` when a retry cannot help. */
  | { outcome: 'rejected'; isFinal: boolean; reason: string }
  /** The same for every message: no connection or failed authentication, a rejected sender, or a server that takes no email for now. */
  | { outcome: 'no-server'; cause: 'unusable' | 'sender' | 'busy'; reason: string };

export type MailTransport = ReturnType<typeof createMailTransport>;

/** Sends by SMTP where there is a mail server, else writes files. @param timeLimits of one answer, and of everything for one mail */
export function createMailTransport(base: Base, timeLimits: TimeLimits = limits.mail) {
  const { smtpUrl } = base.config;
  return smtpUrl === undefined ? fileTransport(base) : smtpTransport(base, smtpUrl, timeLimits);
}

interface TimeLimits {
  timeoutMs: number;
  totalMs: number;
}

function smtpTransport({ config }: Base, smtpUrl: string, { timeoutMs, totalMs }: TimeLimits) {
  const options = {
    url: smtpUrl,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: 2 * timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  let smtp: Transporter | undefined;
  return {
    async send(mail: FinishedMail): Promise<SendOutcome> {
      try {
        const { createTransport } = await import('./nodemailer.ts');
        smtp ??= createTransport(options);
        // The other limits are between two parts of an answer.
        const signal = AbortSignal.timeout(totalMs);
        const sent = await smtp.sendMail({ ...envelopeOf(mail, config), signal }).catch((cause: unknown) => {
          throw signal.aborted ? new Error(`the mail server took more than ${totalMs / 1000} s`, { cause }) : cause;
        });
        return { outcome: 'sent', answer: String(sent.response ?? '') };
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

function fileTransport({ config, logger }: Base) {
  const { outboxDir } = config;
  return {
    async send(mail: FinishedMail): Promise<SendOutcome> {
      try {
        const { createTransport } = await import('./nodemailer.ts');
        const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
        const { message } = await composer.sendMail(envelopeOf(mail, config));
        // The name is the same when the mail is written again after a crash; the rename makes the file appear complete.
        const stamp = mail.createdAt.toISOString().replace(/[-:]|\..*/g, '');
        const file = path.join(outboxDir, `${stamp}-${mail.id}.eml`);
        await mkdir(outboxDir, { recursive: true, mode: 0o700 });
        await writeFile(`${file}.part`, message, { mode: 0o600 });
        await rename(`${file}.part`, file);
        logger.info({ file }, 'SMTP_URL is not set: the email was written to a file');
        return { outcome: 'sent', answer: file };
      } catch (error) {
        return {
          outcome: 'no-server',
          cause: 'unusable',
          reason: error instanceof Error ? error.message : String(error),
        };
      }
    },
  };
}

function envelopeOf(
  { id, to, subject, text, html, logo, sender }: FinishedMail,
  { issuer, mailFrom, isMailNameSet }: Config,
): SendMailOptions {
  const address = /<([^<>]+)>$/.exec(mailFrom)?.[1] ?? mailFrom;
  return {
    from: sender && !isMailNameSet ? { name: sender, address } : mailFrom,
    // nodemailer parses a string as a list of addresses, but takes an object as one.
    to: { name: '', address: to },
    subject,
    text,
    html,
    ...(logo && { attachments: [logoPart(logo)] }),
    messageId: `<${id}@${new URL(issuer).hostname}>`,
    // RFC 3834: asks for no out-of-office replies.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

function logoPart({ name, content }: { name: string; content: Buffer }) {
  const filename = `logo${path.extname(name)}`;
  return { filename, content, cid: LOGO_ID, contentDisposition: 'inline' as const };
}

// RFC 5321, section 4.2.1: a 5yz reply about this recipient or content is final, a 4yz reply is not. Everything else (no
// connection, no TLS, failed authentication, MAIL FROM rejected, 421) is the same for every message.
function outcomeOf(error: unknown): SendOutcome {
  const { command, responseCode } = error as { command?: unknown; responseCode?: unknown };
  const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
  if (command === 'API') return { outcome: 'rejected', isFinal: true, reason }; // by nodemailer, before anything was sent
  const isAboutMessage = (command === 'RCPT TO' || command === 'DATA') && typeof responseCode === 'number';
  if (!isAboutMessage || responseCode === 421) {
    const isTemporary = typeof responseCode === 'number' && responseCode < 500;
    const cause = isTemporary ? 'busy' : command === 'MAIL FROM' ? 'sender' : 'unusable';
    return { outcome: 'no-server', cause, reason };
  }
  return { outcome: 'rejected', isFinal: responseCode >= 500, reason };
}
