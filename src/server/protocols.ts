// The composition root of the protocols: the SAML identity provider, the OpenID Connect engine, and logout across both.

import { FIRST_PARTY_CLIENT_ID, firstPartyClientMetadata } from '../account/rp/first-party-client.ts';
import type { Http } from '../base/http/http.ts';
import { createUpstreamParticipants } from '../federation/logout/upstream-participants.ts';
import { createSamlUpstream, type SamlUpstream } from '../federation/saml/create-saml-upstream.ts';
import { createLogout } from '../protocols/logout/create-logout.ts';
import { createEngineLogoutHooks } from '../protocols/logout/end-session.ts';
import { createOidc, type Oidc } from '../protocols/oidc/create-oidc.ts';
import { createSaml, type Saml } from '../protocols/saml/create-saml.ts';
import type { Services } from './services.ts';

export type Protocols = Awaited<ReturnType<typeof createProtocols>>;

interface ProtocolsDependencies {
  services: Services;
  http: Http;
}

/** Creates them in the order in which they depend on each other. The signing keys must be loaded. */
export async function createProtocols(dependencies: ProtocolsDependencies) {
  const saml = samlIdentityProvider(dependencies);
  const oidc = await openIdProvider(dependencies, saml);
  const samlUpstream = samlServiceProvider(dependencies, saml);
  const logout = logoutOf(dependencies, { saml, oidc, samlUpstream });
  return { saml, samlUpstream, oidc, logout };
}

function samlIdentityProvider({ services, http }: ProtocolsDependencies): Saml {
  const { fetchMetadata } = services;
  return createSaml({ ...services, ...http, fetchMetadata });
}

function openIdProvider({ services, http }: ProtocolsDependencies, saml: Saml): Promise<Oidc> {
  const { config, mfa } = services;
  const { sessions, settings } = services;
  const { endSession, runs, signInPolicy } = services;
  const { cookies } = http;
  const { issuer, secure } = config;
  return createOidc({
    ...services,
    ...http,
    secure,
    sessions,
    outgoingFetch: services.outgoing as never,
    canSatisfyAcr: (account, acrs) => signInPolicy.canSatisfyAcr(account, acrs, undefined),
    canEnterMailedCode: async (account) => (await signInPolicy.strongestProof(account)).mailedCode,
    settingsAcr: (ctx, account) =>
      signInPolicy.settingsAcr(account, async () => {
        const known = await mfa.knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), account.id);
        return settings.latest().remember_browser_days > 0 && known?.isTrusted === true;
      }),
    firstPartyClient: firstPartyClientMetadata(issuer),
    checkDirectories: services.directoryUsers.check,
    upstream: { ...services.upstreamSessions, ...services.stepUps },
    logout: {
      ...createEngineLogoutHooks({ ...http, endSession, runs, ownClientId: FIRST_PARTY_CLIENT_ID }),
      async limitSessions(accountId) {
        const max = settings.latest().max_sessions_per_user;
        if (max > 0) await endSession.exceeding(accountId, max);
      },
    },
    saml: saml.engine,
  });
}

/** The service provider of upstream SAML identity providers. */
function samlServiceProvider({ services }: ProtocolsDependencies, saml: Saml): SamlUpstream {
  return createSamlUpstream({
    ...services,
    saml: saml.slo,
    presentation: saml.presentation,
  });
}

function logoutOf(
  { services, http }: ProtocolsDependencies,
  { saml, oidc, samlUpstream }: { saml: Saml; oidc: Oidc; samlUpstream: SamlUpstream },
) {
  const { connections, endSession } = services;
  const { runs, sessions, upstreamLogoutProtocols, upstreamSessions } = services;
  return createLogout({
    ...services,
    ...http,
    endSession,
    runs,
    sessions,
    upstreams: createUpstreamParticipants(
      { connections, sessions: upstreamSessions },
      { ...upstreamLogoutProtocols, saml: samlUpstream.logoutProtocol },
    ),
    sendLogoutToken: oidc.engine.sendLogoutToken,
    saml: saml.slo,
  });
}
