// Sentences of applications and their requests, APIs, identity providers, and the server.
import type { AuditEventType } from '../events.ts';
import type { EventText } from './event-text.ts';

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

const REVOKED: Record<string, string> = {
  access_lost: '{user} lost access to {app}, so its tokens were revoked',
  'ended-by-person': '{user} removed the access of {app}',
};

const authorizationRejected = ({ subjectId }: { subjectId: string | null }) =>
  subjectId === null ? 'A sign-in to {app} was rejected' : 'The sign-in of {user} to {app} was rejected';

export const applicationTexts: Record<Types, EventText> = {
  'authorization.granted': { kind: 'request', done: '{user} opened {app}' },
  'authorization.refused': {
    kind: 'request',
    done: authorizationRejected,
    failed: authorizationRejected,
  },
  'consent.granted': { kind: 'request', done: '{user} allowed {app} to receive data' },
  'consent.denied': { kind: 'request', done: '{user} didn’t allow {app} to receive data' },
  'consent.revoked': { kind: 'request', done: '{user} removed the access of {app}' },
  'registration.refused': {
    kind: 'request',
    done: 'A client registration was rejected',
    failed: 'A client registration was rejected',
  },
  'registration.token-issued': { kind: 'request', done: '{actor} created a registration token' },
  'registration.tokens-revoked': { kind: 'request', done: '{actor} revoked every registration token' },
  'token.issued': { kind: 'request', done: '{app} received a token' },
  'token.refused': {
    kind: 'request',
    done: 'A token request of {app} was rejected',
    failed: 'A token request of {app} was rejected',
  },
  'token.revoked': {
    kind: 'request',
    done: ({ reason, clientId }) =>
      clientId === null
        ? 'All tokens of {user} were revoked'
        : (REVOKED[reason ?? ''] ?? 'The tokens of {user} for {app} were revoked'),
    saysReason: true,
  },
  'token.reused': {
    kind: 'request',
    done: '{app} used a token a second time',
    failed: '{app} used a token a second time',
  },
  'client.authenticated': {
    kind: 'request',
    done: '{app} authenticated',
    failed: '{app} failed to authenticate',
  },
  'saml.request': {
    kind: 'request',
    done: '{app} sent a sign-in request',
    failed: 'A sign-in request of {app} was rejected',
  },
  'saml.response': {
    kind: 'request',
    done: '{app} received an assertion about {user}',
    failed: ({ subjectId }) =>
      subjectId === null ? '{app} received no assertion' : '{app} received no assertion about {user}',
  },
  'saml.logout': {
    kind: 'session',
    done: '{app} sent a sign-out request',
    failed: 'A sign-out request of {app} was rejected',
  },
  'application.created': { kind: 'application', done: '{actor} added the application {app}' },
  'application.updated': { kind: 'application', done: '{actor} changed the application {app}' },
  'application.deleted': { kind: 'application', done: '{actor} deleted the application {app}' },
  'application.enabled': { kind: 'application', done: '{actor} enabled the application {app}' },
  'application.disabled': { kind: 'application', done: '{actor} disabled the application {app}' },
  'application.metadata-refused': {
    kind: 'application',
    done: 'New metadata of {app} was rejected',
    failed: 'New metadata of {app} was rejected',
  },
  'application.metadata-waiting': { kind: 'application', done: 'New metadata of {app} waits for approval' },
  'application.metadata-approved': { kind: 'application', done: '{actor} approved new metadata of {app}' },
  'application.metadata-rejected': { kind: 'application', done: '{actor} rejected new metadata of {app}' },
  'application.metadata-applied': { kind: 'application', done: 'New metadata of {app} was applied' },
  'application.metadata-expired': {
    kind: 'application',
    done: 'The metadata of {app} expired',
    failed: 'The metadata of {app} expired',
  },
  'application.secret-created': { kind: 'application', done: '{actor} created a client secret for {app}' },
  'application.secret-removed': { kind: 'application', done: '{actor} revoked a client secret of {app}' },
  'resource.created': { kind: 'application', done: '{actor} added the API {name}' },
  'resource.updated': { kind: 'application', done: '{actor} changed the API {name}' },
  'resource.deleted': { kind: 'application', done: '{actor} deleted the API {name}' },
  'connection.created': { kind: 'connection', done: '{actor} added the identity provider {connection}' },
  'connection.updated': { kind: 'connection', done: '{actor} changed the identity provider {connection}' },
  'connection.deleted': { kind: 'connection', done: '{actor} deleted the identity provider {connection}' },
  'connection.enabled': { kind: 'connection', done: '{actor} enabled the identity provider {connection}' },
  'connection.disabled': { kind: 'connection', done: '{actor} disabled the identity provider {connection}' },
  'connection.secret-created': { kind: 'connection', done: '{actor} stored a secret of {connection}' },
  'connection.secret-removed': { kind: 'connection', done: '{actor} removed a secret of {connection}' },
  'connection.domain-proven': { kind: 'connection', done: 'The domain {domain} of {connection} is verified' },
  'connection.domain-lost': {
    kind: 'connection',
    done: 'The domain {domain} of {connection} is no longer verified',
    failed: 'The domain {domain} of {connection} is no longer verified',
  },
  'connection.document-changed': { kind: 'connection', done: '{connection} published new keys or metadata' },
  'connection.document-failed': {
    kind: 'connection',
    done: 'The keys or metadata of {connection} could not be read',
    failed: 'The keys or metadata of {connection} could not be read',
    saysReason: true,
  },
  'api-key.created': {
    kind: 'application',
    done: '{actor} created the API key {name} for {user}',
    own: '{user} created the API key {name}',
    passive: 'The API key {name} was created for {user}',
  },
  'api-key.revoked': {
    kind: 'application',
    done: '{actor} revoked the API key {name} of {user}',
    own: '{user} revoked the API key {name}',
    passive: 'The API key {name} of {user} was revoked',
  },
  'api-key.used': {
    kind: 'request',
    done: 'The API key {name} of {user} was used',
    failed: 'The API key {name} of {user} was rejected',
  },
  'key.created': { kind: 'server', done: '{actor} created a signing key' },
  'key.activated': { kind: 'server', done: '{actor} activated a signing key' },
  'key.retired': { kind: 'server', done: '{actor} retired a signing key' },
  'key.removed': { kind: 'server', done: '{actor} removed a signing key' },
  'configuration.applied': { kind: 'server', done: 'The configuration file was applied' },
  'setting.changed': { kind: 'server', done: '{actor} changed the setting {setting}' },
  'backup.created': { kind: 'server', done: 'A backup was created', failed: 'A backup failed' },
  'backup.restored': { kind: 'server', done: 'A backup was restored' },
  'audit.exported': { kind: 'server', done: '{actor} exported the activity log' },
  'audit.verified': {
    kind: 'server',
    done: 'The activity log was checked and is unchanged',
    failed: 'The activity log was changed by another program',
  },
  'audit.restore-accepted': { kind: 'server', done: 'The activity log of a restored backup was accepted' },
  'secrets.rotated': { kind: 'server', done: 'The stored secrets were encrypted with the current key' },
  'integrity.alarm': {
    kind: 'server',
    done: 'Integrity alarm: {message}',
    failed: 'Integrity alarm: {message}',
    saysReason: true,
  },
  'integrity.adopted': { kind: 'server', done: 'Rows that another program wrote were accepted' },
  'address.denied': {
    kind: 'server',
    done: 'A request from a blocked network was rejected',
    failed: 'A request from a blocked network was rejected',
    saysReason: true,
  },
  'server.started': { kind: 'server', done: 'The server started' },
};
