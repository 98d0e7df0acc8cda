// The composition root of the protocols: the SAML identity provider, the OpenID Connect engine, and logout across both.

import type { Http } from '../base/http/http.ts';
import { createUpstreamParticipants } from '../federation/logout/upstream-participants.ts';
import { createSamlUpstream } from '../federation/saml/saml-upstream.ts';
import { createForwardAuth } from '../protocols/forward-auth/forward-auth.ts';
import { createLogout } from '../protocols/logout/create-logout.ts';
import { createEngineLogoutHooks } from '../protocols/logout/end-session.ts';
import { createOidc } from '../protocols/oidc/create-oidc.ts';
import { FIRST_PARTY_CLIENT_ID, firstPartyClientMetadata } from '../protocols/oidc/in-process-clients.ts';
import { createSaml } from '../protocols/saml/routes.ts';
import type { Services } from './services.ts';

export type Protocols = Awaited<ReturnType<typeof createProtocols>>;

/** What the pages and the administration are created with. */
export interface Parts {
  services: Services;
  http: Http;
  protocols: Protocols;
}

/** Creates them in the order in which they depend on each other. The signing keys must be loaded. */
export async function createProtocols(services: Services, http: Http) {
  const { config, endSession, mfa, settings, signInPolicy, upstreamSessions } = services;
  const { cookies } = http;
  const saml = createSaml({ ...services, ...http });
  const oidc = await createOidc({
    ...services,
    ...http,
    sessionNeed: (ctx, account, session) =>
      signInPolicy.sessionNeed(account, {
        ...session,
        async isTrustedBrowser() {
          const known = await mfa.knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), account.id);
          return settings.latest().remember_browser_days > 0 && known?.isTrusted === true;
        },
      }),
    firstPartyClient: firstPartyClientMetadata(config.issuer),
    checkDirectories: services.directoryUsers.check,
    upstream: { ...upstreamSessions, ...services.stepUps, readAssertion: services.readAssertion },
    logout: {
      ...createEngineLogoutHooks({ ...services, ...http, ownClientId: FIRST_PARTY_CLIENT_ID }),
      async limitSessions(accountId) {
        const max = settings.latest().max_sessions_per_user;
        if (max > 0) await endSession.exceeding(accountId, max);
      },
    },
    saml: saml.engine,
  });
  // The service provider of upstream SAML identity providers.
  const samlUpstream = createSamlUpstream({ ...services, ...saml.services });
  const upstreamProtocols = { ...services.upstreamLogoutProtocols, saml: samlUpstream.logoutProtocol };
  const logout = createLogout({
    ...services,
    ...http,
    ...saml.services,
    upstreams: createUpstreamParticipants(services, upstreamProtocols),
    sendLogoutToken: oidc.engine.sendLogoutToken,
  });
  const forwardAuth = createForwardAuth({
    ...services,
    ...http,
    ...oidc,
    provider: oidc.engine.current,
    checkDirectories: services.directoryUsers.check,
  });
  return { saml, samlUpstream, oidc, logout, forwardAuth };
}
