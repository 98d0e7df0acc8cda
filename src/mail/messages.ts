// Every mail that the service sends. A caller names the facts of a message; the text is written here, and links are made
// here from the issuer and a token, so that neither a caller nor a Host header can change where they lead.

import { plural } from '../platform/plural.ts';
import { apiKeyAdvice } from './api-key-notice.ts';
import { type ConnectionEndNotice, connectionEndText } from './connection-notice.ts';
import type { MailContent } from './content.ts';
import { type MetadataNotice, metadataTexts } from './metadata-notice.ts';
import { passwordElsewhere } from './password-elsewhere.ts';
import { testMailText } from './test-notice.ts';
import { changedBy, describeDay, describeTime, facts, greeting, maskEmail, type Place, short } from './wording.ts';

export interface Recipient {
  email: string;
  /** The account, for the audit log. */
  userId?: string;
  username?: string;
  name?: string | null;
}

/** The owner of an account; undefined without an address. */
export function recipientOf(account: {
  id: string;
  username: string;
  name: string | null;
  email: string | null;
}): Recipient | undefined {
  const { id, username, name, email } = account;
  return email === null ? undefined : { email, userId: id, username, name };
}

export type FactorChange =
  | 'totp-added'
  | 'totp-removed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'recovery-codes-created'
  | 'phone-changed'
  | 'identity-linked'
  | 'identity-unlinked'
  | 'api-key-created'
  | 'factors-reset';

/** What is sent to every administrator. */
export type AdministratorMail =
  | { kind: 'integrity-alarm'; message: string; at: Date }
  | ({ kind: 'saml-metadata' } & MetadataNotice)
  | ({ kind: 'connection-end' } & ConnectionEndNotice);

export type MailMessage = { to: Recipient } & (
  | { kind: 'password-reset'; token: string; minutes: number }
  | { kind: 'no-password-here'; other?: { name: string; isDirectory: boolean } | undefined }
  | { kind: 'password-changed'; by: 'link' | 'owner' | 'admin'; place: Place }
  | { kind: 'verify-email'; token: string; hours: number }
  | { kind: 'confirm-new-email'; token: string; hours: number }
  | { kind: 'email-taken' }
  | { kind: 'email-changed'; newEmail: string; place: Place }
  | { kind: 'invitation'; token: string; hours: number }
  | { kind: 'registration'; token: string; hours: number }
  | { kind: 'already-registered' }
  | { kind: 'unlock'; token: string; minutes: number }
  | { kind: 'factor-changed'; change: FactorChange; place: Place }
  | { kind: 'new-sign-in'; place: Place }
  | { kind: 'one-time-code'; code: string; minutes: number }
  | AdministratorMail
  | { kind: 'saml-certificate'; application: string; until: Date; isNextPublished: boolean }
  | { kind: 'test'; at: Date }
);

export type MailKind = MailMessage['kind'];

const changes: Record<FactorChange, string> = {
  'totp-added': 'An authenticator app was added to your account',
  'totp-removed': 'The authenticator app was removed from your account',
  'passkey-added': 'A passkey was added to your account',
  'passkey-removed': 'A passkey was removed from your account',
  'recovery-codes-created': 'New recovery codes were created for your account',
  'phone-changed': 'The phone number on your account was changed',
  'identity-linked': 'A sign-in service was connected to your account',
  'identity-unlinked': 'A sign-in service was disconnected from your account',
  'api-key-created': 'An API key was created for your account',
  'factors-reset': 'An administrator reset two-step verification for your account',
};

/** The content of a message: its text and its link. */
export function compose(message: MailMessage, issuer: string): MailContent {
  return { service: new URL(issuer).host, ...textOf(message, issuer) };
}

type Text = Omit<MailContent, 'service'>;
type MessageOf<Kind extends MailKind> = Extract<MailMessage, { kind: Kind }>;

/** A message, and what several texts are made of. */
interface Facts<Message> {
  message: Message;
  to: Recipient;
  /** Of the issuer. */
  host: string;
  /** The greeting. */
  hello: string;
  /** "your account", with its username where it is known. */
  account: string;
  /** An address of this server. */
  link(path: string, token?: string): string;
  notYou: Pick<Text, 'action' | 'after'>;
  reviewAccount: Pick<Text, 'action' | 'after'>;
}

function factsOf<Message extends MailMessage>(message: Message, issuer: string): Facts<Message> {
  const { to } = message;
  const host = new URL(issuer).host;
  const hello = greeting(to.name);
  const account = to.username ? `your account “${to.username}”` : 'your account';
  const link = (path: string, token?: string) =>
    `${issuer}${path}${token ? `?token=${encodeURIComponent(token)}` : ''}`;
  const notYou = {
    action: { label: 'Reset password', url: link('/forgot-password') },
    after: ['If this was you, ignore this email. If not, reset your password now and tell your administrator.'],
  };
  const reviewAccount = {
    action: { label: 'Review account', url: link('/account') },
    after: [
      'Review your passkeys, two-step verification, and sessions there. Remove anything you don’t recognize.',
      'If you didn’t change it, someone else can read your email. Secure your mailbox first. Then select “Forgot password?” on the sign-in page, and tell your administrator.',
    ],
  };
  return { message, to, host, hello, account, link, notYou, reviewAccount };
}

function textOf<Kind extends MailKind>(message: MessageOf<Kind>, issuer: string): Text {
  const text = texts[message.kind as Kind] as (known: Facts<MessageOf<Kind>>) => Text;
  return text(factsOf(message, issuer));
}

/** Kind of message -> its text. */
const texts: { [Kind in MailKind]: (known: Facts<MessageOf<Kind>>) => Text } = {
  'password-reset': ({ message, hello, account, link }) => ({
    subject: 'Reset your password',
    preheader: `The link is valid for ${plural(message.minutes, 'minute')}.`,
    paragraphs: [hello, `Choose a new password for ${account} within ${plural(message.minutes, 'minute')}:`],
    action: { label: 'Choose a new password', url: link('/reset-password', message.token) },
    after: ['The link works once. If you didn’t request it, ignore this email. Your password won’t change.'],
  }),
  'no-password-here': ({ message, hello, account }) => ({
    subject: 'You don’t have a password to reset',
    preheader: 'You sign in another way.',
    paragraphs: [hello, `Someone asked to reset the password for ${account}. ${passwordElsewhere(message.other)}`],
    after: ['If this wasn’t you, ignore this email. Nothing changed.'],
  }),
  'password-changed': ({ message, hello, account, notYou, reviewAccount }) => ({
    subject: 'Your password was changed',
    preheader: describeTime(message.place.at),
    paragraphs: [hello, `The password for ${account} ${changedBy[message.by]}`],
    facts: facts(message.place),
    ...(message.by === 'link' ? reviewAccount : notYou),
  }),
  'verify-email': ({ message, to, hello, link }) => ({
    subject: 'Confirm your email address',
    preheader: `The link is valid for ${plural(message.hours, 'hour')}.`,
    paragraphs: [hello, `Confirm that ${to.email} is your email address:`],
    action: { label: 'Confirm email address', url: link('/verify-email', message.token) },
    after: ['If you don’t recognize this request, ignore this email.'],
  }),
  'confirm-new-email': ({ message, to, host, link }) => ({
    subject: 'Confirm your new email address',
    preheader: `The link is valid for ${plural(message.hours, 'hour')}.`,
    // No name: the address is not verified, and the text of a name could be used to send messages to other people.
    paragraphs: ['Hello,', `You entered ${to.email} as the new email address of an account at ${host}. Confirm it:`],
    action: { label: 'Confirm email address', url: link('/verify-email', message.token) },
    after: ['If this wasn’t you, ignore this email. Your address won’t be used.'],
  }),
  'email-taken': ({ to, hello, account, host }) => ({
    subject: 'Your email address is already in use',
    preheader: 'Nothing changed.',
    paragraphs: [
      hello,
      `Someone entered ${to.email} for another account at ${host}. It already belongs to ${account}, so nothing changed.`,
    ],
    after: ['You don’t need to do anything.'],
  }),
  'email-changed': ({ message, hello, account }) => ({
    subject: 'Your email address was changed',
    preheader: describeTime(message.place.at),
    paragraphs: [
      hello,
      `The email address for ${account} is now ${maskEmail(message.newEmail)}. This is the last email to your old address.`,
    ],
    facts: facts(message.place),
    after: ['If this was you, ignore this email. If not, tell your administrator right away.'],
  }),
  invitation: ({ message, to, hello, host, link }) => ({
    subject: `You’ve been invited to ${host}`,
    preheader: 'Choose a password to get started.',
    paragraphs: [
      hello,
      `You’ve been invited to ${host}. Your username is ${to.username}. Choose a password to get started:`,
    ],
    action: { label: 'Choose password', url: link('/invitation', message.token) },
    after: [
      `The link works once and expires after ${plural(message.hours, 'hour')}. After that, select “Forgot password?” on the sign-in page.`,
    ],
  }),
  registration: ({ message, host, link }) => ({
    subject: 'Finish creating your account',
    preheader: `The link is valid for ${plural(message.hours, 'hour')}.`,
    paragraphs: ['Hello,', `You asked for an account at ${host} with this email address. One step is left:`],
    action: { label: 'Create account', url: link('/sign-up/finish', message.token) },
    after: ['If this wasn’t you, ignore this email. We won’t create an account.'],
  }),
  'already-registered': ({ to, hello, host, link }) => ({
    subject: 'You already have an account',
    preheader: 'You can sign in with it.',
    paragraphs: [
      hello,
      `You asked for an account at ${host}, but you already have one: ${to.username}. If you forgot its password, reset it:`,
    ],
    action: { label: 'Reset password', url: link('/forgot-password') },
    after: ['If this wasn’t you, ignore this email. Nothing changed.'],
  }),
  unlock: ({ message, hello, account, link }) => ({
    subject: 'Unlock your account',
    preheader: `The link is valid for ${plural(message.minutes, 'minute')}.`,
    paragraphs: [
      hello,
      `There were too many failed sign-ins to ${account}, so we paused sign-in from new browsers. Unlock your account to sign in now:`,
    ],
    action: { label: 'Unlock account', url: link('/unlock', message.token) },
    after: [
      'If you didn’t cause the failed sign-ins, your password is still safe. Consider setting up two-step verification.',
    ],
  }),
  'factor-changed': ({ message, hello, host, notYou, link }) => ({
    subject: changes[message.change],
    preheader: describeTime(message.place.at),
    paragraphs: [hello, `${changes[message.change]} at ${host}.`],
    facts: facts(message.place),
    ...(message.change === 'api-key-created' ? apiKeyAdvice(link('')) : notYou),
  }),
  'new-sign-in': ({ message, hello, account, notYou }) => ({
    subject: 'New sign-in to your account',
    preheader: describeTime(message.place.at),
    paragraphs: [hello, `There was a sign-in to ${account} from a new browser.`],
    facts: facts(message.place),
    ...notYou,
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
      after: [],
    };
  },
  'connection-end': connectionEndText,
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
  'one-time-code': ({ message, hello, host }) => ({
    subject: 'Your sign-in code',
    preheader: `The code is valid for ${plural(message.minutes, 'minute')}.`,
    paragraphs: [hello, `Enter this code to sign in to ${host}:`],
    code: message.code,
    after: [
      'We’ll never ask you for this code. If you aren’t signing in now, someone else knows your password. Change it.',
    ],
  }),
};
