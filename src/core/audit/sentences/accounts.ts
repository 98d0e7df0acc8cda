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
  | `group.${string}`
  | `mail.${string}`
  | 'users.exported'
  | 'access.evaluated'
>;

export const accountTexts: Record<Types, EventText> = {
  'account.created': { kind: 'account', done: 'activity.event.account-created' },
  'account.registered': { kind: 'account', done: 'activity.event.account-registered' },
  'account.invited': { kind: 'account', done: 'activity.event.account-invited' },
  'account.updated': {
    kind: 'account',
    done: 'activity.event.profile-changed',
    passive: 'activity.event.profile-changed-passive',
  },
  'account.enabled': { kind: 'account', done: 'activity.event.account-enabled' },
  'account.disabled': { kind: 'account', done: 'activity.event.account-disabled' },
  'account.deleted': { kind: 'account', done: 'console.events.account-deleted' },
  'account.linked': { kind: 'account', done: 'activity.event.account-linked' },
  'identity.linked': {
    kind: 'account',
    done: 'activity.event.identity-linked',
    passive: 'activity.event.identity-linked-passive',
  },
  'identity.unlinked': {
    kind: 'account',
    done: 'activity.event.identity-unlinked',
    passive: 'activity.event.identity-unlinked-passive',
  },
  'email.verification-requested': {
    kind: 'account',
    done: 'activity.event.email-link-sent',
    own: 'activity.event.email-link-requested',
  },
  'email.verified': { kind: 'account', done: 'activity.event.email-verified' },
  'email.change-requested': {
    kind: 'account',
    done: 'activity.event.email-change-requested',
    own: 'activity.event.email-change-requested-own',
  },
  'email.changed': {
    kind: 'account',
    done: 'activity.event.email-changed',
    passive: 'activity.event.email-changed-passive',
  },
  'users.exported': { kind: 'account', done: 'console.events.users-exported' },
  'password.set': {
    kind: 'password',
    done: 'activity.event.password-set',
    own: 'activity.event.password-set-own',
  },
  'password.changed': {
    kind: 'password',
    done: 'activity.event.password-changed',
    own: 'activity.event.password-changed-own',
  },
  'password.imported': {
    kind: 'password',
    done: 'activity.event.password-imported',
    passive: 'activity.event.password-imported-passive',
  },
  'password.rehashed': {
    kind: 'password',
    done: 'activity.event.password-rehashed',
  },
  'password.change-forced': {
    kind: 'password',
    done: 'activity.event.password-change-required',
    passive: 'activity.event.password-change-required-passive',
  },
  'password.reset-requested': {
    kind: 'password',
    done: 'activity.event.reset-link-sent',
    own: 'activity.event.reset-link-requested',
    passive: 'activity.event.reset-link-sent-passive',
    failed: ({ subjectId }) =>
      subjectId === null ? 'console.events.unknown-reset-link' : 'activity.event.reset-link-denied',
  },
  'password.reset': { kind: 'password', done: 'activity.event.password-reset' },
  'totp.enrolled': { kind: 'factor', done: 'activity.event.app-added' },
  'totp.removed': {
    kind: 'factor',
    done: 'activity.event.app-removed',
    own: 'activity.event.app-removed-own',
  },
  'passkey.enrolled': { kind: 'factor', done: 'activity.event.passkey-added' },
  'passkey.renamed': { kind: 'factor', done: 'activity.event.passkey-renamed' },
  'passkey.removed': {
    kind: 'factor',
    done: 'activity.event.passkeys-removed',
    own: 'activity.event.passkey-removed-own',
  },
  'recovery-codes.created': { kind: 'factor', done: 'activity.event.recovery-codes-created' },
  'recovery-codes.removed': {
    kind: 'factor',
    done: 'activity.event.recovery-codes-removed',
    passive: 'activity.event.recovery-codes-removed-passive',
  },
  'one-time-code.sent': {
    kind: 'factor',
    // A text message was handed to the gateway; an email is in the queue, and has an entry of its own when it leaves.
    done: ({ data }) => (data.channel === 'sms' ? 'activity.event.code-sent' : 'activity.event.code-queued'),
    failed: 'activity.event.code-not-sent',
  },
  'phone.confirmed': { kind: 'factor', done: 'activity.event.phone-confirmed' },
  'phone.removed': {
    kind: 'factor',
    done: 'activity.event.phone-removed',
    own: 'activity.event.phone-removed-own',
  },
  'factors.reset': {
    kind: 'factor',
    done: 'activity.event.factors-reset',
    passive: 'activity.event.factors-reset-passive',
  },
  'factors.approval-requested': { kind: 'factor', done: 'activity.event.factors-approval-needed' },
  'factors.approved': { kind: 'factor', done: 'activity.event.factors-approved' },
  'role.created': { kind: 'role', done: 'console.events.role-created' },
  'role.updated': { kind: 'role', done: 'console.events.role-updated' },
  'role.deleted': { kind: 'role', done: 'console.events.role-deleted' },
  'role.assigned': {
    kind: 'role',
    done: 'activity.event.role-given',
    own: 'activity.event.role-taken',
    passive: 'activity.event.role-received',
  },
  'role.unassigned': {
    kind: 'role',
    done: 'activity.event.role-removed',
    own: 'activity.event.role-given-up',
    passive: 'activity.event.role-lost',
  },
  'group.created': { kind: 'group', done: 'console.events.group-created' },
  'group.updated': { kind: 'group', done: 'console.events.group-updated' },
  'group.deleted': { kind: 'group', done: 'console.events.group-deleted' },
  'group.child-added': { kind: 'group', done: 'console.events.group-child-added' },
  'group.child-removed': { kind: 'group', done: 'console.events.group-child-removed' },
  'group.role-added': { kind: 'group', done: 'console.events.group-role-added' },
  'group.role-removed': { kind: 'group', done: 'console.events.group-role-removed' },
  'group.owner-added': { kind: 'group', done: 'console.events.group-owner-added' },
  'group.owner-removed': { kind: 'group', done: 'console.events.group-owner-removed' },
  'group.member-added': { kind: 'group', done: 'activity.event.group-joined' },
  'group.member-changed': { kind: 'group', done: 'activity.event.group-membership-changed' },
  'group.member-removed': { kind: 'group', done: 'activity.event.group-left' },
  'group.member-expired': { kind: 'group', done: 'activity.event.group-expired' },
  'access.evaluated': {
    kind: 'role',
    done: 'activity.event.access-evaluated',
    failed: 'activity.event.access-evaluation-rejected',
  },
  'mail.sent': {
    kind: 'server',
    done: ({ data }) => (data.file === true ? 'console.events.mail-to-file' : 'console.events.mail-sent'),
  },
  'mail.failed': {
    kind: 'server',
    done: 'console.events.mail-failed',
    failed: ({ data }) => (data.recipient ? 'console.events.mail-failed' : 'console.events.mail-not-written'),
    saysReason: true,
  },
  'mail.retried': { kind: 'server', done: 'console.events.mail-retried' },
};
