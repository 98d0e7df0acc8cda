// Builds diagnostics: why a request was rejected, whether a user may open an application, and what it would receive.

import type { ApplicationAdmin } from '../admin/applications/actions.ts';
import type { ConnectionAdmin } from '../admin/connections/actions.ts';
import type { Frame } from '../admin/console/frame.ts';
import type { Names } from '../admin/console/names.ts';
import type { RoleAdmin } from '../admin/roles/roles.ts';
import { createTypedUsers } from '../admin/suggestions/typed-user.ts';
import type { UserAdmin } from '../admin/users/actions.ts';
import type { Applications } from '../applications/applications.ts';
import type { Db } from '../base/storage/database.ts';
import type { Audit } from '../core/audit/audit.ts';
import type { Rejections } from '../core/rejections/rejections.ts';
import type { Connections } from '../federation/connections/connections.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import type { Lockout } from '../people/rate-limits/lockout.ts';
import { ownResources } from '../people/rbac/built-in.ts';
import type { ClaimsPreviews } from '../protocols/oidc/claims/claims-preview.ts';
import { type SamlSide, samlSideOf } from '../protocols/saml/metadata/service-providers.ts';
import { createAccessCheck } from './access-check/access-check.ts';
import { accessCheckEndpoints } from './access-check/api.ts';
import { accessCheckRoutes } from './access-check/console.ts';
import type { FactsDependencies } from './access-check/facts.ts';
import { rejectionEndpoints } from './rejections/api.ts';
import { rejectionRoutes } from './rejections/console.ts';
import { createRejectionAdmin } from './rejections/explanation.ts';

export interface DiagnosticsDependencies extends FactsDependencies {
  issuer: string;
  db: Db;
  accounts: Accounts;
  applications: Applications;
  audit: Audit;
  lockout: Lockout;
  rejections: Rejections;
  claimsPreview: ClaimsPreviews;
  applicationAdmin: ApplicationAdmin;
  userAdmin: UserAdmin;
  roleAdmin: RoleAdmin;
  connectionAdmin: Pick<ConnectionAdmin, 'setEnabled'>;
  connections: Connections;
  hasMailServer: boolean;
  frame: Frame;
  names: Names;
}

/** Endpoints for the admin API, and routers for the console. */
export function createDiagnostics(dependencies: DiagnosticsDependencies) {
  const { db, accounts, applications, audit, lockout, claimsPreview, applicationAdmin, userAdmin } = dependencies;
  const { issuer, frame, names } = dependencies;
  const accessCheck = createAccessCheck({
    ...dependencies,
    findUser: createTypedUsers({ accounts, users: userAdmin }),
    db,
    accounts,
    applications,
    audit,
    lockout,
    claimsPreview,
    applicationAdmin,
    userAdmin,
  });
  const rejections = createRejectionAdmin({
    rejections: dependencies.rejections,
    accounts,
    applications,
    applicationAdmin,
    userAdmin,
    connectionAdmin: dependencies.connectionAdmin,
    connections: dependencies.connections,
    missingApis: (identifiers) => missingApis(db, issuer, identifiers),
    isOwnApi: (identifier) => Object.hasOwn(ownResources(issuer), identifier),
    registrationFaultOf: dependencies.registrationFaultOf,
    samlSide: (entityId) => registeredSide(applications, entityId),
  });
  return {
    endpoints: [...rejectionEndpoints(rejections), ...accessCheckEndpoints(accessCheck)],
    routers: [rejectionRoutes({ frame, names, rejections }), accessCheckRoutes({ frame, names, accessCheck })],
  };
}

/** Of these APIs, those that are neither registered nor of this server. */
async function missingApis(db: Db, issuer: string, identifiers: readonly string[]): Promise<string[]> {
  const where = { identifier: { in: [...identifiers] } };
  const rows = await db.asStored.resource.findMany({ where, select: { identifier: true } });
  const existing = [...rows.map(({ identifier }) => identifier), ...Object.keys(ownResources(issuer))];
  return identifiers.filter((identifier) => !existing.includes(identifier));
}

/** What requests of a service provider are checked against, whether it is enabled or not. */
async function registeredSide(applications: Applications, entityId: string): Promise<SamlSide | undefined> {
  const application = await applications.find(entityId);
  return application?.protocol === 'saml' ? samlSideOf(entityId, application.metadata) : undefined;
}
