// Every mail that the service sends. A caller names the facts of a message; the text is written here, and links are made
// here from the issuer and a token, so that neither a caller nor a Host header can change where they lead.
import { type ConnectionEndNotice, connectionEndText } from './connection-notice.ts';
import type { MailContent } from './content.ts';
import { type MetadataNotice, metadataTexts } from './metadata-notice.ts';
import { passwordElsewhere } from './password-elsewhere.ts';
import { describeDay, describeTime, facts, greeting, maskEmail, type Place, short } from './wording.ts';

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
);

export type MailKind = MailMessage['kind'];

const changes: Record<FactorChange, string> = {
  'totp-added': 'An authenticator app was added to your account',
  'totp-removed': 'The authenticator app was removed from your account',
  'passkey-added': 'A passkey was added to your account',
  'passkey-removed': 'A passkey was removed from your account',
  'recovery-codes-created': 'New recovery codes were made for your account',
  'phone-changed': 'The phone number of your account was changed',
  'identity-linked': 'A sign-in with another service was connected to your account',
  'identity-unlinked': 'A sign-in with another service was disconnected from your account',
  'factors-reset': 'The second factors of your account were removed by an administrator',
};

const changedBy = {
  link: 'was changed with a link sent to this address. You were signed out everywhere.',
  owner: 'was changed on your account page.',
  admin: 'was changed by an administrator.',
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
  /** "your account", with its user name where it is known. */
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
  const account = to.username ? `your account ${to.username}` : 'your account';
  const link = (path: string, token?: string) =>
    `${issuer}${path}${token ? `?token=${encodeURIComponent(token)}` : ''}`;
  const notYou = {
    action: { label: 'Reset my password', url: link('/forgot-password') },
    after: ['If it was you, there is nothing to do. If not, reset your password now and tell your administrator.'],
  };
  const reviewAccount = {
    action: { label: 'Look through my account', url: link('/account') },
    after: [
      'Please look through your passkeys, second factors and signed-in devices there, and remove what is not yours: anyone who knew the old password may have added it.',
      'If it was not you who changed it, another person reads your mail. Secure your mailbox first, then choose “Forgot password?” where you sign in, and tell your administrator.',
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
    preheader: `The link works for ${message.minutes} minutes.`,
    paragraphs: [hello, `Choose a new password for ${account} within ${message.minutes} minutes:`],
    action: { label: 'Choose a new password', url: link('/reset-password', message.token) },
    after: ['The link works once. If you did not ask for it, do nothing: your password stays as it is.'],
  }),
  'no-password-here': ({ message, hello, account }) => ({
    subject: 'There is no password to reset',
    preheader: 'You sign in with another service.',
    paragraphs: [hello, `A reset of the password of ${account} was requested. ${passwordElsewhere(message.other)}`],
    after: ['If you did not ask for this, do nothing. Nothing was changed.'],
  }),
  'password-changed': ({ message, hello, account, notYou, reviewAccount }) => ({
    subject: 'Your password was changed',
    preheader: describeTime(message.place.at),
    paragraphs: [hello, `The password of ${account} ${changedBy[message.by]}`],
    facts: facts(message.place),
    ...(message.by === 'link' ? reviewAccount : notYou),
  }),
  'verify-email': ({ message, to, hello, link }) => ({
    subject: 'Confirm your e-mail address',
    preheader: `The link works for ${message.hours} hours.`,
    paragraphs: [hello, `Please confirm that ${to.email} is your address.`],
    action: { label: 'Confirm this address', url: link('/verify-email', message.token) },
    after: ['If you do not know what this is about, do nothing.'],
  }),
  'confirm-new-email': ({ message, to, host, link }) => ({
    subject: 'Confirm your new e-mail address',
    preheader: `The link works for ${message.hours} hours.`,
    // No name: the address is not verified, and the text of a name could be used to send messages to other people.
    paragraphs: ['Hello,', `The address ${to.email} was given for an account at ${host}. If it was you, confirm it:`],
    action: { label: 'Use this address', url: link('/verify-email', message.token) },
    after: ['If it was not you, do nothing. Your address is not used then.'],
  }),
  'email-taken': ({ to, hello, account, host }) => ({
    subject: 'Your e-mail address is already in use here',
    preheader: 'Nothing was changed.',
    paragraphs: [
      hello,
      `The address ${to.email} was given for another account at ${host}. It already belongs to ${account}, so nothing was changed.`,
    ],
    after: ['There is nothing to do.'],
  }),
  'email-changed': ({ message, hello, account }) => ({
    subject: 'Your e-mail address was changed',
    preheader: describeTime(message.place.at),
    paragraphs: [
      hello,
      `The address of ${account} is now ${maskEmail(message.newEmail)}. This is the last mail to the old one.`,
    ],
    facts: facts(message.place),
    after: ['If it was you, there is nothing to do. If not, tell your administrator at once.'],
  }),
  invitation: ({ message, to, hello, host, link }) => ({
    subject: `Your account at ${host}`,
    preheader: 'Choose a password to begin.',
    paragraphs: [
      hello,
      `An account was made for you at ${host}. Your user name is ${to.username}. Choose a password to begin:`,
    ],
    action: { label: 'Choose a password', url: link('/invitation', message.token) },
    after: [`The link works once, for ${message.hours} hours. After that, ask for a new one with “Forgot password?”.`],
  }),
  registration: ({ message, host, link }) => ({
    subject: 'Finish creating your account',
    preheader: `The link works for ${message.hours} hours.`,
    paragraphs: [
      'Hello,',
      `An account at ${host} was requested with this address, most likely by you. One step is left:`,
    ],
    action: { label: 'Finish creating my account', url: link('/sign-up/finish', message.token) },
    after: ['If it was not you, do nothing. No account is made then.'],
  }),
  'already-registered': ({ to, hello, host, link }) => ({
    subject: 'You already have an account',
    preheader: 'Another one was requested with this address.',
    paragraphs: [
      hello,
      `A new account at ${host} was requested with this address, most likely by you. You already have one: ${to.username}. If you forgot its password, you can reset it:`,
    ],
    action: { label: 'Reset my password', url: link('/forgot-password') },
    after: ['If it was not you, do nothing. Nothing was changed.'],
  }),
  unlock: ({ message, hello, account, link }) => ({
    subject: 'Unlock your account',
    preheader: `The link works for ${message.minutes} minutes.`,
    paragraphs: [
      hello,
      `There were too many failed sign-ins to ${account}, so signing in from new browsers is paused. With this link you end the pause:`,
    ],
    action: { label: 'Unlock my account', url: link('/unlock', message.token) },
    after: [
      'If the failed sign-ins were not yours, your password was not found out. It is still a good moment for a second factor.',
    ],
  }),
  'factor-changed': ({ message, hello, host, notYou }) => ({
    subject: changes[message.change],
    preheader: describeTime(message.place.at),
    paragraphs: [hello, `${changes[message.change]} at ${host}.`],
    facts: facts(message.place),
    ...notYou,
  }),
  'new-sign-in': ({ message, hello, account, notYou }) => ({
    subject: 'New sign-in to your account',
    preheader: describeTime(message.place.at),
    paragraphs: [hello, `${upperFirst(account)} was used in a browser that we have not seen before.`],
    facts: facts(message.place),
    ...notYou,
  }),
  'saml-certificate': ({ message, host, link }) => ({
    subject: `A SAML certificate expires on ${describeDay(message.until)}`,
    preheader: 'Your application has to know the next one by then.',
    paragraphs: [
      'Hello,',
      `You are named as a contact of ${short(message.application)}, which signs people in at ${host}. The certificate that its SAML messages are signed with ends on ${describeDay(message.until)}.`,
      message.isNextPublished
        ? 'The next certificate is in the metadata already. Have your application read it again:'
        : 'The next certificate will be published in the metadata before that. If your application does not read it automatically, look here again soon:',
    ],
    action: { label: 'Metadata', url: link('/saml/metadata') },
    after: ['If another person looks after that application now, please pass this on.'],
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
      action: { label: 'Open it in the console', url: link(`/admin/applications/${message.applicationId}${path}`) },
      after: [],
    };
  },
  'connection-end': connectionEndText,
  'integrity-alarm': ({ message, hello, host, link }) => ({
    subject: `Alarm: the database of ${host} was changed`,
    preheader: describeTime(message.at),
    paragraphs: [
      hello,
      `The server found something in its database that it did not write: ${short(message.message)}`,
      'A person or a program may have written to the database directly. Run `gatehouse audit verify` on the server, and compare the database with a backup and with the log of the server.',
    ],
    action: { label: 'Open the audit log', url: link('/admin/audit') },
    after: ['If you restored a backup, the documentation says what to do: “Backup and restore”.'],
  }),
  'one-time-code': ({ message, hello, host }) => ({
    subject: 'Your sign-in code',
    preheader: `It works for ${message.minutes} minutes.`,
    paragraphs: [hello, `Enter this code to sign in to ${host}:`],
    code: message.code,
    after: [
      'We will never ask you for it. If you are not signing in now, another person knows your password: change it.',
    ],
  }),
};

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
