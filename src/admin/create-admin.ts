// Builds administration: what an administrator can do with each noun, for the API and the console alike.

import type { PasswordReset } from '../account/recovery/password-reset.ts';
import type { Invitations } from '../account/registration/invitation.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Applications } from '../applications/applications.ts';
import type { ImageStore } from '../applications/brand/image-store.ts';
import type { ApplicationPictures } from '../applications/pictures/pictures.ts';
import type { Resources } from '../applications/resources.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Db } from '../base/storage/database.ts';
import type { Sql } from '../base/storage/statements.ts';
import type { ConfigFile } from '../config-file/config-file.ts';
import { exportConfiguration, exportedConfiguration } from '../config-file/export.ts';
import type { FileReader } from '../config-file/file-reader.ts';
import type { Audit } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { Keyring } from '../core/keys/keyring.ts';
import type { NotifyOwner } from '../core/mail/notify-owner.ts';
import type { Outbox } from '../core/mail/outbox.ts';
import type { TestMail } from '../core/mail/test-mail.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { ClientSecrets } from '../federation/client-secrets.ts';
import type { DomainChecks } from '../federation/connections/check-domains.ts';
import type { Connections } from '../federation/connections/connections.ts';
import type { ConnectionDocuments } from '../federation/connections/documents.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import type { SsoIds } from '../federation/sso-ids.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import type { ApiKeys } from '../people/api-keys/api-keys.ts';
import type { Credentials } from '../people/credentials/credentials.ts';
import type { Mfa } from '../people/mfa/create-mfa.ts';
import type { People } from '../people/people.ts';
import type { Lockout } from '../people/rate-limits/lockout.ts';
import type { MailLimits } from '../people/rate-limits/mail-limits.ts';
import type { Authority } from '../people/rbac/authority.ts';
import type { Roles } from '../people/rbac/roles.ts';
import type { SignUpCodes } from '../people/sign-up-codes/sign-up-codes.ts';
import type { EndSession } from '../protocols/logout/end-session.ts';
import type { Sessions } from '../protocols/oidc/store/sessions/sessions.ts';
import type { FetchMetadata } from '../protocols/saml/metadata/fetch.ts';
import { parseServiceProviderMetadata } from '../protocols/saml/metadata/parse.ts';
import { parseIdentityProviderMetadata } from '../protocols/saml/metadata/parse-identity-provider.ts';
import type { WaitingMetadataDecisions } from '../protocols/saml/metadata/waiting-metadata.ts';
import type { Endpoint } from './api/endpoint.ts';
import { apiKeyEndpoints, createApiKeyAdmin } from './api-keys/api-keys.ts';
import { createApplicationAdmin } from './applications/actions.ts';
import { applicationEndpoints } from './applications/api.ts';
import { auditEndpoints } from './audit/api.ts';
import { createConnectionAdmin } from './connections/actions.ts';
import { connectionEndpoints } from './connections/api.ts';
import { createKeyAdmin } from './keys/actions.ts';
import { keyEndpoints } from './keys/api.ts';
import { createMailAdmin } from './mail/actions.ts';
import { mailEndpoints } from './mail/api.ts';
import { overviewEndpoints } from './overview/api.ts';
import { cacheStatistics } from './overview/cached-statistics.ts';
import { createStatistics } from './overview/statistics.ts';
import { createResourceAdmin, resourceEndpoints } from './resources/resources.ts';
import { createRoleAdmin, roleEndpoints } from './roles/roles.ts';
import { createSessionAdmin, sessionEndpoints } from './sessions/sessions.ts';
import { createSettingAdmin } from './settings/actions.ts';
import { configurationEndpoints, settingEndpoints } from './settings/api.ts';
import { createConfigurationAdmin } from './settings/configuration.ts';
import { createSignUpCodeAdmin, signUpCodeEndpoints } from './sign-up-codes/sign-up-codes.ts';
import { createUserAdmin } from './users/actions.ts';
import { userEndpoints } from './users/api.ts';

export interface AdminDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
  accounts: Accounts;
  authority: Authority;
  apiKeys: ApiKeys;
  applications: Applications;
  resources: Resources;
  connections: Connections;
  connectionDocuments: ConnectionDocuments;
  domainChecks: DomainChecks;
  clientSecrets: ClientSecrets;
  issuer: string;
  audit: Audit;
  credentials: Credentials;
  endSession: EndSession;
  fetchMetadata: FetchMetadata;
  pictures: ApplicationPictures;
  waitingMetadata: WaitingMetadataDecisions;
  ssoIds: SsoIds;
  invitations: Invitations;
  keyring: Keyring;
  lockout: Lockout;
  outbox: Outbox;
  testMail: TestMail;
  mailLimits: MailLimits;
  /** Starts the mail delivery without waiting for the next run of its job. */
  wakeMailDelivery(): void;
  mfa: Mfa;
  configFile: ConfigFile;
  fileReader: FileReader;
  passwordReset: PasswordReset;
  roles: Roles;
  sessions: Sessions;
  settings: Settings;
  signUpCodes: SignUpCodes;
  brandImages: ImageStore;
  notifyOwner: NotifyOwner;
}

type AdminServices = Core & People & ApplicationServices & FederationServices & AdminDependencies;

export type Admin = ReturnType<typeof createAdmin>;

/** What an administrator can do, and the endpoints of the API for it. */
export function createAdmin(dependencies: AdminServices) {
  const actions = createAdminActions(dependencies);
  return { ...actions, endpoints: adminEndpoints(actions, dependencies.audit) };
}

/** The actions of each noun. Every action takes `by`, the actor. */
function createAdminActions(dependencies: AdminServices) {
  const { db, sql, now, accounts, authority, audit, credentials, endSession, keyring, lockout } = dependencies;
  const { mfa, settings, brandImages, notifyOwner, connections } = dependencies;
  const users = createUserAdmin({
    db,
    sql,
    audit,
    accounts,
    roles: dependencies.roles,
    authority,
    credentials,
    mfa,
    lockout,
    endSession,
    notifyOwner,
    ssoIds: dependencies.ssoIds,
    invitations: dependencies.invitations,
    passwordReset: dependencies.passwordReset,
  });
  const roles = createRoleAdmin({ db, sql, roles: dependencies.roles, authority });
  const applications = createApplicationAdmin({
    db,
    sql,
    applications: dependencies.applications,
    authority,
    fetchMetadata: dependencies.fetchMetadata,
    pictures: dependencies.pictures,
    waitingMetadata: dependencies.waitingMetadata,
    parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
  });
  const resources = createResourceAdmin({
    db,
    sql,
    authority,
    resources: dependencies.resources,
  });
  const connectionAdmin = createConnectionAdmin({
    db,
    sql,
    issuer: dependencies.issuer,
    connections,
    authority,
    endSession,
    sessions: dependencies.sessions,
    documents: dependencies.connectionDocuments,
    domainChecks: dependencies.domainChecks,
    clientSecrets: dependencies.clientSecrets,
    parseMetadata: (xml) => parseIdentityProviderMetadata(xml, now()),
  });
  const sessions = createSessionAdmin({
    db,
    authority,
    sessions: dependencies.sessions,
    endSession,
    applications: dependencies.applications,
  });
  const keys = createKeyAdmin({ keyring });
  const apiKeys = createApiKeyAdmin({
    db,
    accounts,
    authority,
    settings,
    notifyOwner,
    now,
    apiKeys: dependencies.apiKeys,
  });
  const settingAdmin = createSettingAdmin({ db, audit, settings, authority, brandImages });
  const configuration = createConfigurationAdmin({
    configFile: dependencies.configFile,
    fileReader: dependencies.fileReader,
    exportConfiguration: () => exportConfiguration(dependencies),
    exportedConfiguration: () => exportedConfiguration(dependencies),
  });
  const mail = createMailAdmin({ ...dependencies, db, audit });
  const statistics = cacheStatistics(createStatistics({ db, sql, now }), now);
  return {
    authority,
    users,
    roles,
    applications,
    resources,
    connections: connectionAdmin,
    sessions,
    keys,
    apiKeys,
    signUpCodes: createSignUpCodeAdmin({ db, codes: dependencies.signUpCodes }),
    settings: settingAdmin,
    configuration,
    mail,
    statistics,
  };
}

/** The endpoints of the API that call these actions. */
function adminEndpoints(actions: ReturnType<typeof createAdminActions>, audit: Audit): Endpoint[] {
  const { authority, users, sessions, settings, configuration } = actions;
  return [
    ...userEndpoints(users),
    ...sessionEndpoints(sessions, users),
    ...roleEndpoints(actions.roles),
    ...applicationEndpoints(actions.applications),
    ...resourceEndpoints(actions.resources),
    ...connectionEndpoints(actions.connections),
    ...apiKeyEndpoints(actions.apiKeys),
    ...keyEndpoints(actions.keys),
    ...auditEndpoints(audit, authority),
    ...settingEndpoints(settings),
    ...signUpCodeEndpoints(actions.signUpCodes),
    ...configurationEndpoints(configuration),
    ...mailEndpoints(actions.mail),
    ...overviewEndpoints(actions.statistics),
  ];
}
