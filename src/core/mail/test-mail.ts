// The test email of an administrator. It is sent at once, so that the page can display the answer of the mail server. Also the
// texts of all mails with example data.
import type { Base } from '../../base/base.ts';
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import { viewsDir } from '../../base/platform/package.ts';
import { randomId } from '../../base/platform/random.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import { inLanguage, t } from '../../base/texts/text.ts';
import { plainText } from './content.ts';
import { createHtmlRenderer, LOGO_ID } from './html.ts';
import type { MailServer } from './mail-server.ts';
import {
  compose,
  type FactorChange,
  type MailKind,
  type MailMessage,
  mailLanguage,
  type Recipient,
} from './messages.ts';
import { createMailTransport, type MailAnswers, type SendOutcome } from './transport.ts';

/** The parts of a mail. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

export type TestMail = ReturnType<typeof createTestMail>;

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
      return { subject: content.subject, text: plainText(content, look?.name), html: renderHtml(content, look, mode) };
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
