// What is stored of sign-ins at upstream identity providers, and the protocols that verify their answers.
import { createClientSecrets } from '../../federation/client-secrets.ts';
import { createExternalIdentities } from '../../federation/identities.ts';
import { createDirectory } from '../../federation/ldap/directory.ts';
import { createPlanUpstream, type UpstreamLogoutProtocols } from '../../federation/logout/upstream-participants.ts';
import { createOAuth2Protocol } from '../../federation/oauth2/protocol.ts';
import { createOidcLogout } from '../../federation/oidc/logout.ts';
import { createOidcProtocol } from '../../federation/oidc/protocol.ts';
import { createOtherSignIns } from '../../federation/other-sign-ins.ts';
import { createUpstreamRequests } from '../../federation/requests.ts';
import { createUpstreamSessions } from '../../federation/sessions.ts';
import { createStepUps } from '../../federation/step-up.ts';
import type { Protocols } from '../../federation/upstream-sign-in.ts';
import type { Base } from './base.ts';
import type { ConnectionServices } from './connections.ts';

export interface FederationServicesDependencies {
  base: Base;
  connections: ConnectionServices;
}

export type FederationServices = ReturnType<typeof createFederationServices>;

export function createFederationServices({ base, connections: registry }: FederationServicesDependencies) {
  const { config, db, sql, vault, now, audit, protectedRows, outgoing } = base;
  const { connections, connectionDocuments: documents } = registry;
  // One for each kind of connection that the browser is redirected to.
  const upstreamProtocols: Protocols = {
    oidc: createOidcProtocol({ connections, documents, guardedFetch: outgoing, now }),
    oauth2: createOAuth2Protocol({ connections, outgoing }),
  };
  const directory = createDirectory({ connections, now });
  const clientSecrets = createClientSecrets({
    connections,
    directory,
    protocols: upstreamProtocols,
    issuer: config.issuer,
    now,
  });
  const upstreamSessions = createUpstreamSessions({ db, sql, vault, now, protectedRows });
  const identities = createExternalIdentities({ db, now, audit, protectedRows });
  const oidc = { connections, documents, guardedFetch: outgoing, now };
  const upstreamLogoutProtocols: UpstreamLogoutProtocols = { oidc: createOidcLogout(oidc, config.issuer) };
  return {
    clientSecrets,
    federationJobs: [{ name: 'connection-trials', everySeconds: 60, run: clientSecrets.checkNew }],
    upstreamProtocols,
    upstreamLogoutProtocols,
    planUpstream: createPlanUpstream({ connections, sessions: upstreamSessions }),
    directory,
    identities,
    otherSignIns: createOtherSignIns({ connections, identities }),
    upstreamRequests: createUpstreamRequests({ sql, vault, now }),
    upstreamSessions,
    stepUps: createStepUps({ connections, identities, sessions: upstreamSessions }),
  };
}
