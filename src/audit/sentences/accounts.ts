// Sentences of accounts, passwords, second factors, roles and mail.
import type { AuditEventType } from '../events.ts';
import type { EventText } from './event-text.ts';

type Types = Extract<
  AuditEventType,
  | `account.${string}`
  | `identity.${string}`
  | `email.${string}`
  | `password.${string}`
  | `totp.${string}`
  | `passkey.${string}`
  | `recovery-codes.${string}`
  | `one-time-code.${string}`
  | `phone.${string}`
  | `factors.${string}`
  | `role.${string}`
  | `mail.${string}`
  | 'users.exported'
  | 'access.evaluated'
>;

const channelOf = (data: Record<string, unknown>) => (data.channel === 'sms' ? 'by SMS' : 'by email');

export const accountTexts: Record<Types, EventText> = {
  'account.created': { kind: 'account', done: '{actor} added {user}' },
  'account.registered': { kind: 'account', done: '{user} signed up' },
  'account.invited': { kind: 'account', done: '{actor} invited {user}' },
  'account.updated': {
    kind: 'account',
    done: '{actor} changed the profile of {user}',
    passive: 'The profile of {user} was changed',
  },
  'account.enabled': { kind: 'account', done: '{actor} enabled the account of {user}' },
  'account.disabled': { kind: 'account', done: '{actor} disabled the account of {user}' },
  'account.deleted': { kind: 'account', done: '{actor} deleted the account of {user}' },
  'account.linked': { kind: 'account', done: '{user} was linked to an identity provider' },
  'identity.linked': {
    kind: 'account',
    done: '{actor} linked {user} to {connection}',
    passive: '{user} was linked to {connection}',
  },
  'identity.unlinked': {
    kind: 'account',
    done: '{actor} unlinked {user} from {connection}',
    passive: '{user} was unlinked from {connection}',
  },
  'email.verification-requested': {
    kind: 'account',
    done: '{actor} sent {user} a link to verify the email',
    own: '{user} requested a link to verify the email',
  },
  'email.verified': { kind: 'account', done: '{user} verified the email' },
  'email.change-requested': {
    kind: 'account',
    done: '{actor} requested a new email for {user}',
    own: '{user} requested a new email',
  },
  'email.changed': {
    kind: 'account',
    done: '{actor} changed the email of {user}',
    passive: 'The email of {user} was changed',
  },
  'users.exported': { kind: 'account', done: '{actor} exported the users' },
  'password.set': {
    kind: 'password',
    done: '{actor} set a password for {user}',
    own: '{user} set a password',
  },
  'password.changed': {
    kind: 'password',
    done: '{actor} changed the password of {user}',
    own: '{user} changed the password',
  },
  'password.imported': {
    kind: 'password',
    done: '{actor} imported the password of {user}',
    passive: 'The password of {user} was imported',
  },
  'password.rehashed': {
    kind: 'password',
    done: 'The password of {user} is now stored with the current method',
  },
  'password.change-forced': {
    kind: 'password',
    done: '{actor} requires a new password from {user}',
    passive: '{user} has to change the password',
  },
  'password.reset-requested': {
    kind: 'password',
    done: '{actor} sent {user} a password reset link',
    own: '{user} requested a password reset link',
    passive: 'A password reset link was sent to {user}',
    failed: ({ subjectId }) =>
      subjectId === null
        ? 'A password reset link was requested for an unknown account'
        : '{user} requested a password reset link and got none',
  },
  'password.reset': { kind: 'password', done: '{user} set a new password with a link from an email' },
  'totp.enrolled': { kind: 'factor', done: '{user} set up an authenticator app' },
  'totp.removed': {
    kind: 'factor',
    done: '{actor} removed the authenticator app of {user}',
    own: '{user} removed the authenticator app',
  },
  'passkey.enrolled': { kind: 'factor', done: '{user} added the passkey {name}' },
  'passkey.renamed': { kind: 'factor', done: '{user} renamed a passkey to {name}' },
  'passkey.removed': {
    kind: 'factor',
    done: '{actor} removed the passkeys of {user}',
    own: '{user} removed a passkey',
  },
  'recovery-codes.created': { kind: 'factor', done: '{user} created recovery codes' },
  'recovery-codes.removed': {
    kind: 'factor',
    done: '{actor} removed the recovery codes of {user}',
    passive: 'The recovery codes of {user} were removed',
  },
  'one-time-code.sent': {
    kind: 'factor',
    done: ({ data }) => `A code was sent to {user} ${channelOf(data)}`,
    failed: ({ data }) => `No code was sent to {user} ${channelOf(data)}`,
  },
  'phone.confirmed': { kind: 'factor', done: '{user} confirmed the phone number {number}' },
  'phone.removed': {
    kind: 'factor',
    done: '{actor} removed the phone number of {user}',
    own: '{user} removed the phone number',
  },
  'factors.reset': {
    kind: 'factor',
    done: '{actor} removed every second step of {user}',
    passive: 'Every second step of {user} was removed',
  },
  'factors.approval-requested': { kind: 'factor', done: '{user} needs an approval to set up a second step' },
  'factors.approved': { kind: 'factor', done: '{actor} let {user} set up a second step' },
  'role.created': { kind: 'role', done: '{actor} created the role {name}' },
  'role.updated': { kind: 'role', done: '{actor} changed the role {name}' },
  'role.deleted': { kind: 'role', done: '{actor} deleted the role {name}' },
  'role.assigned': {
    kind: 'role',
    done: '{actor} gave {user} the role {roleName}',
    own: '{user} took the role {roleName}',
    passive: '{user} received the role {roleName}',
  },
  'role.unassigned': {
    kind: 'role',
    done: '{actor} removed the role {roleName} from {user}',
    own: '{user} gave up the role {roleName}',
    passive: '{user} lost the role {roleName}',
  },
  'access.evaluated': {
    kind: 'role',
    done: '{app} evaluated the access of {user}',
    failed: 'An access evaluation of {app} was rejected',
  },
  'mail.sent': {
    kind: 'server',
    done: ({ data }) =>
      data.file === true
        ? 'An email to {recipient} was written to a file and not sent, because no mail server is set'
        : 'An email was sent to {recipient}',
  },
  'mail.failed': {
    kind: 'server',
    done: 'An email to {recipient} wasn’t delivered',
    failed: 'An email to {recipient} wasn’t delivered',
    saysReason: true,
  },
  'mail.retried': { kind: 'server', done: '{actor} queued an email again' },
};
