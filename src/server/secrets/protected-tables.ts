// Every table whose rows have a MAC (audit/protected-rows.ts), with what it covers. `gatehouse doctor` verifies them;
// test/cli/protected-tables.test.ts compares the list with the schema. The audit log has MACs and a chain of its own (audit/chain/check.ts).
import { userFields } from '../../accounts/protected-users.ts';
import { apiKeyFields } from '../../api-keys/api-keys.ts';
import { applicationFields, secretFields } from '../../applications/macs/protected-applications.ts';
import { pictureFields } from '../../applications/pictures/picture-rows.ts';
import { resourceFields } from '../../applications/resources.ts';
import type { ProtectedTable, ProtectedValue } from '../../audit/protected-rows.ts';
import { IMAGE_KEY } from '../../brand/image-store.ts';
import { protectedFields } from '../../connections/connection.ts';
import { domainFields } from '../../connections/domains.ts';
import { consentFields } from '../../consents/consents.ts';
import { upstreamSessionFields } from '../../federation/upstream-session-rows.ts';
import { deliveryFields, participantFields, runFields } from '../../logout/logout-run.ts';
import { linkFields, resetFields } from '../../mail/link-tokens.ts';
import { passkeyFields } from '../../mfa/factors/webauthn-ceremony.ts';
import { approvalFields } from '../../mfa/first-enrolment-rule.ts';
import { trustFields } from '../../mfa/known-browsers.ts';
import { artifactFields, MODELS_WITHOUT_MAC } from '../../oidc/store/protected-artifacts.ts';
import { rpSessionFields } from '../../rp/sessions.ts';
import { waitingFields } from '../../saml/metadata/refresh-state.ts';
import { requestFields } from '../../saml/sso/pending-authn-requests.ts';
import { nameIdFields } from '../../saml/sso/stored-name-ids.ts';
import { settingFields, settingNames } from '../../settings/settings.ts';
import { attemptFields } from '../../sign-in/attempts.ts';
import { signUpCodeFields } from '../../sign-up-codes/sign-up-codes.ts';
import type { Db } from '../../storage/database.ts';

/** A row of any of these tables, as Prisma reads it. */
// biome-ignore lint/suspicious/noExplicitAny: the field functions are typed by their tables, and the rows come from those
export type ProtectedRow = Record<string, any>;

/** What is needed of a model of Prisma. */
export interface Rows {
  findMany(query: object): Promise<ProtectedRow[]>;
  count(query: object): Promise<number>;
  update(change: object): Promise<unknown>;
}

export interface ProtectedTableEntry {
  /** The model of Prisma. */
  model: keyof Db;
  /** The primary key. */
  key: readonly string[];
  /** What the MAC covers. */
  fields(row: ProtectedRow): readonly ProtectedValue[];
  /** Related rows that it covers too. */
  include?: object;
  /** What is not read, because it is long and the MAC does not cover it. */
  omit?: object;
  /** Which rows have a MAC; all by default. */
  where?: object;
  /** Such a row ends by itself after minutes or hours, and its user begins again. */
  isShortLived?: true;
  /** What doctor calls a row; by default the table with the key. */
  nameOf?(row: ProtectedRow): string;
}

export const protectedTables: Record<ProtectedTable, ProtectedTableEntry> = {
  users: {
    model: 'user',
    key: ['id'],
    fields: (row) => userFields(row as never),
    nameOf: ({ username, id }) => `user ${username} (${id})`,
  },
  roles: {
    model: 'role',
    key: ['id'],
    include: { permissions: { select: { permission: true } } },
    fields: ({ id, name, permissions }) => [id, name, ...permissionNames(permissions)],
    nameOf: ({ name }) => `role ${name}`,
  },
  user_roles: {
    model: 'userRole',
    key: ['userId', 'roleId', 'via'],
    fields: ({ userId, roleId, via }) => [userId, roleId, via],
    nameOf: ({ userId, roleId }) => `the role ${roleId} of user ${userId} (user_roles)`,
  },
  password_credentials: {
    model: 'passwordCredential',
    key: ['userId'],
    fields: ({ userId, hash }) => [userId, hash],
    nameOf: ({ userId }) => `the password of user ${userId}`,
  },
  passkeys: {
    model: 'passkey',
    key: ['id'],
    fields: (row) => passkeyFields(row as never),
    nameOf: ({ id, userId }) => `the passkey ${id} of user ${userId}`,
  },
  phone_factors: {
    model: 'phoneFactor',
    key: ['userId'],
    fields: ({ userId, number }) => [userId, number],
    nameOf: ({ userId }) => `the phone number for codes of user ${userId}`,
  },
  password_reset_tokens: {
    model: 'passwordResetToken',
    key: ['id'],
    fields: (row) => resetFields(row as never),
    isShortLived: true,
  },
  mail_tokens: { model: 'mailToken', key: ['id'], fields: (row) => linkFields(row as never), isShortLived: true },
  known_browsers: {
    model: 'knownBrowser',
    key: ['id'],
    where: { trustedUntil: { not: null } },
    fields: (row) => trustFields(row as never),
  },
  connections: {
    model: 'connection',
    key: ['id'],
    fields: (row) => protectedFields(row as never),
    nameOf: ({ id }) => `connection ${id}`,
  },
  connection_documents: {
    model: 'connectionDocument',
    key: ['connectionId', 'kind'],
    fields: ({ connectionId, kind, content }) => [connectionId, kind, content],
  },
  connection_domains: { model: 'connectionDomain', key: ['domain'], fields: (row) => domainFields(row as never) },
  connection_role_mappings: {
    model: 'connectionRoleMapping',
    key: ['connectionId', 'group', 'roleId'],
    fields: ({ connectionId, group, roleId }) => [connectionId, group, roleId],
  },
  external_identities: {
    model: 'externalIdentity',
    key: ['id'],
    fields: ({ connectionId, subject, userId }) => [connectionId, subject, userId],
    nameOf: ({ id, userId }) => `the connected sign-in ${id} of user ${userId}`,
  },
  upstream_sessions: { model: 'upstreamSession', key: ['id'], fields: (row) => upstreamSessionFields(row as never) },
  applications: {
    model: 'application',
    key: ['id'],
    fields: (row) => applicationFields(row as never),
    nameOf: ({ clientId }) => `application ${clientId}`,
  },
  application_pictures: {
    model: 'applicationPicture',
    key: ['applicationId'],
    where: { name: { not: null } },
    omit: { content: true },
    fields: (row) => pictureFields(row as never),
    nameOf: ({ applicationId }) => `the picture of application ${applicationId}`,
  },
  application_roles: {
    model: 'applicationRole',
    key: ['applicationId', 'roleId'],
    fields: ({ applicationId, roleId }) => [applicationId, roleId],
  },
  client_secrets: { model: 'clientSecret', key: ['id'], fields: (row) => secretFields(row as never) },
  resources: {
    model: 'resource',
    key: ['identifier'],
    fields: (row) => resourceFields(row as never),
    nameOf: ({ identifier }) => `API ${identifier}`,
  },
  consents: { model: 'consent', key: ['id'], fields: (row) => consentFields(row as never) },
  // A used row has lost the end of its MAC for good.
  oidc_artifacts: {
    model: 'oidcArtifact',
    key: ['id'],
    where: { consumedAt: null, model: { notIn: [...MODELS_WITHOUT_MAC] } },
    fields: (row) => artifactFields(row as never),
  },
  rp_sessions: { model: 'rpSession', key: ['id'], fields: (row) => rpSessionFields(row as never), isShortLived: true },
  sign_in_attempts: {
    model: 'signInAttempt',
    key: ['uid'],
    fields: (row) => attemptFields(row as never),
    isShortLived: true,
  },
  saml_requests: {
    model: 'samlRequest',
    key: ['id'],
    fields: (row) => requestFields(row as never),
    isShortLived: true,
  },
  saml_metadata: {
    model: 'samlMetadata',
    key: ['applicationId'],
    where: { pendingXml: { not: null } },
    fields: (row) => waitingFields(row as never),
  },
  first_factor_approvals: {
    model: 'firstFactorApproval',
    key: ['userId'],
    where: { allowedUntil: { not: null } },
    fields: (row) => approvalFields(row as never),
  },
  saml_name_ids: { model: 'samlNameId', key: ['id'], fields: (row) => nameIdFields(row as never) },
  api_keys: {
    model: 'apiKey',
    key: ['id'],
    fields: (row) => apiKeyFields(row as never),
    nameOf: ({ id, userId }) => `the API key ${id} of user ${userId}`,
  },
  sign_up_codes: {
    model: 'signUpCode',
    key: ['id'],
    fields: (row) => signUpCodeFields(row as never),
    nameOf: ({ name }) => `the sign-up code ${name}`,
  },
  logout_runs: { model: 'logoutRun', key: ['id'], fields: (row) => runFields(row as never), isShortLived: true },
  logout_participants: {
    model: 'logoutParticipant',
    key: ['id'],
    fields: (row) => participantFields(row as never),
    isShortLived: true,
  },
  logout_deliveries: {
    model: 'logoutDelivery',
    key: ['id'],
    fields: (row) => deliveryFields(row as never),
    isShortLived: true,
  },
  // And the pictures of brands. The other rows hold nothing but encrypted values, which are bound to their key.
  settings: {
    model: 'setting',
    key: ['key'],
    where: { OR: [{ key: { in: [...settingNames] } }, { key: { startsWith: IMAGE_KEY } }] },
    fields: (row) => settingFields(row as never),
    nameOf: ({ key }) => `setting ${key}`,
  },
};

export const tablesInOrder = Object.entries(protectedTables) as [ProtectedTable, ProtectedTableEntry][];

export function rowsOf(db: Db, { model }: ProtectedTableEntry): Rows {
  return db[model] as unknown as Rows;
}

/** The row in `where` or `cursor` of Prisma. */
export function uniqueKey({ key }: ProtectedTableEntry, row: ProtectedRow): object {
  const values = Object.fromEntries(key.map((column) => [column, row[column]]));
  return key.length === 1 ? values : { [key.join('_')]: values };
}

/** What a message calls the row. */
export function nameOfRow(table: ProtectedTable, row: ProtectedRow): string {
  const { key, nameOf } = protectedTables[table];
  return nameOf?.(row) ?? `${table} ${key.map((column) => String(row[column])).join(', ')}`;
}

function permissionNames(permissions: { permission: { resource: string; action: string } }[]): string[] {
  return permissions.map(({ permission }) => `${permission.resource}:${permission.action}`).sort();
}
