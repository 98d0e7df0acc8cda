// /api/admin/mail: the outbox, without the texts of the mails; the test email of an administrator, sent at once, so that the page can display
// the answer of the mail server; and the texts of all mails with example data.

import { z } from 'zod';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Base } from '../../base/base.ts';
import { invalidInput, notFound, tooManyRequests } from '../../base/http/errors.ts';
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import { viewsDir } from '../../base/platform/package.ts';
import { randomId } from '../../base/platform/random.ts';
import { fromTimeCursor, toTimeCursor } from '../../base/storage/cursors.ts';
import { transaction } from '../../base/storage/database.ts';
import { rule, textFault } from '../../base/texts/faults.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import { inLanguage, type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { plainText } from '../../core/mail/content.ts';
import { createHtmlRenderer, LOGO_ID } from '../../core/mail/html.ts';
import { addressOf, type MailServer, type SmtpServer, senderText } from '../../core/mail/mail-server.ts';
import { countUnsentMail, mailOf } from '../../core/mail/message-store.ts';
import {
  compose,
  type FactorChange,
  type MailKind,
  type MailMessage,
  mailLanguage,
  type Recipient,
} from '../../core/mail/messages.ts';
import {
  MAX_SELECTOR,
  publicDomainOf,
  SELECTOR,
  type SenderRecord,
  senderRecords,
} from '../../core/mail/sender-records.ts';
import { createMailTransport, type MailAnswers, mailSteps, type SendOutcome } from '../../core/mail/transport.ts';
import { emailFault, nameAdvice } from '../../people/accounts/names.ts';
import type { People } from '../../people/people.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, done, jsonOf, paged, pageOf, time } from '../api/parts.ts';

const mail = z.object({
  id: z.string(),
  kind: z.string().describe('Such as invitation or password-reset'),
  user_id: z.string().nullable().describe('The account that it is for'),
  recipient: z.string(),
  subject: z.string(),
  state: z.enum(['waiting', 'sent', 'failed']),
  tries: z.int(),
  last_error: z.string().nullable(),
  created_at: time,
  sent_at: time.nullable(),
  written_to_file: z.boolean().describe('No mail server was set: the email is a file, and nobody received it'),
});

export const selectorField = z
  .string()
  .trim()
  .max(MAX_SELECTOR)
  .refine((text) => text === '' || SELECTOR.test(text), rule('dkim-selector'));

/** Of a test: what the mail server did, or why it could not be asked; a text each. */
const testOutcomes = [
  'accepted',
  'written',
  'rejected',
  'busy',
  'connection',
  'certificate',
  'encryption',
  'credentials',
  'sender',
  'folder',
] as const;

/** What a test is sent with. */
export const testInput = z.strictObject({
  to: z.string().trim().max(1000).describe('The address that gets the message'),
  selector: selectorField.optional().describe('Of DKIM; without it the key of the signatures is not looked up'),
});

const tested = z
  .object({
    outcome: z.enum(testOutcomes).describe('written: no mail server is set, and the email is a file'),
    title: z.string(),
    text: z.string().describe('What to do'),
    answer: z.string().describe('Of the mail server, or the file, or why it was not written'),
    failed_step: z.enum(mailSteps).nullable(),
    sender: z.string(),
    records: z
      .array(
        z.object({
          kind: z.enum(['SPF', 'DKIM', 'DMARC']),
          name: z.string().describe('Where it is in the DNS, or belongs'),
          state: z.enum(['good', 'weak', 'absent', 'unknown']),
          text: z.string().describe('What it means, and what to do'),
          value: z.string().nullable().describe('The record, or the one to add'),
        }),
      )
      .describe('What the DNS says about the sender; empty without a mail server or a public domain'),
  })
  .meta({ id: 'MailTest' });

/** A test for the API and the command line, in English. */
export function testJson({ result, records, sender, ...words }: MailTest): z.output<typeof tested> {
  return {
    outcome: words.outcome,
    title: String(words.title),
    text: String(words.text),
    answer: result.outcome === 'sent' ? result.answer : result.reason,
    failed_step: result.outcome === 'sent' ? null : result.step,
    sender,
    records: records.map(({ text, value = null, ...one }) => ({ ...one, text: String(text), value })),
  };
}

/** /mail, /mail/test and /mail/{id}/retry. */
export function mailEndpoints(outbox: MailAdmin): Endpoint[] {
  return [
    endpoint('listMail', 'GET /mail', {
      tag: 'Email',
      needs: ['gatehouse.mail:read'],
      summary: 'Waiting, sent and failed email, newest first; never its text',
      query: z.object({
        ...paged,
        state: z.enum(['waiting', 'sent', 'failed']).optional(),
        user_id: z.string().max(100).optional(),
      }),
      response: pageOf(mail),
      async handle({ query: { limit, cursor, state, user_id: userId } }) {
        const { items, next } = await outbox.list({ limit, after: cursor, state, userId });
        const mails = items.map((one) => jsonOf(mail, one, { written_to_file: one.isFile }));
        return { body: { items: mails, next: next ?? null } };
      },
    }),
    endpoint('testMail', 'POST /mail/test', {
      tag: 'Email',
      needs: ['gatehouse.mail:write'],
      summary: 'Sends a test message, with the answer of the mail server and what SPF, DKIM and DMARC lack',
      body: testInput,
      response: tested,
      handle: async ({ body, by }) => ({ body: testJson(await outbox.sendTest(body, by)) }),
    }),
    endpoint('retryMail', 'POST /mail/{id}/retry', {
      tag: 'Email',
      needs: ['gatehouse.mail:write'],
      summary: 'Queues waiting or failed email again',
      params: byId,
      response: done,
      status: 202,
      async handle({ params, by }) {
        await outbox.retry(params.id, by);
        return { body: { done: true as const } };
      },
    }),
  ];
}

// The outbox: recipients, subjects and delivery; never the text, which holds links and codes. And the test email.

export type MailState = 'waiting' | 'sent' | 'failed';

export interface MailView {
  id: string;
  /** Of the message. */
  kind: string;
  /** The account that it is for. */
  userId: string | null;
  recipient: string;
  subject: string;
  state: MailState;
  tries: number;
  lastError: string | null;
  createdAt: Date;
  sentAt: Date | null;
  /** No mail server was set: it was written to a file, and nobody received it. */
  isFile: boolean;
}

export type MailAdmin = ReturnType<typeof createMailAdmin>;

/** Waiting mail in which the last error is looked for: what was tried is tried again later than what is new. */
const RETRIED = 50;

type MailServices = Core & People & ApplicationServices;

/** Lists mail by cursor, and sends failed mail again. `retry` throws not_found. */
export function createMailAdmin(services: MailServices) {
  const { db, outbox, audit } = services;
  return {
    ...deliveryActions(services),

    async list({
      limit,
      after,
      state,
      userId,
      isOldestFirst = false,
    }: {
      limit: number;
      after?: string | undefined;
      state?: MailState | undefined;
      userId?: string | undefined;
      /** Newest first by default. */
      isOldestFirst?: boolean;
    }): Promise<{ items: MailView[]; next?: string }> {
      const place = fromTimeCursor(after);
      const [beyond, orSame, order] = isOldestFirst
        ? (['gt', 'gte', 'asc'] as const)
        : (['lt', 'lte', 'desc'] as const);
      const isAfter = place && {
        createdAt: { [orSame]: place.at },
        OR: [{ createdAt: { [beyond]: place.at } }, { id: { [beyond]: place.id } }],
      };
      const rows = await db.mailMessage.findMany({
        where: { AND: [mailOf[state ?? 'any'], userId === undefined ? {} : { userId }, isAfter ?? {}] },
        orderBy: [{ createdAt: order }, { id: order }],
        take: limit + 1,
        omit: { bodySealed: true },
      });
      const items = rows.slice(0, limit).map(viewOf);
      const last = items.at(-1);
      const isLast = rows.length <= limit;
      return isLast || !last ? { items } : { items, next: toTimeCursor(last.createdAt, last.id) };
    },

    /** The newest email of a kind to a user. */
    async lastTo(userId: string, kind: MailKind): Promise<MailView | undefined> {
      const where = { userId, kind };
      const row = await db.mailMessage.findFirst({ where, orderBy: { createdAt: 'desc' }, omit: { bodySealed: true } });
      return row ? viewOf(row) : undefined;
    },

    async retry(id: string, by: Actor): Promise<void> {
      await transaction(db, async (tx) => {
        if (!(await outbox.retry(id, tx))) throw notFound({ message: t('console.mail.fault.no-mail') });
        await audit.record({ ...by, type: 'mail.retried', outcome: 'success', data: { mail: id } }, tx);
      });
    },
  };
}

type Row = Omit<MailView, 'state'> & { failedAt: Date | null; nextTryAt: Date };

const viewOf = ({ failedAt, nextTryAt: _next, ...row }: Row): MailView => ({
  ...row,
  state: row.sentAt ? 'sent' : failedAt ? 'failed' : 'waiting',
});

/** The state of the delivery, and a test of it. */
function deliveryActions(services: MailServices) {
  const { db, audit, brand, brandImages, config, mailLimits, mailServer, resolveTxt, texts } = services;
  const testMail = createTestMail(services, { texts, brand: brand.current, readPicture: brandImages.read });
  const sender = () => mailServer.sender(brand.current()?.name);
  return {
    /** The mail server and the sender, or the folder of the outbox. */
    server() {
      const server = mailServer.current();
      return { host: server && addressOf(server), sender: senderText(sender()), folder: config.outboxDir };
    },
    templates: testMail,

    /** How many mails wait and failed, and the last error. */
    async state(): Promise<{ waiting: number; failed: number; lastError: string | null }> {
      const select = { lastError: true, createdAt: true } as const;
      const [counts, waitingOnes, failedOnes] = await Promise.all([
        countUnsentMail(db),
        db.mailMessage.findMany({ where: mailOf.waiting, orderBy: { nextTryAt: 'desc' }, take: RETRIED, select }),
        db.mailMessage.findMany({ where: mailOf.failed, orderBy: { failedAt: 'desc' }, take: 1, select }),
      ]);
      const [last] = [...waitingOnes, ...failedOnes]
        .filter(({ lastError }) => lastError !== null)
        .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
      return { ...counts, lastError: last?.lastError ?? null };
    },

    /** Sends a fixed text, and says what the DNS says about the sender. Throws invalid_input, and too_many_requests. */
    async sendTest({ to, selector }: { to: string; selector?: string | undefined }, by: Actor): Promise<MailTest> {
      const wrong = emailFault(to);
      if (wrong) throw invalidInput([textFault(['to'], nameAdvice(wrong))]);
      // Also by the actor, who could flood many addresses with it.
      for (const counted of [to, by.actorId ?? by.actorApp ?? 'server']) {
        const decision = await mailLimits.to(counted, 'test');
        if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds);
      }
      const server = await mailServer.forMail();
      const domain = publicDomainOf(sender().address);
      const [{ result, answers }, records] = await Promise.all([
        testMail.send({ email: to }),
        server && domain
          ? senderRecords(resolveTxt, domain, { host: server.host, selector: selector || undefined })
          : [],
      ]);
      const isSent = result.outcome === 'sent';
      const data = { message: 'test', recipient: to };
      const about = isSent ? {} : { reason: result.reason };
      const type = isSent ? 'mail.sent' : 'mail.failed';
      await audit.record({
        ...by,
        type,
        outcome: isSent ? 'success' : 'failure',
        ...about,
        data,
      });
      const from = senderText(sender());
      const words = wordsOf(result, { to, host: server && addressOf(server), sender: from });
      return { ...words, result, answers, tls: server?.tls, username: server?.username, sender: from, domain, records };
    },
  };
}

export interface MailTest {
  outcome: (typeof testOutcomes)[number];
  title: PageText;
  /** What to do. */
  text: PageText;
  result: SendOutcome;
  answers: MailAnswers;
  /** Of the mail server; undefined for a file. */
  tls: SmtpServer['tls'] | undefined;
  username: string | undefined;
  sender: string;
  /** Of the sender, if it is public. */
  domain: string | undefined;
  records: SenderRecord[];
}

/** What happened, and what to do. */
function wordsOf(
  result: SendOutcome,
  { to, host, sender }: { to: string; host: string | undefined; sender: string },
): Pick<MailTest, 'outcome' | 'title' | 'text'> {
  const answer = result.outcome === 'sent' ? result.answer : result.reason;
  const texts = {
    accepted: [t('console.mail.test.accepted'), t('console.mail.test.accepted-text', { email: to })],
    written: [t('console.mail.test.written'), t('console.mail.test.written-text', { file: answer })],
    rejected: [t('console.mail.test.rejected'), t('console.mail.test.rejected-text', { email: to })],
    busy: [t('console.mail.test.busy'), t('console.mail.test.busy-text')],
    connection: [t('console.mail.test.connection', { host: host ?? '' }), t('console.mail.test.connection-text')],
    certificate: [t('console.mail.test.certificate'), t('console.mail.test.certificate-text')],
    encryption: [t('console.mail.test.encryption'), t('console.mail.test.encryption-text')],
    credentials: [t('console.mail.test.credentials'), t('console.mail.test.credentials-text')],
    sender: [t('console.mail.test.sender'), t('console.mail.test.sender-text', { sender })],
    folder: [t('console.mail.test.folder'), t('console.mail.test.folder-text', { reason: answer })],
  } as const satisfies Record<MailTest['outcome'], readonly [PageText, PageText]>;
  const outcome = outcomeOf(result, host);
  const [title, text] = texts[outcome];
  return { outcome, title, text };
}

function outcomeOf(result: SendOutcome, host: string | undefined): MailTest['outcome'] {
  if (result.outcome === 'sent') return host === undefined ? 'written' : 'accepted';
  if (result.outcome === 'no-server') return result.cause;
  return result.isFinal ? 'rejected' : 'busy';
}

/** What each kind of mail is called in the console. */
export const templateName = (kind: MailKind): PageText => t(`console.mail.template.${kind}`);

/** The parts of a mail. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

export interface ExampleLook {
  /** That of the settings by default. */
  brand?: () => BrandLook | undefined;
  /** By default that of the reader's mail program. */
  mode?: 'light' | 'dark';
}

export interface TestMailOptions {
  brand: () => BrandLook | undefined;
  /** The texts that an administrator wrote; none by default. */
  texts?: () => MessageSource | undefined;
  readPicture(name: string): Promise<Buffer | undefined>;
}

/** Short limits, because an administrator waits for the page. */
const LIMITS = { timeoutMs: 8000, totalMs: 15_000 };

export function createTestMail(
  services: Base & { mailServer: MailServer },
  { brand, texts = () => undefined, readPicture }: TestMailOptions,
) {
  const { now } = services;
  const { issuer } = services.config;
  const renderHtml = createHtmlRenderer(viewsDir);
  const rendered = (message: MailMessage, language: string, { brand: brandOf = brand, mode }: ExampleLook = {}) => {
    const look = brandOf();
    const write = (): RenderedMail => {
      const content = compose(message, issuer, look?.name);
      return { subject: content.subject, text: plainText(content), html: renderHtml(content, look, mode) };
    };
    return inLanguage(language, write, texts());
  };
  return {
    /** Sends a test email, and waits for the answer of the mail server for some seconds. */
    async send(to: Recipient): Promise<{ result: SendOutcome; answers: MailAnswers }> {
      const transport = createMailTransport(services, LIMITS);
      const answers: MailAnswers = new Map();
      const mail = rendered({ kind: 'test', to, at: now() }, SOURCE_LANGUAGE);
      const name = brand()?.mailLogo;
      const content = name && (await readPicture(name));
      const logo = content ? { name, content } : undefined;
      const finished = { id: randomId(), to: to.email, createdAt: now(), ...mail, logo, sender: brand()?.name };
      return { result: await transport.send(finished, answers), answers };
    },

    /** Every kind of mail. */
    kinds: Object.keys(examples) as MailKind[] as readonly MailKind[],
    /** The mail with example data; its links lead nowhere. @param language the language, for mails that are translated; English by default */
    example(
      kind: MailKind,
      language: string = SOURCE_LANGUAGE,
      { brand: brandOf = brand, mode }: ExampleLook = {},
    ): RenderedMail {
      const message = examples[kind](now());
      const recipient: Recipient = { ...message.to, pageLanguage: language };
      const mail = rendered(message, mailLanguage({ ...message, to: recipient }), { brand: brandOf, mode });
      // A browser cannot load `cid:` URLs (RFC 2392).
      return { ...mail, html: mail.html.replace(`src="cid:${LOGO_ID}"`, `src="${brandOf()?.logo}"`) };
    },
  };
}

const to: Recipient = { email: 'ann@example.com', username: 'ann', name: 'Ann Example' };
const token = 'example';
const place = (at: Date) => ({
  at,
  address: '192.0.2.14',
  browser: t('browser.on', { browser: 'Firefox', system: 'Windows' }),
});
const inDays = (at: Date, days: number) => new Date(at.getTime() + days * 86_400_000);
const change: FactorChange = 'passkey-added';

const examples: Record<MailKind, (at: Date) => MailMessage> = {
  invitation: () => ({ kind: 'invitation', to, token, hours: 72 }),
  registration: () => ({ kind: 'registration', to, token, hours: 24 }),
  'already-registered': () => ({ kind: 'already-registered', to }),
  'verify-email': () => ({ kind: 'verify-email', to, token, hours: 24 }),
  'confirm-new-email': () => ({ kind: 'confirm-new-email', to, token, hours: 24 }),
  'email-taken': () => ({ kind: 'email-taken', to }),
  'email-changed': (at) => ({ kind: 'email-changed', to, newEmail: 'new@example.com', place: place(at) }),
  'password-reset': () => ({ kind: 'password-reset', to, token, minutes: 20 }),
  'no-password-here': () => ({ kind: 'no-password-here', to }),
  'password-changed': (at) => ({ kind: 'password-changed', to, by: 'owner', place: place(at) }),
  unlock: () => ({ kind: 'unlock', to, token, minutes: 20 }),
  'one-time-code': () => ({ kind: 'one-time-code', to, code: '123 456', minutes: 10 }),
  'event-alert': (at) => ({
    kind: 'event-alert',
    to,
    stream: 'Security',
    count: 2,
    listed: [
      { at, text: 'root gave ann the role admin' },
      { at, text: 'ann removed her passkey' },
    ],
  }),
  'event-stream-paused': () => ({
    kind: 'event-stream-paused',
    to,
    stream: 'HR system',
    streamId: 'example',
    detail: 'answered with status 503',
  }),
  'new-sign-in': (at) => ({ kind: 'new-sign-in', to, place: place(at) }),
  'factor-changed': (at) => ({ kind: 'factor-changed', to, change, place: place(at) }),
  'group-request': () => ({
    kind: 'group-request',
    to,
    group: 'Lab',
    groupId: 'example',
    username: 'zoe',
    name: 'Zoe',
    application: 'Wiki',
  }),
  'group-invitation': (at) => ({
    kind: 'group-invitation',
    to,
    inviter: 'zoe',
    group: 'Lab',
    memberUntil: inDays(at, 30),
    token,
    until: inDays(at, 7),
  }),
  'group-owner': (at) => ({ kind: 'group-owner', to, group: 'Lab', groupId: 'example', until: inDays(at, 30) }),
  'group-answer': (at) => ({ kind: 'group-answer', to, group: 'Lab', isGranted: true, until: inDays(at, 14) }),
  'account-end': (at) => ({ kind: 'account-end', to, until: inDays(at, 7) }),
  'account-unused': (at) => ({
    kind: 'account-unused',
    to,
    since: inDays(at, -76),
    until: inDays(at, 14),
    isDisabled: false,
  }),
  'accounts-end': (at) => ({ kind: 'accounts-end', to, accounts: [{ name: 'Zoe Example', until: inDays(at, 7) }] }),
  deletion: (at) => ({ kind: 'deletion', to, until: inDays(at, 14) }),
  'membership-end': (at) => ({ kind: 'membership-end', to, of: 'group', name: 'Lab', until: inDays(at, 7) }),
  'members-end': (at) => ({
    kind: 'members-end',
    to,
    group: 'Lab',
    groupId: 'example',
    members: [{ name: 'Zoe Example', until: inDays(at, 7) }],
  }),
  'saml-certificate': (at) => ({
    kind: 'saml-certificate',
    to,
    application: 'Payroll',
    isNextPublished: true,
    until: inDays(at, 30),
  }),
  provisioning: () => ({
    kind: 'provisioning',
    to,
    problem: 'stopped',
    application: 'Wiki',
    applicationId: 'example',
    detail: '120 of 400',
  }),
  'saml-metadata': () => ({
    kind: 'saml-metadata',
    to,
    application: 'Payroll',
    applicationId: 'example',
    state: 'waiting',
    changes: ['signing certificates'],
  }),
  'connection-end': (at) => ({
    kind: 'connection-end',
    to,
    connection: 'Okta',
    connectionId: 'okta',
    text: 'The client secret of Okta expires in 14 days.',
    until: inDays(at, 14),
  }),
  'connection-rejected': () => ({
    kind: 'connection-rejected',
    to,
    connection: 'Example Corp',
    connectionId: 'corp',
    isDirectory: true,
    detail: '80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data 52e, v1db1',
  }),
  'integrity-alarm': (at) => ({ kind: 'integrity-alarm', to, message: 'a row of users', at }),
  test: (at) => ({ kind: 'test', to, at }),
};
