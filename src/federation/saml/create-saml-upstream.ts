// Puts SAML 2.0 as service provider together: the protocol of its connections, and its routes.
import type { ConnectionDocuments } from '../../connections/documents.ts';
import type { Saml } from '../../saml/create-saml.ts';
import { type AcsRoutesDependencies, acsRoutes } from './acs-routes.ts';
import { createIdentityProviders } from './identity-provider.ts';
import { createUpstreamLogout, type UpstreamLogoutDependencies } from './logout.ts';
import { createSamlProtocol, type SamlProtocolDependencies } from './protocol.ts';
import { createServiceProvider, type ServiceProviderDependencies } from './service-provider.ts';
import { type SloRoutesDependencies, sloRoutes } from './slo-routes.ts';

export interface SamlUpstreamDependencies extends ServiceProviderDependencies, Pick<SamlProtocolDependencies, 'now'> {
  documents: Pick<ConnectionDocuments, 'get'>;
  /** What both roles share: the schemas, replay protection and the limit of an address. */
  saml: Pick<Saml['slo'], 'validateXml' | 'skewSeconds' | 'rateLimit' | 'seenMessages'>;
}

type LogoutDependencies = Pick<SloRoutesDependencies, 'logoutBrowserOf' | 'vault'> &
  Pick<UpstreamLogoutDependencies, 'connections' | 'sessions' | 'endSession' | 'audit' | 'repeatedEntries'>;

export function createSamlUpstream({ saml, documents, now, ...own }: SamlUpstreamDependencies) {
  const { validateXml, skewSeconds, rateLimit, seenMessages } = saml;
  const serviceProvider = createServiceProvider(own);
  const identityProviders = createIdentityProviders({ documents });
  const receive = { identityProviders, serviceProvider, validateXml };
  return {
    protocol: createSamlProtocol({ ...receive, seenMessages, now, skewSeconds }),
    routes: (dependencies: Pick<AcsRoutesDependencies, 'connections' | 'rejected' | 'upstreamSignIn'>) =>
      acsRoutes({ ...receive, rateLimit, ...dependencies }),
    logoutRoutes: (dependencies: LogoutDependencies) => {
      const { logoutBrowserOf, vault, ...rest } = dependencies;
      const logout = createUpstreamLogout({ ...receive, seenMessages, now, skewSeconds, ...rest });
      return sloRoutes({ ...receive, rateLimit, logout, logoutBrowserOf, vault, connections: rest.connections });
    },
  };
}

export type SamlUpstream = ReturnType<typeof createSamlUpstream>;
