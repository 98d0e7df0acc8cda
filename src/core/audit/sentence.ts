// Audit events in sentences, such as `Ann signed in to Payroll with a passkey`, for the activity log and every page that lists events.
import { allOf, hasText, type PageText, Slot, sentenceCase, Text, type TextKey, t } from '../../base/texts/text.ts';
import type { AuditEntry } from './audit.ts';
import type { AuditEventType } from './events.ts';

// Sentences about sign-ins, sessions and logouts.

const NO_PASSWORD: Record<string, SentenceKey> = {
  wrong_password: 'activity.event.password-wrong',
  too_many_tries: 'activity.event.password-while-paused',
  no_password: 'activity.event.password-none',
  disabled_account: 'activity.event.password-disabled',
};

const passwordFailed: Template = ({ reason, subjectId }) => {
  if (subjectId === null) return 'console.events.unknown-password';
  return NO_PASSWORD[reason ?? ''] ?? 'activity.event.password-rejected';
};

/** For a known user, and for an unknown one. */
const THROTTLED: Record<string, readonly [SentenceKey, SentenceKey]> = {
  too_many_codes: ['activity.event.too-many-codes', 'console.events.unknown-too-many-codes'],
  too_many_tries: ['activity.event.paused-by-passwords', 'console.events.unknown-paused-by-passwords'],
  captcha_unsolved: ['activity.event.captcha-unsolved', 'console.events.unknown-captcha-unsolved'],
  too_many_at_once: ['activity.event.paused-by-load', 'console.events.unknown-paused-by-load'],
};

const throttled: Template = ({ reason, subjectId }) => {
  const [known, unknown] = THROTTLED[reason ?? ''] ?? ['activity.event.paused', 'console.events.unknown-paused'];
  return subjectId === null ? unknown : known;
};

const ENDED: Record<string, SentenceKey> = {
  'signed-out': 'activity.event.signed-out',
  'application-signed-out': 'activity.event.signed-out-by-app',
  'upstream-signed-out': 'activity.event.signed-out-by-provider',
  'ended-by-person': 'activity.event.other-sessions-ended',
  'ended-by-admin': 'activity.event.session-ended-by-admin',
  'session-limit': 'activity.event.session-limit',
  expired: 'activity.event.session-expired',
};

const ALL_ENDED: Record<string, SentenceKey> = {
  'password-reset': 'activity.event.sessions-ended-password',
  'account-disabled': 'activity.event.sessions-ended-disabled',
  'account-deleted': 'activity.event.sessions-ended-deleted',
  'roles-changed': 'activity.event.sessions-ended-roles',
  'identity-linked': 'activity.event.sessions-ended-identity',
  'ended-by-admin': 'activity.event.sessions-ended-by-admin',
};

type SignInEvents = Extract<
  AuditEventType,
  | `sign-in.${string}`
  | `session.${string}`
  | `sessions.${string}`
  | `logout.${string}`
  | `browser.${string}`
  | `upstream.${string}`
  | 'sign-out.rejected'
>;

const signInTexts: Record<SignInEvents, EventText> = {
  'sign-in.password': {
    kind: 'sign-in',
    done: 'activity.event.password-right',
    failed: passwordFailed,
    saysReason: true,
  },
  'sign-in.passkey': {
    kind: 'sign-in',
    done: 'activity.event.passkey-used',
    failed: ({ subjectId }) =>
      subjectId === null ? 'console.events.unknown-passkey' : 'activity.event.passkey-rejected',
  },
  'sign-in.upstream': {
    kind: 'sign-in',
    done: 'activity.event.connection-confirmed',
    failed: 'console.events.connection-sign-in-rejected',
  },
  'sign-in.second-factor': { kind: 'sign-in', done: 'activity.event.code-right', failed: 'activity.event.code-wrong' },
  'sign-in.recovery-code': { kind: 'sign-in', done: 'activity.event.recovery-code-used' },
  'sign-in.completed': {
    kind: 'sign-in',
    done: ({ clientId }) => (clientId === null ? 'activity.event.signed-in' : 'activity.event.signed-in-to-app'),
  },
  'sign-in.throttled': {
    kind: 'sign-in',
    done: throttled,
    failed: throttled,
    saysReason: true,
  },
  'sign-in.unlocked': {
    kind: 'sign-in',
    done: 'activity.event.unlocked',
    own: 'activity.event.unlocked-by-link',
  },
  'sign-in.new-browser': { kind: 'sign-in', done: 'activity.event.new-browser' },
  'session.ended': {
    kind: 'session',
    done: ({ reason }) => ENDED[reason ?? ''] ?? ALL_ENDED[reason ?? ''] ?? 'activity.event.session-ended',
    saysReason: true,
  },
  'sessions.ended-all': {
    kind: 'session',
    done: ({ reason }) => ALL_ENDED[reason ?? ''] ?? 'activity.event.sessions-ended',
    saysReason: true,
  },
  'logout.delivered': { kind: 'session', done: 'activity.event.sign-out-delivered' },
  'logout.rejected': {
    kind: 'session',
    done: 'activity.event.sign-out-rejected',
    failed: 'activity.event.sign-out-rejected',
    saysReason: true,
  },
  'logout.failed': {
    kind: 'session',
    done: 'activity.event.sign-out-undelivered',
    failed: 'activity.event.sign-out-undelivered',
  },
  'sign-out.rejected': {
    kind: 'session',
    done: 'console.events.sign-out-rejected',
    failed: 'console.events.sign-out-rejected-of-app',
  },
  'upstream.logout': { kind: 'session', done: 'activity.event.signed-out-by-connection' },
  'browser.remembered': { kind: 'factor', done: 'activity.event.browser-trusted' },
  'browser.forgotten': {
    kind: 'factor',
    done: 'activity.event.browser-forgotten',
    own: 'activity.event.browser-forgotten-own',
  },
};

// Sentences of applications and their requests, APIs, identity providers, and the server.

type ApplicationEvents = Extract<
  AuditEventType,
  | `authorization.${string}`
  | `consent.${string}`
  | `registration.${string}`
  | `token.${string}`
  | `client.${string}`
  | `saml.${string}`
  | `application.${string}`
  | `resource.${string}`
  | `connection.${string}`
  | `api-key.${string}`
  | `sign-up-code.${string}`
  | `key.${string}`
  | `configuration.${string}`
  | `setting.${string}`
  | `backup.${string}`
  | `audit.${string}`
  | `secrets.${string}`
  | `integrity.${string}`
  | `address.${string}`
  | `server.${string}`
>;

const REVOKED: Record<string, SentenceKey> = {
  access_lost: 'activity.event.tokens-revoked-access-lost',
  'ended-by-person': 'activity.event.consent-revoked',
};

const authorizationRejected: Template = ({ subjectId }) =>
  subjectId === null ? 'console.events.app-sign-in-rejected' : 'activity.event.app-sign-in-rejected';

const applicationTexts: Record<ApplicationEvents, EventText> = {
  'authorization.granted': { kind: 'request', done: 'activity.event.app-opened' },
  'authorization.rejected': {
    kind: 'request',
    done: authorizationRejected,
    failed: authorizationRejected,
  },
  'consent.granted': { kind: 'request', done: 'activity.event.consent-granted' },
  'consent.denied': { kind: 'request', done: 'activity.event.consent-denied' },
  'consent.revoked': { kind: 'request', done: 'activity.event.consent-revoked' },
  'registration.rejected': {
    kind: 'request',
    done: 'console.events.registration-rejected',
    failed: 'console.events.registration-rejected',
  },
  'registration.token-issued': { kind: 'request', done: 'console.events.registration-token-created' },
  'registration.tokens-revoked': { kind: 'request', done: 'console.events.registration-tokens-revoked' },
  'token.issued': { kind: 'request', done: 'console.events.token-issued' },
  'token.rejected': {
    kind: 'request',
    done: 'console.events.token-rejected',
    failed: 'console.events.token-rejected',
  },
  'token.revoked': {
    kind: 'request',
    done: ({ reason, clientId }) =>
      clientId === null
        ? 'activity.event.tokens-revoked'
        : (REVOKED[reason ?? ''] ?? 'activity.event.tokens-revoked-of-app'),
    saysReason: true,
  },
  'token.reused': {
    kind: 'request',
    done: 'console.events.token-reused',
    failed: 'console.events.token-reused',
  },
  'client.authenticated': {
    kind: 'request',
    done: 'console.events.client-authenticated',
    failed: 'console.events.client-rejected',
  },
  'saml.request': {
    kind: 'request',
    done: 'console.events.saml-request',
    failed: 'console.events.saml-request-rejected',
  },
  'saml.response': {
    kind: 'request',
    done: 'activity.event.assertion-received',
    failed: ({ subjectId }) =>
      subjectId === null ? 'console.events.assertion-not-received' : 'activity.event.assertion-not-received',
  },
  'saml.logout': {
    kind: 'session',
    done: 'activity.event.sign-out-requested',
    failed: 'activity.event.sign-out-request-rejected',
  },
  'application.created': { kind: 'application', done: 'console.events.application-created' },
  'application.updated': { kind: 'application', done: 'console.events.application-updated' },
  'application.deleted': { kind: 'application', done: 'console.events.application-deleted' },
  'application.enabled': { kind: 'application', done: 'console.events.application-enabled' },
  'application.disabled': { kind: 'application', done: 'console.events.application-disabled' },
  'application.metadata-invalid': {
    kind: 'application',
    done: 'console.events.metadata-invalid',
    failed: 'console.events.metadata-invalid',
  },
  'application.metadata-waiting': { kind: 'application', done: 'console.events.metadata-waiting' },
  'application.metadata-approved': { kind: 'application', done: 'console.events.metadata-approved' },
  'application.metadata-rejected': { kind: 'application', done: 'console.events.metadata-rejected' },
  'application.metadata-applied': { kind: 'application', done: 'console.events.metadata-applied' },
  'application.metadata-expired': {
    kind: 'application',
    done: 'console.events.metadata-expired',
    failed: 'console.events.metadata-expired',
  },
  'application.secret-created': { kind: 'application', done: 'console.events.secret-created' },
  'application.secret-removed': { kind: 'application', done: 'console.events.secret-removed' },
  'resource.created': { kind: 'application', done: 'console.events.api-created' },
  'resource.updated': { kind: 'application', done: 'console.events.api-updated' },
  'resource.deleted': { kind: 'application', done: 'console.events.api-deleted' },
  'connection.created': { kind: 'connection', done: 'console.events.connection-created' },
  'connection.updated': { kind: 'connection', done: 'console.events.connection-updated' },
  'connection.deleted': { kind: 'connection', done: 'console.events.connection-deleted' },
  'connection.enabled': { kind: 'connection', done: 'console.events.connection-enabled' },
  'connection.disabled': { kind: 'connection', done: 'console.events.connection-disabled' },
  'connection.secret-created': { kind: 'connection', done: 'console.events.connection-secret-created' },
  'connection.secret-removed': { kind: 'connection', done: 'console.events.connection-secret-removed' },
  'connection.secret-rejected': {
    kind: 'connection',
    done: 'console.events.connection-secret-rejected',
    failed: 'console.events.connection-secret-rejected',
    saysReason: true,
  },
  'connection.domain-proven': { kind: 'connection', done: 'console.events.domain-proven' },
  'connection.domain-lost': {
    kind: 'connection',
    done: 'console.events.domain-lost',
    failed: 'console.events.domain-lost',
  },
  'connection.document-changed': { kind: 'connection', done: 'console.events.document-changed' },
  'connection.document-failed': {
    kind: 'connection',
    done: 'console.events.document-failed',
    failed: 'console.events.document-failed',
    saysReason: true,
  },
  'api-key.created': {
    kind: 'application',
    done: 'console.events.api-key-created',
    own: 'console.events.api-key-created-own',
    passive: 'console.events.api-key-created-passive',
  },
  'api-key.revoked': {
    kind: 'application',
    done: 'console.events.api-key-revoked',
    own: 'console.events.api-key-revoked-own',
    passive: 'console.events.api-key-revoked-passive',
  },
  'api-key.used': {
    kind: 'request',
    done: 'activity.event.api-key-used',
    failed: 'activity.event.api-key-rejected',
  },
  'sign-up-code.created': { kind: 'account', done: 'console.events.sign-up-code-created' },
  'sign-up-code.updated': { kind: 'account', done: 'console.events.sign-up-code-updated' },
  'sign-up-code.revoked': { kind: 'account', done: 'console.events.sign-up-code-revoked' },
  'sign-up-code.rejected': {
    kind: 'request',
    done: 'console.events.sign-up-code-rejected',
    failed: 'console.events.sign-up-code-rejected',
  },
  'key.created': { kind: 'server', done: 'console.events.key-created' },
  'key.activated': { kind: 'server', done: 'console.events.key-activated' },
  'key.retired': { kind: 'server', done: 'console.events.key-retired' },
  'key.removed': { kind: 'server', done: 'console.events.key-removed' },
  'configuration.applied': { kind: 'server', done: 'console.events.configuration-applied' },
  'setting.changed': {
    kind: 'server',
    done: ({ data: { setting, name } }) =>
      (setting ?? name) ? 'console.events.setting-changed' : 'console.events.some-setting-changed',
  },
  'backup.created': { kind: 'server', done: 'console.events.backup-created', failed: 'console.events.backup-failed' },
  'backup.restored': { kind: 'server', done: 'console.events.backup-restored' },
  'audit.exported': { kind: 'server', done: 'console.events.log-exported' },
  'audit.verified': {
    kind: 'server',
    done: 'console.events.log-verified',
    failed: 'console.events.log-changed',
  },
  'audit.restore-accepted': { kind: 'server', done: 'console.events.log-accepted' },
  'secrets.rotated': { kind: 'server', done: 'console.events.secrets-rotated' },
  'integrity.alarm': {
    kind: 'server',
    done: 'console.events.integrity-alarm',
    failed: 'console.events.integrity-alarm',
    saysReason: true,
  },
  'address.denied': {
    kind: 'server',
    done: 'console.events.address-denied',
    failed: 'console.events.address-denied',
    saysReason: true,
  },
  'server.started': { kind: 'server', done: 'console.events.server-started' },
};

// Sentences of accounts, passwords, second factors, roles and mail.

type AccountEvents = Extract<
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

const accountTexts: Record<AccountEvents, EventText> = {
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
  'group.domain-added': { kind: 'group', done: 'console.events.group-domain-added' },
  'group.domain-removed': { kind: 'group', done: 'console.events.group-domain-removed' },
  'group.domain-proven': { kind: 'group', done: 'console.events.group-domain-proven' },
  'group.domain-lost': { kind: 'group', done: 'console.events.group-domain-lost' },
  'group.owner-added': { kind: 'group', done: 'activity.event.group-owner-added' },
  'group.owner-removed': { kind: 'group', done: 'activity.event.group-owner-removed' },
  'group.member-added': { kind: 'group', done: 'activity.event.group-joined' },
  'group.member-changed': { kind: 'group', done: 'activity.event.group-membership-changed' },
  'group.member-removed': { kind: 'group', done: 'activity.event.group-left' },
  'group.member-expired': { kind: 'group', done: 'activity.event.group-expired' },
  'group.request-made': { kind: 'group', done: 'activity.event.group-requested' },
  'group.request-granted': { kind: 'group', done: 'activity.event.group-request-granted' },
  'group.request-denied': { kind: 'group', done: 'activity.event.group-request-denied' },
  'group.request-withdrawn': { kind: 'group', done: 'activity.event.group-request-withdrawn' },
  'group.request-lapsed': { kind: 'group', done: 'activity.event.group-request-lapsed' },
  'group.invitation-sent': { kind: 'group', done: 'activity.event.group-invited' },
  'group.invitation-withdrawn': { kind: 'group', done: 'activity.event.group-invitation-withdrawn' },
  'group.invitation-accepted': {
    kind: 'group',
    done: 'activity.event.group-invitation-accepted',
    failed: 'activity.event.group-invitation-refused',
  },
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

export const eventTexts: Record<AuditEventType, EventText> = { ...signInTexts, ...accountTexts, ...applicationTexts };

/** A user, application or connection in a sentence; `name` is the name in the event, for one that was deleted. */
export interface Mention {
  type: 'user' | 'application' | 'connection';
  /** The id of a user or connection, the client_id or entity ID of an application. */
  id: string;
  name?: string | undefined;
}

/** Renders a mention on a page: a slot for a name, a text for words. */
export type MentionRenderer = (mention: Mention) => Slot | Text;

/** The event types of a kind. */
export function typesOfKind(kind: EventKind): AuditEventType[] {
  return (Object.keys(eventTexts) as AuditEventType[]).filter((type) => eventTexts[type].kind === kind);
}

/** The event as one sentence without its full stop; an unknown event (of a newer version) as its type. */
export function sentenceOf(event: AuditEntry, nameOf: MentionRenderer): PageText {
  const text = (eventTexts as Partial<Record<string, EventText>>)[event.type];
  if (!text) return event.type;
  const sentence = withOutcome(text, event, new Text(keyOf(text, event), valuesOf(event, nameOf)));
  const reason = text.saysReason || event.outcome === 'success' ? undefined : reasonTexts[event.reason ?? ''];
  return sentenceCase(reason ? t('activity.event.reason', { event: sentence, reason }) : sentence);
}

/** The application that the event is about, or whose sign-in it is a step of. */
export function applicationOf({ clientId, data }: AuditEntry): Mention | undefined {
  if (clientId !== null) return { type: 'application', id: clientId, name: nameIn(data, 'name') };
  return typeof data.application === 'string' ? { type: 'application', id: data.application } : undefined;
}

/** All mentions in the sentences of these events, so that a page can load their names first. */
export function mentionsIn(events: readonly AuditEntry[]): Mention[] {
  return events.flatMap((event) => {
    const mentions: Mention[] = [applicationOf(event) ?? []].flat();
    valuesOf(event, (mention) => {
      mentions.push(mention);
      return nameSlot('');
    });
    return mentions;
  });
}

/** A name in a sentence; its first letter is never capitalized. */
export const nameSlot = (name: string) => new Slot({ text: name });

/** What the console calls a setting; an unknown one (of a newer version) by its name in the configuration file. */
function settingLabel(name: string): PageText {
  const key = `console.setting.${name}.label`;
  return hasText(key) ? new Text(key) : name;
}

function keyOf({ done, own, passive, failed }: EventText, event: AuditEntry): SentenceKey {
  const { actorId, actorApp, subjectId, outcome } = event;
  if (outcome !== 'success') return resolveTemplate(failed ?? done, event);
  if (actorId !== null && actorId === subjectId) return resolveTemplate(own ?? passive ?? done, event);
  return resolveTemplate(actorId === null && actorApp === null ? (passive ?? done) : done, event);
}

function withOutcome({ failed }: EventText, { outcome }: AuditEntry, sentence: Text): Text {
  return outcome === 'success' || failed ? sentence : t('activity.event.failed', { event: sentence });
}

function resolveTemplate(template: Template, event: AuditEntry): SentenceKey {
  return typeof template === 'string' ? template : template(event);
}

/** The values of all placeholders of the sentences. */
function valuesOf(event: AuditEntry, nameOf: MentionRenderer): Record<string, string | Slot | Text> {
  const { subjectId, clientId, data } = event;
  const nameFields = ['name', 'roleName', 'number', 'recipient', 'message', 'domain', 'groupName', 'childName'];
  const connection =
    typeof data.connection === 'string' ? nameOf({ type: 'connection', id: data.connection }) : undefined;
  return {
    ...Object.fromEntries(nameFields.map((name) => [name, nameSlot(nameIn(data, name) ?? '…')])),
    // Events of the configuration file have it as their name.
    setting: new Slot({ text: settingLabel(nameIn(data, 'setting') ?? nameIn(data, 'name') ?? '…') }),
    actor: actorOf(event, nameOf),
    user:
      subjectId === null
        ? t('activity.unknown.user')
        : nameOf({ type: 'user', id: subjectId, name: nameIn(data, 'username') }),
    app:
      clientId === null
        ? t('activity.unknown.application')
        : nameOf({ type: 'application', id: clientId, name: nameIn(data, 'name') }),
    connection: connection ?? t('activity.unknown.connection'),
    with: methodsOf(data.amr, connection),
    method: data.method === 'recovery-code' ? 'recovery' : String(data.method),
    channel: String(data.channel),
  };
}

/** An event without a user or an application was caused by the server, the command line or the configuration file. */
function actorOf({ actorId, actorApp, data }: AuditEntry, nameOf: MentionRenderer): Slot | Text {
  if (actorId !== null) return nameOf({ type: 'user', id: actorId });
  if (actorApp !== null) return nameOf({ type: 'application', id: actorApp });
  const isFile = data.by === 'file' || data.source === 'file';
  return isFile ? t('activity.actor.configuration-file') : t('activity.actor.server');
}

/** A text of the event, looked up in `data`, `data.after` and `data.before`. */
function nameIn(data: Record<string, unknown>, name: string): string | undefined {
  for (const place of [data, data.after, data.before]) {
    const value = typeof place === 'object' && place !== null ? (place as Record<string, unknown>)[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return name === 'name' ? nameIn(data, 'identifier') : undefined;
}

const METHODS: [string, Text][] = [
  ['pwd', t('activity.method.password')],
  ['otp', t('activity.method.authenticator-app')],
  ['sms', t('activity.method.sms')],
  ['email', t('activity.method.email')],
  ['recovery', t('activity.method.recovery-code')],
  ['hwk', t('activity.method.passkey')],
  ['swk', t('activity.method.passkey')],
];

/** `a password and a passkey`, from the authentication methods (RFC 8176), or the identity provider of the sign-in. */
function methodsOf(amr: unknown, connection: Slot | Text | undefined): Slot | Text {
  const amrValues = Array.isArray(amr) ? amr : [];
  const methods = [...new Set(METHODS.flatMap(([value, text]) => (amrValues.includes(value) ? [text] : [])))];
  const provider = connection ?? (amrValues.includes('fed') ? t('activity.unknown.connection') : undefined);
  if (methods.length === 0) return provider ?? t('activity.method.unknown');
  return provider
    ? t('activity.method.at-connection', { methods: allOf(methods), connection: provider })
    : allOf(methods);
}

const reasonTexts: Record<string, Text> = {
  access_denied: t('activity.reason.access-denied'),
  access_lost: t('console.events.reason.access-lost'),
  account_selection_required: t('console.events.reason.account-selection-required'),
  address_in_use: t('console.events.reason.address-in-use'),
  by_mail: t('console.events.reason.by-mail'),
  captcha_unsolved: t('console.events.reason.captcha-unsolved'),
  consent_required: t('console.events.reason.consent-required'),
  denied_network: t('activity.reason.denied-network'),
  directory_account_disabled: t('console.events.reason.directory-account-disabled'),
  directory_account_expired: t('console.events.reason.directory-account-expired'),
  directory_account_locked: t('console.events.reason.directory-account-locked'),
  directory_answer_invalid: t('console.events.reason.directory-answer-invalid'),
  directory_constraint: t('console.events.reason.directory-constraint'),
  directory_gone: t('console.events.reason.directory-gone'),
  directory_no_identifier: t('console.events.reason.directory-no-identifier'),
  directory_no_password: t('console.events.reason.directory-no-password'),
  directory_no_right: t('console.events.reason.directory-no-right'),
  directory_no_user: t('console.events.reason.directory-no-user'),
  directory_not_here: t('console.events.reason.directory-not-here'),
  directory_not_now: t('console.events.reason.directory-not-now'),
  directory_password_expired: t('console.events.reason.directory-password-expired'),
  directory_password_must_change: t('console.events.reason.directory-password-must-change'),
  directory_unwilling: t('console.events.reason.directory-unwilling'),
  disabled_account: t('activity.reason.disabled-account'),
  expired: t('activity.reason.expired'),
  expired_token: t('console.events.reason.expired-token'),
  'invalid-signature': t('activity.reason.invalid-signature'),
  invalid_client: t('console.events.reason.invalid-client'),
  invalid_client_metadata: t('console.events.reason.invalid-client-metadata'),
  invalid_dpop_proof: t('console.events.reason.invalid-dpop-proof'),
  invalid_grant: t('console.events.reason.invalid-grant'),
  invalid_link: t('console.events.reason.invalid-link'),
  invalid_redirect_uri: t('console.events.reason.invalid-redirect-uri'),
  invalid_request: t('activity.reason.invalid-request'),
  invalid_request_object: t('activity.reason.invalid-request-object'),
  invalid_scope: t('activity.reason.invalid-scope'),
  invalid_target: t('activity.reason.invalid-target'),
  invalid_token: t('console.events.reason.invalid-token'),
  login_required: t('console.events.reason.login-required'),
  malformed: t('activity.reason.malformed'),
  metadata_expired: t('console.events.reason.metadata-expired'),
  name_id_encrypted: t('console.events.reason.name-id-encrypted'),
  no_logout: t('activity.reason.no-logout'),
  no_password: t('console.events.reason.no-password'),
  no_such_session: t('console.events.reason.no-such-session'),
  not_handed_over: t('activity.reason.not-handed-over'),
  not_permitted: t('activity.reason.not-permitted'),
  other_network: t('activity.reason.other-network'),
  replayed: t('activity.reason.replayed'),
  revoked: t('activity.reason.revoked'),
  session_ended: t('activity.reason.session-ended'),
  switched_off: t('activity.reason.switched-off'),
  too_many_codes: t('activity.reason.too-many-codes'),
  too_many_requests: t('activity.reason.too-many-requests'),
  too_many_tries: t('activity.reason.too-many-tries'),
  unauthorized_client: t('activity.reason.unauthorized-client'),
  unknown_account: t('console.events.reason.unknown-account'),
  unknown_code: t('console.events.reason.unknown-code'),
  'unknown-credential': t('console.events.reason.unknown-credential'),
  unsupported_grant_type: t('console.events.reason.unsupported-grant-type'),
  used: t('activity.reason.used'),
  wrong: t('activity.reason.wrong'),
  wrong_password: t('console.events.reason.wrong-password'),
};

// The text keys (views/texts) of the sentence of an audit event. Texts whose key starts with `activity` are also displayed to users, on
// /account/activity. sentence.ts fills in their placeholders.

/** The filter groups of the activity log. */
export const eventKinds = {
  'sign-in': t('console.events.kind.sign-in'),
  session: t('console.events.kind.session'),
  account: t('console.events.kind.account'),
  password: t('console.events.kind.password'),
  factor: t('console.events.kind.factor'),
  role: t('console.events.kind.role'),
  group: t('console.events.kind.group'),
  request: t('console.events.kind.request'),
  application: t('console.events.kind.application'),
  connection: t('console.events.kind.connection'),
  server: t('console.events.kind.server'),
} as const;

export type EventKind = keyof typeof eventKinds;

type SentenceKey = Extract<TextKey, `activity.event.${string}` | `console.events.${string}`>;

type Template = SentenceKey | ((entry: AuditEntry) => SentenceKey);

interface EventText {
  kind: EventKind;
  /** The sentence of a successful event. */
  done: Template;
  /** The same if the actor is the user; without it, `passive`. */
  own?: Template;
  /** The same if the event has no actor. */
  passive?: Template;
  /** The sentence of a failed event. The text of the reason follows, unless `saysReason`. */
  failed?: Template;
  /** The sentence already contains the reason. */
  saysReason?: boolean;
}
