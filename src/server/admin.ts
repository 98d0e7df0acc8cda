// Puts administration together: the functions that the API and the console call, and the API itself.
import { createEvaluationCallers } from '../access/callers.ts';
import { createEvaluations, type EvaluationsNeeds } from '../access/evaluation.ts';
import { evaluationRoutes } from '../access/routes.ts';
import { claimsByScope } from '../accounts/claims.ts';
import { applicationEndpoints } from '../admin/api/applications.ts';
import { auditEndpoints } from '../admin/api/audit.ts';
import { documentRoutes } from '../admin/api/documents.ts';
import { keyEndpoints } from '../admin/api/keys.ts';
import { mailEndpoints } from '../admin/api/mail.ts';
import { overviewEndpoints } from '../admin/api/overview.ts';
import { refusalEndpoints } from '../admin/api/refusals.ts';
import { resourceEndpoints } from '../admin/api/resources.ts';
import { roleEndpoints } from '../admin/api/roles.ts';
import { apiRouter } from '../admin/api/router.ts';
import { sessionEndpoints } from '../admin/api/sessions.ts';
import { settingEndpoints } from '../admin/api/settings.ts';
import { userEndpoints } from '../admin/api/users.ts';
import { createApplicationAdmin } from '../admin/applications.ts';
import { createCallers } from '../admin/caller.ts';
import { createConfigurationAdmin } from '../admin/configuration.ts';
import { createIdempotency } from '../admin/idempotency.ts';
import { createKeyAdmin } from '../admin/keys.ts';
import { createMailAdmin } from '../admin/mail.ts';
import { createRefusalAdmin } from '../admin/refusals.ts';
import { createResourceAdmin } from '../admin/resources.ts';
import { createRoleAdmin } from '../admin/roles.ts';
import { createSessionAdmin } from '../admin/sessions.ts';
import { createSettingAdmin } from '../admin/settings.ts';
import { createStatistics } from '../admin/statistics.ts';
import { createUserAdmin } from '../admin/users.ts';
import { createWhy } from '../admin/why.ts';
import { createResources } from '../applications/resources.ts';
import type { ClientSource } from '../oidc/clients.ts';
import type { OwnTokens } from '../oidc/own-tokens.ts';
import type { Engine } from '../oidc/provider.ts';
import { createReceived } from '../oidc/received.ts';
import { exportConfiguration } from '../provisioning/export.ts';
import { createAuthority } from '../rbac/authority.ts';
import { accessApi, adminApi, ownResources } from '../rbac/built-in.ts';
import { parseServiceProviderMetadata } from '../saml/metadata-parse.ts';
import { packageVersion, type Services } from '../services.ts';
import { samlSides } from './console-saml.ts';
import type { MailedLinks } from './mailed-links.ts';

export type Administration = ReturnType<typeof createAdministration>;

export interface AdministrationParts {
  services: Services;
  links: Pick<MailedLinks, 'invitations' | 'reset'>;
  /** Wakes the delivery of mail. */
  mailQueued(): void;
}

/** Everything an administrator can do, for the API and the console alike. Each function says who acts: `by`. */
export function createAdministration({ services, links, mailQueued }: AdministrationParts) {
  const { config, now, provisioning } = services;
  const authority = createAuthority(services);
  const reserved = Object.keys(ownResources(config.issuer));
  return {
    authority,
    users: createUserAdmin({ ...services, ...links, authority }),
    roles: createRoleAdmin(services),
    applications: createApplicationAdmin({
      ...services,
      authority,
      parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
    }),
    resources: createResourceAdmin({ ...services, resources: createResources({ ...services, reserved }) }),
    sessions: createSessionAdmin(services),
    keys: createKeyAdmin(services),
    settings: createSettingAdmin(services),
    configuration: createConfigurationAdmin({
      provisioning,
      exportConfiguration: () => exportConfiguration(services),
    }),
    mail: createMailAdmin({ ...services, queued: mailQueued }),
    statistics: createStatistics(services),
  };
}

export type Explanations = ReturnType<typeof createExplanations>;

/** What says why somebody did not get in, and what an application would receive. */
export function createExplanations(parts: {
  services: Services;
  administration: Administration;
  engine: Engine;
  clients: ClientSource;
}) {
  const { services, administration, engine, clients } = parts;
  const { applications, users } = administration;
  const received = createReceived({ provider: engine.current, clients, accounts: services.accounts });
  return {
    received,
    why: createWhy({ ...services, received }),
    refusals: createRefusalAdmin({
      ...services,
      applicationAdmin: applications,
      userAdmin: users,
      samlSide: samlSides(services),
      scopesKnown: Object.keys(claimsByScope).concat('offline_access'),
    }),
  };
}

export interface AdminApiParts {
  services: Services;
  administration: Administration;
  explanations: Explanations;
  tokens: OwnTokens;
}

/** /api/admin and what describes it. */
export function assembleAdminApi({ services, administration, explanations, tokens }: AdminApiParts) {
  const { audit, config } = services;
  const { authority, users, roles, applications, resources, sessions, keys, settings, configuration } = administration;
  const endpoints = [
    ...userEndpoints(users),
    ...sessionEndpoints(sessions, users),
    ...roleEndpoints(roles),
    ...applicationEndpoints(applications),
    ...resourceEndpoints(resources),
    ...keyEndpoints(keys),
    ...auditEndpoints(audit),
    ...refusalEndpoints(explanations.refusals, explanations.why),
    ...settingEndpoints(settings, configuration),
    ...mailEndpoints(administration.mail),
    ...overviewEndpoints(administration.statistics),
  ];
  const callers = createCallers({ ...services, tokens, authority, audience: adminApi(config.issuer) });
  return {
    endpoints,
    routers: [
      apiRouter({ endpoints, callers, idempotency: createIdempotency(services) }),
      documentRoutes(endpoints, { issuer: config.issuer, version: packageVersion() }),
    ],
  };
}

/** Access evaluation for applications (AuthZEN). */
export function assembleEvaluation({
  services,
  tokens,
  accountOf,
}: Pick<AdminApiParts, 'services' | 'tokens'> & Pick<EvaluationsNeeds, 'accountOf'>) {
  const { config } = services;
  const callers = createEvaluationCallers({ ...services, tokens, audience: accessApi(config.issuer) });
  return evaluationRoutes({
    ...services,
    issuer: config.issuer,
    callers,
    evaluations: createEvaluations({ ...services, accountOf }),
  });
}
