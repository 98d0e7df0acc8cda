// Puts SAML 2.0 as service provider together: the protocol of its connections, and its routes.

import type { Context } from '../../base/http/context.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import type { LogoutBrowser } from '../../protocols/logout/logout-run.ts';
import type { SessionServices } from '../../protocols/logout/session-services.ts';
import type { SamlServices } from '../../protocols/saml/sso/saml-services.ts';
import type { FederationServices } from '../federation-services.ts';
import type { UpstreamLogoutProtocol } from '../logout/upstream-participants.ts';
import type { RejectedSignIns } from '../rejected-sign-ins.ts';
import type { UpstreamSignIn } from '../upstream-sign-in.ts';
import { acsRoutes } from './acs-routes.ts';
import { createIdentityProviders } from './identity-provider.ts';
import { createReceivedLogoutRequests, createSentLogoutRequests, type SentLogoutRequests } from './logout.ts';
import { createSamlProtocol } from './protocol.ts';
import { createOwnServiceProvider } from './service-provider.ts';
import { sloRoutes } from './slo-routes.ts';

export function createSamlUpstream(given: Core & SessionServices & FederationServices & SamlServices) {
  const identityProviders = createIdentityProviders(given);
  const services = { ...given, identityProviders, ownServiceProvider: createOwnServiceProvider(given) };
  const received = createReceivedLogoutRequests(services);
  const sent = createSentLogoutRequests(services);
  return {
    logoutProtocol: logoutProtocol(sent),
    protocol: createSamlProtocol(services),
    routes: (signIns: { rejected: RejectedSignIns; upstreamSignIn: UpstreamSignIn }) =>
      acsRoutes({ ...services, ...signIns }),
    logoutRoutes: (people: People, logoutBrowserOf: (ctx: Context) => LogoutBrowser) =>
      sloRoutes({ ...services, ...people, received, sent, logoutBrowserOf }),
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
