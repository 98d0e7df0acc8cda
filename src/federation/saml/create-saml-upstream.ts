// Puts SAML 2.0 as service provider together: the protocol of its connections, and its routes.

import type { Saml } from '../../protocols/saml/create-saml.ts';
import type { Connections } from '../connections/connections.ts';
import type { ConnectionDocuments } from '../connections/documents.ts';
import type { UpstreamLogoutProtocol } from '../logout/upstream-participants.ts';
import { type AcsRoutesDependencies, acsRoutes } from './acs-routes.ts';
import { createIdentityProviders } from './identity-provider.ts';
import { createSamlProtocol, type SamlProtocolDependencies } from './protocol.ts';
import { createReceivedLogoutRequests, type ReceivedLogoutRequestsDependencies } from './received-logout-requests.ts';
import { createSentLogoutRequests, type SentLogoutRequests } from './sent-logout-requests.ts';
import { createServiceProvider, type ServiceProviderDependencies } from './service-provider.ts';
import { type SloRoutesDependencies, sloRoutes } from './slo-routes.ts';

export interface SamlUpstreamDependencies extends ServiceProviderDependencies, Pick<SamlProtocolDependencies, 'now'> {
  documents: ConnectionDocuments;
  /** What both roles share: the schemas, replay protection and the limit of an address. */
  saml: Pick<Saml['slo'], 'validateXml' | 'skewSeconds' | 'rateLimit' | 'seenMessages'>;
  logout: LogoutDependencies;
}

type LogoutDependencies = Pick<
  ReceivedLogoutRequestsDependencies,
  'sessions' | 'endSession' | 'audit' | 'repeatedEntries'
> & { connections: Connections };

export function createSamlUpstream({ saml, documents, now, logout: ending, ...own }: SamlUpstreamDependencies) {
  const { validateXml, skewSeconds, rateLimit, seenMessages } = saml;
  const serviceProvider = createServiceProvider(own);
  const identityProviders = createIdentityProviders({ documents });
  const receive = { identityProviders, serviceProvider, validateXml };
  const shared = { ...receive, seenMessages, now, skewSeconds };
  const received = createReceivedLogoutRequests({ ...shared, ...ending });
  const sent = createSentLogoutRequests(shared);
  return {
    logoutProtocol: logoutProtocol(sent),
    protocol: createSamlProtocol(shared),
    routes: (dependencies: Pick<AcsRoutesDependencies, 'connections' | 'rejected' | 'upstreamSignIn'>) =>
      acsRoutes({ ...receive, rateLimit, ...dependencies }),
    logoutRoutes: ({
      logoutBrowserOf,
      vault,
      runs,
      rejections,
    }: Pick<SloRoutesDependencies, 'logoutBrowserOf' | 'vault' | 'runs' | 'rejections'>) =>
      sloRoutes({
        ...receive,
        rateLimit,
        received,
        sent,
        logoutBrowserOf,
        vault,
        runs,
        rejections,
        connections: ending.connections,
      }),
  };
}

/** The logout at the upstream, the last step of a logout run (federation/logout). */
function logoutProtocol(sent: SentLogoutRequests): UpstreamLogoutProtocol {
  return {
    addressOf: async (connection) => (connection.kind === 'saml' ? sent.addressOf(connection) : undefined),
    request: async (connection, handle) =>
      connection.kind === 'saml' && handle.kind === 'saml' ? sent.request(connection, handle) : undefined,
  };
}

export type SamlUpstream = ReturnType<typeof createSamlUpstream>;
