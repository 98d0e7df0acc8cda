// Every mail that the service sends. A caller names the facts of a message. Its text is in views/texts/<language>/mail.json, and here for
// administrators (English). Links are made here from the issuer and a token, so that neither a caller nor a Host header can change where
// they lead.

import { fullName } from '../../base/http/pages/tokens.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { allLanguages, bestLanguage, SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import type { NamesBelow } from '../../base/texts/text.ts';
import type { MailContent } from './content.ts';
import {
  describeDay,
  describeTime,
  facts,
  greeting,
  maskEmail,
  type Place,
  personOf,
  short,
  withoutLink,
  words,
} from './wording.ts';

// The mails to administrators about a secret or certificate of a connection that ends, and about one that was rejected.

/** What the mail contains. */
interface ConnectionEndNotice {
  /** Name and ID; absent for a certificate of this server. */
  connection?: string;
  connectionId?: string;
  /** One sentence: what ends, of which connection, and when. */
  text: string;
  until: Date;
}

interface ConnectionRejectedNotice {
  connection: string;
  connectionId: string;
  /** What the upstream answered. */
  detail: string;
  /** Else it is an OpenID Connect or OAuth 2.0 provider. */
  isDirectory: boolean;
}

/** People are not written to an application any more. */
interface ProvisioningNotice {
  problem: 'paused' | 'stopped';
  application: string;
  applicationId: string;
  /** What it answered, or how many would lose their accounts of how many. */
  detail: string;
}

interface Parts<Notice> {
  message: Notice;
  hello: string;
  host: string;
  /** An address of this server. */
  link(path: string): string;
}

/** The line below the subject is the name of the server, and nothing follows the button, where a text does not say so. */
type MailText = Omit<MailContent, 'sender' | 'service' | 'preheader' | 'after'> &
  Partial<Pick<MailContent, 'preheader' | 'after'>>;

/** Its text, and a link to the page of the console that helps. */
function connectionEndText({ message, hello, host, link }: Parts<ConnectionEndNotice>): MailText {
  const { connection, connectionId, text, until } = message;
  const day = describeDay(until);
  const name = connection === undefined ? undefined : short(connection);
  const advice =
    name === undefined
      ? 'After that day, some identity providers will reject this server. Publish the next certificate, ask each identity provider to update the metadata of this server, then activate the certificate.'
      : `After that day, people can’t sign in with ${name}. Create a new one at the provider and add it here. The old one can stay until then.`;
  return {
    subject: `${name === undefined ? 'A SAML certificate of this server' : `A secret or certificate of ${name}`} expires on ${day}`,
    preheader: host,
    paragraphs: [hello, text, advice],
    action: {
      label: 'Open in console',
      url: link(name === undefined ? '/admin/keys' : `/admin/connections/${connectionId ?? ''}`),
    },
  };
}

/** The password of the account that searches a directory is wrong, or the account may not sign in; or a client secret is wrong. */
function connectionRejectedText({ message, hello, host, link }: Parts<ConnectionRejectedNotice>): MailText {
  const name = short(message.connection);
  const action = { label: 'Open in console', url: link(`/admin/connections/${message.connectionId}`) };
  if (!message.isDirectory)
    return {
      subject: `${name} rejected the client ID or secret, so people can’t sign in with it`,
      preheader: host,
      paragraphs: [
        hello,
        `${name} rejected the client ID or the secret of Gatehouse: ${short(message.detail)}`,
        'The secret may have expired or been replaced at the provider. Until you add the right one in the console, people can’t sign in with this connection.',
      ],
      action,
    };
  return {
    subject: `${name} rejected its password, so people can’t sign in with it`,
    preheader: host,
    paragraphs: [
      hello,
      `${name} rejected the password of the account that searches the directory: ${short(message.detail)}`,
      'Gatehouse doesn’t send this password again, because that could lock the account. Until you add the right one in the console, people can’t sign in with this connection. If the password is right and the account was locked or disabled, choose Try it there once that has ended.',
    ],
    action,
  };
}

export interface Recipient {
  email: string;
  /** The account, for the audit log. */
  userId?: string;
  username?: string;
  name?: string | null;
  /** The claim `locale`: a mail is in this language, as far as it is available. */
  locale?: string | null | undefined;
  /** The language of the page on which the recipient requested the mail; comes after `locale`. */
  pageLanguage?: string | undefined;
  /** The client ID or entity ID of the application whose brand the mail has. */
  application?: string | undefined;
}

interface Owner {
  id: string;
  username: string;
  name: string | null;
  givenName?: string | null;
  familyName?: string | null;
  email: string | null;
  locale?: string | null;
}

/** The owner of an account; undefined without an address. `request`: by which the owner asked for the mail. */
export function recipientOf(
  account: Owner,
  request?: Pick<RequestInfo, 'language' | 'application'>,
): Recipient | undefined {
  const { id, username, email, locale } = account;
  const { language: pageLanguage, application } = request ?? {};
  const name = fullName(account);
  return email === null ? undefined : { email, userId: id, username, name, locale, pageLanguage, application };
}

/** Mails about the work of administrators are in English, as the console is. */
export const administratorMails: readonly MailKind[] = [
  'accounts-end',
  'connection-end',
  'connection-rejected',
  'event-alert',
  'event-stream-paused',
  'integrity-alarm',
  'saml-certificate',
  'saml-metadata',
  'test',
];

/** The language of a mail. */
export function mailLanguage({ kind, to }: MailMessage, { tags, standard } = allLanguages): string {
  if (administratorMails.includes(kind)) return SOURCE_LANGUAGE;
  const wishes = [to.locale, to.pageLanguage].flatMap((wish) => (wish ? [wish] : []));
  return bestLanguage(wishes, tags) ?? standard;
}

export type FactorChange = NamesBelow<'mail.factor'>;

export interface RemovedMethod {
  /** Absent: all of them. `name`: of a passkey. */
  method?: { kind: 'passkey' | 'totp' | 'phone' | 'recovery-codes'; name: string | null };
  /** No way to sign in is left. */
  isLockedOut: boolean;
}

/** What is sent to every administrator. */
export type AdministratorMail =
  | { kind: 'accounts-end'; accounts: readonly { name: string; until: Date }[] }
  | { kind: 'integrity-alarm'; message: string; at: Date }
  | ({ kind: 'provisioning' } & ProvisioningNotice)
  | ({ kind: 'saml-metadata' } & MetadataNotice)
  | ({ kind: 'connection-end' } & ConnectionEndNotice)
  | ({ kind: 'connection-rejected' } & ConnectionRejectedNotice)
  /** `detail`: what the receiver answered. */
  | { kind: 'event-stream-paused'; stream: string; streamId: string; detail: string };

/** `isSent`: by an administrator; else the person requested it. */
export type MailMessage = { to: Recipient } & (
  | { kind: 'password-reset'; token: string; minutes: number; isSent?: boolean }
  | { kind: 'no-password-here'; other?: { name: string; isDirectory: boolean } | undefined }
  | { kind: 'password-changed'; by: 'link' | 'owner' | 'admin'; place: Place }
  | { kind: 'verify-email'; token: string; hours: number }
  | { kind: 'confirm-new-email'; token: string; hours: number }
  | { kind: 'email-taken' }
  | { kind: 'email-changed'; newEmail: string; place: Place }
  /** `message`: what the administrator adds. */
  | { kind: 'invitation'; token: string; hours: number; message?: string | undefined }
  | { kind: 'registration'; token: string; hours: number }
  | { kind: 'already-registered' }
  | { kind: 'unlock'; token: string; minutes: number }
  | { kind: 'factor-changed'; change: FactorChange; place: Place; removed?: RemovedMethod | undefined }
  | { kind: 'new-sign-in'; place: Place }
  | { kind: 'one-time-code'; code: string; minutes: number }
  | {
      kind: 'group-request';
      group: string;
      groupId: string;
      username: string;
      name: string | null;
      application: string;
    }
  | {
      kind: 'group-invitation';
      /** The username. */
      inviter: string;
      group: string;
      memberUntil: Date | null;
      token: string;
      /** Of the link. */
      until: Date;
    }
  | { kind: 'group-owner'; group: string; groupId: string; until: Date | null }
  | { kind: 'group-answer'; group: string; isGranted: boolean; until: Date | null }
  | { kind: 'account-end'; until: Date }
  | { kind: 'account-unused'; since: Date; until: Date; isDisabled: boolean }
  | { kind: 'deletion'; until: Date }
  | { kind: 'membership-end'; of: 'group' | 'role'; name: string; until: Date }
  | { kind: 'members-end'; group: string; groupId: string; members: readonly { name: string; until: Date }[] }
  | AdministratorMail
  | { kind: 'saml-certificate'; application: string; until: Date; isNextPublished: boolean }
  /** Events of the audit log that a stream sends by mail; `listed`: the first ones. */
  | { kind: 'event-alert'; stream: string; count: number; listed: readonly { at: Date; text: string }[] }
  | { kind: 'test'; at: Date }
);

export type MailKind = MailMessage['kind'];

/** The content of a message: its text and its link. `brandName`: how the texts for people name this server. */
export function compose(message: MailMessage, issuer: string, brandName?: string): MailContent {
  const known = factsOf(message, issuer, brandName);
  const text = texts[message.kind] as (known: Facts<MailMessage>) => MailText;
  return { sender: known.server, service: known.host, preheader: known.server, after: [], ...text(known) };
}

type Closing = Pick<MailText, 'action' | 'after'>;

/** Of a change that an administrator made: without the browser and the address, which are those of the administrator. */
const byAdministrator = ({ at }: Place, method?: RemovedMethod['method']): Pick<MailText, 'facts' | 'after'> => ({
  facts: [...(method ? [{ label: words('mail.method'), value: methodName(method) }] : []), ...facts({ at })],
  after: [words('mail.by-administrator.after')],
});

function methodName({ kind, name }: NonNullable<RemovedMethod['method']>): string {
  if (kind === 'passkey') return words('mail.method.passkey', { name: withoutLink(name) || 'none' });
  return words(METHODS[kind]);
}
const METHODS = { totp: 'factors.app', phone: 'factors.sms', 'recovery-codes': 'recovery-codes.title' } as const;

type MessageOf<Kind extends MailKind> = Extract<MailMessage, { kind: Kind }>;

/** A message, and what several texts are made of. */
interface Facts<Message> {
  message: Message;
  to: Recipient;
  /** Of the issuer. */
  host: string;
  /** The name of the brand, as on the pages. */
  server: string;
  /** The greeting. */
  hello: string;
  /** For "your account", with its username where it is known. */
  account: { known: string; user: string };
  /** An address of this server. */
  link(path: string, token?: string): string;
  notYou: Closing;
  reviewAccount: Closing;
}

function factsOf<Message extends MailMessage>(message: Message, issuer: string, brandName?: string): Facts<Message> {
  const { to } = message;
  const host = new URL(issuer).host;
  const hello = greeting(to.name);
  const account = { known: to.username ? 'yes' : 'no', user: to.username ?? '' };
  const link = (path: string, token?: string) =>
    `${issuer}${path}${token ? `?token=${encodeURIComponent(token)}` : ''}`;
  const notYou = {
    action: { label: words('mail.reset-action'), url: link('/forgot-password') },
    after: [words('mail.not-you.after')],
  };
  const reviewAccount = {
    action: { label: words('mail.review.action'), url: link('/account') },
    after: [words('mail.review.after'), words('mail.review.mailbox')],
  };
  return { message, to, host, server: brandName || 'Gatehouse', hello, account, link, notYou, reviewAccount };
}

/** Kind of message -> its text. */
const texts: { [Kind in MailKind]: (known: Facts<MessageOf<Kind>>) => MailText } = {
  'password-reset': ({ message, hello, account, link }) => ({
    subject: words('mail.reset.subject'),
    preheader: words('mail.valid-minutes', { minutes: message.minutes }),
    paragraphs: [
      hello,
      ...(message.isSent ? [words('mail.reset.sent')] : []),
      words('mail.reset.text', { ...account, minutes: message.minutes }),
    ],
    action: { label: words('mail.reset.action'), url: link('/reset-password', message.token) },
    after: [words(`mail.reset.${message.isSent ? 'sent-after' : 'after'}`)],
  }),
  'no-password-here': ({ message, hello, account }) => ({
    subject: words('mail.no-password.subject'),
    preheader: words('mail.no-password.preheader'),
    paragraphs: [hello, words('mail.no-password.text', { ...account, advice: passwordElsewhere(message.other) })],
    after: [words('mail.nothing-changed-after')],
  }),
  'password-changed': ({ message, hello, account, notYou, reviewAccount }) => ({
    subject: words('mail.password-changed.subject'),
    preheader: describeTime(message.place.at),
    paragraphs: [hello, words(`mail.password-changed.${message.by}`, account)],
    ...(message.by === 'admin'
      ? byAdministrator(message.place)
      : { facts: facts(message.place), ...(message.by === 'link' ? reviewAccount : notYou) }),
  }),
  'verify-email': ({ message, to, hello, link }) => ({
    subject: words('mail.verify.subject'),
    preheader: words('mail.valid-hours', { hours: message.hours }),
    paragraphs: [hello, words('mail.verify.text', { email: to.email })],
    action: { label: words('mail.verify.action'), url: link('/verify-email', message.token) },
    after: [words('mail.verify.after')],
  }),
  'confirm-new-email': ({ message, to, server, link }) => ({
    subject: words('mail.new-address.subject'),
    preheader: words('mail.valid-hours', { hours: message.hours }),
    // No name: the address is not verified, and the text of a name could be used to send messages to other people.
    paragraphs: [words('mail.hello'), words('mail.new-address.text', { email: to.email, host: server })],
    action: { label: words('mail.verify.action'), url: link('/verify-email', message.token) },
    after: [words('mail.new-address.after')],
  }),
  'email-taken': ({ to, hello, account, server }) => ({
    subject: words('mail.taken.subject'),
    preheader: words('mail.nothing-changed'),
    paragraphs: [hello, words('mail.taken.text', { ...account, email: to.email, host: server })],
    after: [words('mail.nothing-to-do')],
  }),
  'email-changed': ({ message, hello, account }) => ({
    subject: words('mail.address-changed.subject'),
    preheader: describeTime(message.place.at),
    paragraphs: [hello, words('mail.address-changed.text', { ...account, email: maskEmail(message.newEmail) })],
    facts: facts(message.place),
    after: [words('mail.address-changed.after')],
  }),
  invitation: ({ message, to, hello, server, link }) => ({
    subject: words('mail.invitation.subject', { host: server }),
    preheader: words('mail.invitation.preheader'),
    paragraphs: [hello, words('mail.invitation.text', { host: server, user: to.username ?? '' })],
    ...(message.message && {
      quote: { label: words('mail.invitation.message'), lines: message.message.split('\n') },
    }),
    action: { label: words('mail.invitation.action'), url: link('/invitation', message.token) },
    after: [words('mail.invitation.after', { hours: message.hours })],
  }),
  registration: ({ message, server, link }) => ({
    subject: words('mail.registration.subject'),
    preheader: words('mail.valid-hours', { hours: message.hours }),
    paragraphs: [words('mail.hello'), words('mail.registration.text', { host: server })],
    action: { label: words('mail.registration.action'), url: link('/sign-up/finish', message.token) },
    after: [words('mail.registration.after')],
  }),
  'already-registered': ({ to, hello, server, link }) => ({
    subject: words('mail.registered.subject'),
    preheader: words('mail.registered.preheader'),
    paragraphs: [hello, words('mail.registered.text', { host: server, user: to.username ?? '' })],
    action: { label: words('mail.reset-action'), url: link('/forgot-password') },
    after: [words('mail.nothing-changed-after')],
  }),
  unlock: ({ message, hello, account, link }) => ({
    subject: words('mail.unlock.subject'),
    preheader: words('mail.valid-minutes', { minutes: message.minutes }),
    paragraphs: [hello, words('mail.unlock.text', account)],
    action: { label: words('mail.unlock.action'), url: link('/unlock', message.token) },
    after: [words('mail.unlock.after')],
  }),
  'factor-changed': ({ message, hello, server, notYou, link }) => ({
    subject: words(`mail.factor.${message.change}`),
    preheader: describeTime(message.place.at),
    paragraphs: [
      hello,
      words('mail.factor-text', { change: words(`mail.factor.${message.change}`), host: server }),
      ...(message.removed?.isLockedOut ? [words('mail.locked-out')] : []),
    ],
    ...(message.change === 'factors-reset' || message.change === 'factor-removed-by-admin'
      ? byAdministrator(message.place, message.removed?.method)
      : {
          facts: facts(message.place),
          ...(message.change === 'api-key-created' ? apiKeyAdvice(link('')) : notYou),
        }),
  }),
  'new-sign-in': ({ message, hello, account, notYou }) => ({
    subject: words('mail.new-sign-in.subject'),
    preheader: describeTime(message.place.at),
    paragraphs: [hello, words('mail.new-sign-in.text', account)],
    facts: facts(message.place),
    ...notYou,
  }),
  'group-request': ({ message, hello, link }) => ({
    subject: words('mail.group-request.subject', { group: short(message.group) }),
    // Without the reason, which may be any text: the page shows it.
    paragraphs: [
      hello,
      words('mail.group-request.text', {
        person: personOf(message),
        app: short(message.application),
        group: short(message.group),
      }),
    ],
    action: { label: words('mail.group-request.action'), url: link(`/account/groups/${message.groupId}`) },
  }),
  'group-invitation': ({ message: { inviter, group, memberUntil, token, until }, server, link }) => ({
    subject: words('mail.group-invitation.subject', { group: short(group) }),
    // No name of a person, which could be chosen to be a message: the inviter has not chosen the username.
    paragraphs: [
      words('mail.hello'),
      words('mail.group-invitation.text', {
        person: short(inviter),
        group: short(group),
        host: server,
        end: memberUntil ? describeDay(memberUntil) : 'none',
      }),
    ],
    action: { label: words('mail.group-invitation.action'), url: link('/join', token) },
    after: [words('mail.group-invitation.after', { day: describeDay(until) })],
  }),
  'group-owner': ({ message: { group, groupId, until }, hello, link }) => ({
    subject: words('mail.group-owner.subject', { group: short(group) }),
    paragraphs: [
      hello,
      words('mail.group-owner.text', { group: short(group), end: until ? describeDay(until) : 'none' }),
    ],
    action: { label: words('mail.members-end.action'), url: link(`/account/groups/${groupId}`) },
  }),
  'group-answer': ({ message: { group, isGranted, until }, hello, link }) => ({
    subject: words('mail.group-answer.subject', { group: short(group), answer: isGranted ? 'granted' : 'denied' }),
    paragraphs: [
      hello,
      isGranted
        ? words('mail.group-answer.granted', { group: short(group), end: until ? describeDay(until) : 'none' })
        : words('mail.group-answer.denied', { group: short(group) }),
    ],
    action: { label: words('mail.group-answer.action'), url: link('/account/groups') },
  }),
  'account-end': ({ message: { until }, hello, account, link }) => ({
    subject: words('mail.account-end.subject', { day: describeDay(until) }),
    paragraphs: [hello, words('mail.account-end.text', { ...account, at: describeTime(until) })],
    action: { label: words('mail.account-end.action'), url: link('/account') },
    after: [words('mail.account-end.after')],
  }),
  'account-unused': ({ message: { since, until, isDisabled }, hello, account, link }) => ({
    subject: words(`mail.account-unused.${isDisabled ? 'deleted' : 'subject'}`, { day: describeDay(until) }),
    paragraphs: [
      hello,
      words(`mail.account-unused.${isDisabled ? 'deleted-text' : 'text'}`, {
        ...account,
        since: describeDay(since),
        day: describeDay(until),
      }),
    ],
    ...(!isDisabled && { action: { label: words('mail.account-unused.action'), url: link('/account') } }),
    after: isDisabled ? [] : [words('mail.account-unused.after')],
  }),
  'accounts-end': ({ message: { accounts }, hello, host, link }) => ({
    subject: accounts.length === 1 ? 'An account ends soon' : `${accounts.length} accounts end soon`,
    preheader: host,
    paragraphs: [
      hello,
      `These people can sign in at ${host} until the day shown, unless you choose a later one. They were told by email:`,
    ],
    facts: accounts.map(({ name, until }) => ({ label: short(name), value: describeDay(until) })),
    action: { label: 'Open users', url: link('/admin/users?state=ending') },
  }),
  deletion: ({ message: { until }, hello, server, link }) => ({
    subject: words('mail.deletion.subject', { day: describeDay(until) }),
    paragraphs: [hello, words('mail.deletion.text', { host: server, day: describeDay(until) })],
    action: { label: words('deletion.keep'), url: link('/account/data') },
    after: [words('mail.deletion.after')],
  }),
  'membership-end': ({ message: { of, name, until }, hello }) => ({
    subject: words('mail.membership-end.subject', { of, name: short(name), day: describeDay(until) }),
    paragraphs: [hello, words('mail.membership-end.text', { of, name: short(name), at: describeTime(until) })],
    after: [words('mail.membership-end.after')],
  }),
  'members-end': ({ message: { group, groupId, members }, hello, link }) => ({
    subject: words('mail.members-end.subject', { group: short(group) }),
    paragraphs: [hello, words('mail.members-end.text', { group: short(group) })],
    facts: members.map(({ name, until }) => ({ label: short(name), value: describeDay(until) })),
    action: { label: words('mail.members-end.action'), url: link(`/account/groups/${groupId}`) },
  }),
  'saml-certificate': ({ message, host, link }) => ({
    subject: `A SAML certificate expires on ${describeDay(message.until)}`,
    preheader: 'Your application needs the next certificate before that day.',
    paragraphs: [
      'Hello,',
      `You’re a contact for ${short(message.application)}, which signs people in with ${host}. The certificate that signs its SAML messages expires on ${describeDay(message.until)}.`,
      message.isNextPublished
        ? 'The metadata already contains the next certificate. Update the metadata in your application:'
        : 'The metadata will contain the next certificate before that day. If your application doesn’t update it automatically, check again soon:',
    ],
    action: { label: 'Open metadata', url: link('/saml/metadata') },
    after: ['If someone else now manages this application, forward this email.'],
  }),
  'saml-metadata': ({ message, hello, host, link }) => {
    const { subject, text, path } = metadataTexts[message.state](short(message.application), message);
    return {
      subject,
      preheader: host,
      paragraphs: [
        hello,
        text,
        ...(message.changes.length > 0 ? [`What changed: ${message.changes.join(', ')}.`] : []),
      ],
      action: { label: 'Open in console', url: link(`/admin/applications/${message.applicationId}${path}`) },
    };
  },
  provisioning: ({ message, hello, host, link }) => {
    const name = short(message.application);
    const isStopped = message.problem === 'stopped';
    return {
      subject: isStopped ? `Too many people would lose their accounts at ${name}` : `Provisioning of ${name} is paused`,
      preheader: host,
      paragraphs: [
        hello,
        isStopped
          ? `${message.detail} people would be deactivated or deleted at ${name}. Nobody is, until an administrator says so. If this is a mistake, correct who may open the application.`
          : `${name} has accepted no change of people for three days: ${short(message.detail)}. Nothing is sent to it until you resume.`,
      ],
      action: { label: 'Open in console', url: link(`/admin/applications/${message.applicationId}/provisioning`) },
    };
  },
  'connection-end': connectionEndText,
  'connection-rejected': connectionRejectedText,
  'event-alert': ({ message: { stream, count, listed }, host, server, link }) => ({
    subject: `${short(stream)}: ${count === 1 ? short(listed[0]?.text ?? 'an event', 150) : `${count} events`}`,
    preheader: host,
    paragraphs: [
      'Hello,',
      `In the activity log of ${server}:`,
      ...(count > listed.length ? [`These are the first ${listed.length} of ${count}.`] : []),
    ],
    facts: listed.map(({ at, text }) => ({ label: describeTime(at), value: text })),
    action: { label: 'Open activity log', url: link('/admin/audit') },
    after: ['An administrator chose the events and your address, under Monitoring > Event streams.'],
  }),
  'event-stream-paused': ({ message, hello, host, link }) => ({
    subject: `Events can’t be sent to ${short(message.stream)}`,
    preheader: host,
    paragraphs: [
      hello,
      `The event stream ${short(message.stream)} is paused, because its receiver doesn’t take the events: ${short(message.detail)}`,
      'No event is lost: they stay in the audit log, and are sent when you resume the stream.',
    ],
    action: { label: 'Open in console', url: link(`/admin/event-streams/${message.streamId}`) },
  }),
  test: testMailText,
  'integrity-alarm': ({ message, hello, host, link }) => ({
    subject: `Alarm: the database of ${host} was changed`,
    preheader: describeTime(message.at),
    paragraphs: [
      hello,
      `The server found data in its database that it didn’t write: ${short(message.message)}`,
      'A person or a program may have changed the database directly. Run `gatehouse audit verify` on the server. Then compare the database with a backup and with the server log.',
    ],
    action: { label: 'Open activity log', url: link('/admin/audit') },
    after: ['If you restored a backup, see “Backup and restore” in the documentation.'],
  }),
  'one-time-code': ({ message, hello, server }) => ({
    subject: words('mail.code.subject'),
    preheader: words('mail.code.preheader', { minutes: message.minutes }),
    paragraphs: [hello, words('mail.code.text', { host: server })],
    code: message.code,
    after: [words('mail.code.after')],
  }),
};

/** The button and the advice. */
function apiKeyAdvice(issuer: string) {
  return {
    action: { label: words('mail.api-key.action'), url: `${issuer}/admin/api-keys` },
    after: [words('mail.api-key.after')],
  };
}

/** A sentence for the mail; `other` is the connection that the user signs in with, undefined while none of them is enabled. */
function passwordElsewhere(other: { name: string; isDirectory: boolean } | undefined): string {
  if (!other) return words('mail.elsewhere.none');
  const name = short(other.name);
  return other.isDirectory ? words('mail.elsewhere.directory', { name }) : words('mail.elsewhere.connection', { name });
}

function testMailText(known: {
  message: { at: Date };
  hello: string;
  host: string;
}): Omit<MailContent, 'sender' | 'service'> {
  const { message, hello, host } = known;
  return {
    subject: `Test email from ${host}`,
    preheader: 'Email from this server works.',
    paragraphs: [hello, `Email from ${host} works. An administrator sent this test on ${describeTime(message.at)}.`],
    after: ['You don’t need to do anything.'],
  };
}

/** What the mail to administrators contains about changed metadata of a service provider. */
interface MetadataNotice {
  application: string;
  applicationId: string;
  state: 'waiting' | 'applied' | 'expired';
  /** What changed, such as "ACS addresses"; no received address, which the reader might open. */
  changes: string[];
  /** Of `expired`: when the application stops working. */
  until?: Date;
}

/** Subject and text, and the page of the application that the link opens. */
const metadataTexts: Record<
  MetadataNotice['state'],
  (name: string, notice: MetadataNotice) => { subject: string; text: string; path: string }
> = {
  waiting: (name) => ({
    subject: `Approve the new metadata of ${name}`,
    text: `The metadata of ${name} has changes that need your approval. Until then, Gatehouse uses the registered metadata. Ask the people who run the application whether they made the change. Don’t use contact details from the new metadata.`,
    path: '/metadata',
  }),
  applied: (name) => ({
    subject: `The metadata of ${name} was updated`,
    text: `Gatehouse applied a change in the metadata of ${name}, such as an additional key. This kind of change needs no approval.`,
    path: '',
  }),
  expired: (name, { until }) => ({
    subject: `The metadata of ${name} has expired`,
    text: `The metadata of ${name} has expired, and its URL has no valid metadata. ${until ? `Gatehouse uses the old metadata until ${describeTime(until)}. After that, people can’t sign in to the application.` : ''}`,
    path: '',
  }),
};
