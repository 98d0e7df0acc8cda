// Hands a finished mail to the mail server with nodemailer, or writes it as a file into the outbox folder. Failures are
// return values: the message was rejected, or the server takes no message at all.

import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { connect, isIP } from 'node:net';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import type { SendMailOptions } from 'nodemailer';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { embeddedForms } from '../../base/network/networks.ts';
import { guardedLookup } from '../../base/network/outgoing-fetch.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { LOGO_ID } from './html.ts';
import type { MailServer, SmtpServer } from './mail-server.ts';

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

/** The steps of a delivery, in their order. */
export const mailSteps = ['connection', 'encryption', 'credentials', 'sender', 'recipient', 'message'] as const;
export type MailStep = (typeof mailSteps)[number];

export type SendOutcome =
  /** `answer`: of the mail server, or the file that was written. */
  | { outcome: 'sent'; answer: string }
  /** The server rejects this message; `isFinal` when a retry cannot help. */
  | { outcome: 'rejected'; isFinal: boolean; reason: string; step: MailStep }
  /** The same for every message: no connection or failed authentication, a rejected sender, or a server that takes no email for now. */
  | { outcome: 'no-server'; cause: NoServerCause; reason: string; step: MailStep };

export type NoServerCause = 'connection' | 'certificate' | 'encryption' | 'credentials' | 'sender' | 'busy' | 'folder';

/** What the server said last in each step. */
export type MailAnswers = Map<MailStep, string>;

export type MailTransport = ReturnType<typeof createMailTransport>;
type Needs = Base & { mailServer: MailServer };

/** Sends by SMTP where there is a mail server at that moment, else writes files. @param timeLimits of one answer, and of everything for one mail */
export function createMailTransport(services: Needs, timeLimits: TimeLimits = limits.mail) {
  return {
    async send(mail: FinishedMail, answers?: MailAnswers): Promise<SendOutcome> {
      const server = await services.mailServer.forMail();
      const message = envelopeOf(mail, services);
      return server ? sendBySmtp(server, message, timeLimits, answers) : writeToFile(services, mail, message);
    },
  };
}

interface TimeLimits {
  timeoutMs: number;
  totalMs: number;
}

async function sendBySmtp(
  server: SmtpServer,
  message: SendMailOptions,
  { timeoutMs, totalMs }: TimeLimits,
  answers: MailAnswers | undefined,
): Promise<SendOutcome> {
  const withoutPassword = passwordHider(server);
  try {
    const { createTransport } = await import('./nodemailer.ts');
    const smtp = createTransport({
      ...optionsOf(server, timeoutMs),
      ...(answers && { logger: answerLog(answers, withoutPassword), debug: true }),
    });
    // The other limits are between two parts of an answer.
    const signal = AbortSignal.timeout(totalMs);
    const sent = await smtp.sendMail({ ...message, signal }).catch((cause: unknown) => {
      throw signal.aborted ? new Error(`the mail server took more than ${totalMs / 1000} s`, { cause }) : cause;
    });
    return { outcome: 'sent', answer: withoutPassword(String(sent.response ?? '')) };
  } catch (error) {
    return outcomeOf(error, withoutPassword);
  }
}

function optionsOf(server: SmtpServer, timeoutMs: number) {
  const { host, port, tls, username, password, url } = server;
  const common = {
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketTimeout: 2 * timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  if (url !== undefined) return { url, ...common };
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(username !== undefined && { auth: { user: username, pass: password ?? '' }, forceAuth: true }),
    getSocket: socketTo(server, timeoutMs),
    ...common,
  };
}

/**
 * Opens the connection to a mail server of the settings. A relay in the own network is the usual case, and `outgoing_networks` is no
 * place for it: that setting opens networks to the URLs of client registrations as well. So every address is allowed but those that no
 * mail server has: link-local ones, which are the metadata services of clouds, multicast and the like.
 */
function socketTo({ host, port }: SmtpServer, timeoutMs: number) {
  async function open() {
    if (isIP(host) && !isMailAddress(host)) throw forbidden(host);
    const lookup = guardedLookup(isMailAddress, forbidden);
    // By default, Node gives up each address but the last after 250 ms, which is too short for a slow network.
    const connection = connect({ host, port, lookup, autoSelectFamilyAttemptTimeout: timeoutMs / 4 });
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      await once(connection, 'connect', { signal });
      return { connection };
    } catch (error) {
      connection.on('error', () => {}).destroy();
      throw signal.aborted ? new Error(`no connection to ${host} within ${timeoutMs / 1000} s`) : error;
    }
  }
  return (_options: unknown, callback: (error: Error | null, found?: never) => void) =>
    void open().then((found) => callback(null, found as never), callback);
}

/** Loopback and private addresses, too. */
function isMailAddress(text: string): boolean {
  const ranges = ['unicast', 'loopback', 'private', 'uniqueLocal', 'carrierGradeNat'];
  const target = ipaddr.isValid(text) ? embeddedForms(ipaddr.parse(text)).at(-1) : undefined;
  return target !== undefined && ranges.includes(target.range());
}

const forbidden = (host: string) => new Error(`${host} is an address that no mail server has`);

/** A reply of a mail server begins with its code (RFC 5321 4.2). */
const REPLY = /^[2-5]\d\d/;

/** The step of each command of SMTP. The answers to EHLO and HELO are lists of extensions, which are not kept. */
const STEP_OF_COMMAND: Record<string, MailStep | undefined> = {
  EHLO: undefined,
  HELO: undefined,
  STARTTLS: 'encryption',
  AUTH: 'credentials',
  MAIL: 'sender',
  RCPT: 'recipient',
  DATA: 'message',
};

/**
 * A logger for nodemailer that keeps the last answer of each step. Commands may be sent before earlier ones are answered (RFC 2920), so the
 * steps wait in a queue.
 */
function answerLog(answers: MailAnswers, withoutPassword: (text: string) => string) {
  let step: MailStep | undefined = 'connection';
  const unanswered: (MailStep | undefined)[] = [step];

  function commandSent(line: string): void {
    const command = Object.keys(STEP_OF_COMMAND).find((one) => new RegExp(`^${one}\\b`).test(line));
    // A line with credentials is no command, and belongs to AUTH before it.
    if (command !== undefined) step = STEP_OF_COMMAND[command];
    unanswered.push(step);
  }

  function answered(line: string): void {
    // The content of the message is not logged, so its answer comes when no command waits for one.
    const answeredStep = unanswered.length > 0 ? unanswered.shift() : 'message';
    // What another service than a mail server says is not displayed.
    if (answeredStep && REPLY.test(line)) answers.set(answeredStep, withoutPassword(line.trim()));
  }

  function debug(entry: { tnx?: string } | undefined, text: unknown): void {
    const [line = ''] = String(text).split('\n');
    if (entry?.tnx === 'client') commandSent(line);
    if (entry?.tnx === 'server') answered(line);
  }

  const nothing = () => {};
  return { level: nothing, trace: nothing, debug, info: nothing, warn: nothing, error: nothing, fatal: nothing };
}

async function writeToFile(
  { config: { outboxDir }, logger }: Needs,
  { id, createdAt }: FinishedMail,
  message: SendMailOptions,
): Promise<SendOutcome> {
  try {
    const { createTransport } = await import('./nodemailer.ts');
    const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const composed = await composer.sendMail(message);
    // The name is the same when the mail is written again after a crash; the rename makes the file appear complete.
    const stamp = createdAt.toISOString().replace(/[-:]|\..*/g, '');
    const file = path.join(outboxDir, `${stamp}-${id}.eml`);
    await mkdir(outboxDir, { recursive: true, mode: 0o700 });
    await writeFile(`${file}.part`, composed.message, { mode: 0o600 });
    await rename(`${file}.part`, file);
    logger.info({ file }, 'no mail server is set: the email was written to a file');
    return { outcome: 'sent', answer: file };
  } catch (error) {
    return { outcome: 'no-server', cause: 'folder', reason: messageOf(error), step: 'message' };
  }
}

function envelopeOf(
  { id, to, subject, text, html, logo, sender }: FinishedMail,
  { config: { issuer }, mailServer }: Needs,
): SendMailOptions {
  return {
    from: mailServer.sender(sender),
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

interface SmtpError {
  code?: unknown;
  originalCode?: unknown;
  command?: unknown;
  responseCode?: unknown;
  response?: unknown;
}

// RFC 5321, section 4.2.1: a 5yz reply about this recipient or content is final, a 4yz reply is not. Everything else (no
// connection, no TLS, failed authentication, MAIL FROM rejected, 421) is the same for every message.
function outcomeOf(error: unknown, withoutPassword: (text: string) => string): SendOutcome {
  const { code, originalCode, command, responseCode, response } = error as SmtpError;
  const isMailReply = typeof response !== 'string' || REPLY.test(response);
  const reason = isMailReply ? withoutPassword(messageOf(error)) : 'the server does not answer as a mail server';
  const reply = typeof responseCode === 'number' ? responseCode : undefined;
  if (code === 'EAUTH' && reply === undefined)
    return { outcome: 'no-server', cause: 'credentials', reason, step: 'credentials' };
  if (command === 'API') return { outcome: 'rejected', isFinal: true, reason, step: 'message' }; // by nodemailer, before anything was sent
  const isAboutMessage = command === 'RCPT TO' || command === 'DATA';
  if (isAboutMessage && reply !== undefined && reply !== 421)
    return {
      outcome: 'rejected',
      isFinal: reply >= 500,
      reason,
      step: command === 'DATA' ? 'message' : 'recipient',
    };
  const isTemporary = reply !== undefined && reply < 500;
  const [cause, step] = failureOf(String(code), String(originalCode), String(command));
  return { outcome: 'no-server', cause: isTemporary ? 'busy' : cause, reason, step };
}

function failureOf(code: string, originalCode: string, command: string): [NoServerCause, MailStep] {
  if (command === 'MAIL FROM') return ['sender', 'sender'];
  if (command === 'RCPT TO') return ['connection', 'recipient'];
  if (command === 'DATA') return ['connection', 'message'];
  if (code === 'EAUTH') return ['credentials', 'credentials'];
  // The names that OpenSSL and Node give to what is wrong with a certificate.
  if (/CERT|SELF_SIGNED|UNABLE_TO|HOSTNAME|INVALID_CA/.test(originalCode)) return ['certificate', 'encryption'];
  if (code === 'ETLS' || /SSL|TLS/.test(originalCode)) return ['encryption', 'encryption'];
  return ['connection', 'connection'];
}

const MAX_REPLY = 300;

/** Hides the password in each form in which SMTP sends it, as a server may repeat what it got (RFC 4954, RFC 4616), and cuts long text. */
function passwordHider({ username = '', password }: SmtpServer): (text: string) => string {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const secrets = password ? [password, base64(password), base64(`\0${username}\0${password}`)] : [];
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text).slice(0, MAX_REPLY);
}
