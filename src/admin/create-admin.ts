// Builds administration: what an administrator can do with each noun, for the API and the console alike.

import type { AdminServices } from './admin-services.ts';
import type { Endpoint } from './api/endpoint.ts';
import { apiKeyEndpoints, createApiKeyAdmin } from './api-keys/api-keys.ts';
import { createApplicationAdmin } from './applications/actions.ts';
import { applicationEndpoints } from './applications/api.ts';
import { createPeopleAdmin, peopleEndpoints } from './applications/people.ts';
import { createProvisioningAdmin, provisioningEndpoints } from './applications/provisioning.ts';
import { auditEndpoints, createAuditAdmin } from './audit/audit.ts';
import { createConnectionAdmin } from './connections/actions.ts';
import { connectionEndpoints } from './connections/api.ts';
import { createDeliveryAdmin, deliveryEndpoints } from './event-streams/deliveries.ts';
import { createEventStreamAdmin, eventStreamEndpoints } from './event-streams/event-streams.ts';
import { createGroupAdmin, groupEndpoints } from './groups/groups.ts';
import { createKeyAdmin, keyEndpoints } from './keys/keys.ts';
import { createMailAdmin, mailEndpoints } from './mail/mail.ts';
import { cacheStatistics, createStatistics, overviewEndpoints } from './overview/statistics.ts';
import { createResourceAdmin, resourceEndpoints } from './resources/resources.ts';
import { createRoleAdmin, roleEndpoints } from './roles/roles.ts';
import { createScimAdmin, scimEndpoints } from './scim/scim.ts';
import { createSessionAdmin, sessionEndpoints } from './sessions/sessions.ts';
import { createRetentionAdmin, retentionEndpoints } from './settings/retention.ts';
import {
  configurationEndpoints,
  createConfigurationAdmin,
  createSettingAdmin,
  settingEndpoints,
} from './settings/settings.ts';
import { createSignUpCodeAdmin, signUpCodeEndpoints } from './sign-up-codes/sign-up-codes.ts';
import { createUserAdmin } from './users/actions.ts';
import { userEndpoints } from './users/api.ts';
import { createUserImport } from './users/import.ts';
import { importEndpoints } from './users/import-api.ts';
import { createImportJobs } from './users/import-job.ts';

export type AdminActions = ReturnType<typeof createAdminActions>;

/** The actions of each noun. Every action takes `by`, the actor. */
export function createAdminActions(services: AdminServices) {
  const nouns = {
    users: createUserAdmin(services),
    roles: createRoleAdmin(services),
    groups: createGroupAdmin(services),
    applications: createApplicationAdmin(services),
  };
  const userImport = createUserImport({ ...services, ...nouns });
  return {
    ...nouns,
    userImport,
    imports: createImportJobs(services, userImport),
    people: createPeopleAdmin(services, nouns),
    provisioning: createProvisioningAdmin(services, nouns),
    resources: createResourceAdmin(services),
    connections: createConnectionAdmin(services),
    sessions: createSessionAdmin(services),
    keys: createKeyAdmin(services),
    apiKeys: createApiKeyAdmin(services),
    signUpCodes: createSignUpCodeAdmin(services),
    scim: createScimAdmin(services),
    eventStreams: createEventStreamAdmin(services),
    deliveries: createDeliveryAdmin(services),
    settings: createSettingAdmin(services),
    retention: createRetentionAdmin(services),
    configuration: createConfigurationAdmin(services),
    mail: createMailAdmin(services),
    audit: createAuditAdmin(services),
    statistics: cacheStatistics(createStatistics(services), services.now),
  };
}

/** The endpoints of the API that call these actions. */
export function adminEndpoints(admin: AdminActions): Endpoint[] {
  const { users, sessions, settings, configuration } = admin;
  return [
    ...userEndpoints(users),
    ...importEndpoints(admin.imports, admin.userImport),
    ...sessionEndpoints(sessions, users),
    ...roleEndpoints(admin.roles),
    ...groupEndpoints(admin.groups),
    ...applicationEndpoints(admin.applications, admin.groups),
    ...peopleEndpoints(admin.people, admin),
    ...provisioningEndpoints(admin.provisioning),
    ...resourceEndpoints(admin.resources),
    ...connectionEndpoints(admin.connections),
    ...scimEndpoints(admin.scim),
    ...eventStreamEndpoints(admin.eventStreams),
    ...deliveryEndpoints(admin.deliveries),
    ...apiKeyEndpoints(admin.apiKeys),
    ...keyEndpoints(admin.keys),
    ...auditEndpoints(admin.audit),
    ...settingEndpoints(settings),
    ...retentionEndpoints(admin.retention),
    ...signUpCodeEndpoints(admin.signUpCodes),
    ...configurationEndpoints(configuration),
    ...mailEndpoints(admin.mail),
    ...overviewEndpoints(admin.statistics),
  ];
}
