// Puts SAML 2.0 as service provider together: the protocol of its connections, and its routes.

import type { Context } from '../../base/http/context.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import type { LogoutBrowser } from '../../protocols/logout/logout-run.ts';
import type { Saml } from '../../protocols/saml/create-saml.ts';
import type { Presentation } from '../../protocols/saml/metadata/presentation.ts';
import type { SessionServices } from '../../protocols/session-services.ts';
import type { FederationServices } from '../federation-services.ts';
import type { UpstreamLogoutProtocol } from '../logout/upstream-participants.ts';
import type { RejectedSignIns } from '../rejected-sign-ins.ts';
import type { UpstreamSignIn } from '../upstream-sign-in.ts';
import { acsRoutes } from './acs-routes.ts';
import { createIdentityProviders } from './identity-provider.ts';
import { createReceivedLogoutRequests, createSentLogoutRequests, type SentLogoutRequests } from './logout.ts';
import { createSamlProtocol } from './protocol.ts';
import { createServiceProvider } from './service-provider.ts';
import { sloRoutes } from './slo-routes.ts';

export function createSamlUpstream(
  services: Core &
    SessionServices &
    FederationServices & {
      /** What both roles share: the schemas, replay protection and the limit of an address. */
      saml: Pick<Saml['slo'], 'validateXml' | 'skewSeconds' | 'rateLimit' | 'seenMessages'>;
      /** The name and the languages of the settings. */
      presentation(): Presentation;
    },
) {
  const { saml, connectionDocuments: documents } = services;

  const { validateXml, skewSeconds, rateLimit, seenMessages } = saml;
  const serviceProvider = createServiceProvider(services);
  const identityProviders = createIdentityProviders({ documents });
  const receive = { identityProviders, serviceProvider, validateXml };
  const shared = { ...services, ...receive, seenMessages, skewSeconds };
  const received = createReceivedLogoutRequests(shared);
  const sent = createSentLogoutRequests(shared);
  return {
    logoutProtocol: logoutProtocol(sent),
    protocol: createSamlProtocol(shared),
    routes: (signIns: { rejected: RejectedSignIns; upstreamSignIn: UpstreamSignIn }) =>
      acsRoutes({ ...services, ...signIns, ...receive, rateLimit }),
    logoutRoutes: (people: People, logoutBrowserOf: (ctx: Context) => LogoutBrowser) =>
      sloRoutes({ ...services, ...people, ...receive, rateLimit, received, sent, logoutBrowserOf }),
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
