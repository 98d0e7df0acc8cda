// Sentences of applications and their requests, APIs, identity providers, and the server.
import type { AuditEventType } from '../events.ts';
import type { EventText, SentenceKey, Template } from './event-text.ts';

type Types = Extract<
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

export const applicationTexts: Record<Types, EventText> = {
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
