// The composition root of the protocols: the SAML identity provider, the OpenID Connect engine, and logout across both.

import { createUpstreamParticipants } from '../federation/logout/upstream-participants.ts';
import { createSamlUpstream } from '../federation/saml/create-saml-upstream.ts';
import { createLogout } from '../logout/create-logout.ts';
import { createEngineLogoutHooks } from '../logout/oidc-logout.ts';
import { createOidc } from '../oidc/create-oidc.ts';
import { FIRST_PARTY_CLIENT_ID, firstPartyClientMetadata } from '../rp/first-party-client.ts';
import { createSaml } from '../saml/create-saml.ts';
import type { Services } from '../services.ts';
import type { HttpServices } from './http-services.ts';

export type Protocols = Awaited<ReturnType<typeof createProtocols>>;

/** Creates the three in the order in which they depend on each other. The signing keys must be loaded. */
export async function createProtocols(services: Services, { cookies, cookieKeys, csrf, metrics }: HttpServices) {
  const { accounts, applications, audit, config, consents, credentials, db, endSession, fetchMetadata } = services;
  const {
    keyring,
    logger,
    mfa,
    now,
    outbox,
    outgoing,
    rateLimits,
    rejections,
    repeatedEntries,
    runs,
    sessions,
    settings,
  } = services;
  const { notifyAdministrators, protectedRows, signInPolicy, sql, vault } = services;
  const { issuer, secure } = config;
  const storage = { db, sql, vault, protectedRows, now };

  const saml = createSaml({
    ...storage,
    base: issuer,
    logger,
    cookies,
    metrics,
    accounts,
    applications,
    audit,
    keyring,
    outbox,
    rateLimits,
    rejections,
    repeatedEntries,
    settings,
    sessions,
    fetchMetadata,
    notifyAdministrators,
  });
  const oidc = await createOidc({
    ...storage,
    issuer,
    secure,
    cookies,
    cookieKeys,
    logger,
    metrics,
    audit,
    rejections,
    repeatedEntries,
    rateLimits,
    settings,
    keyring,
    accounts,
    applications,
    consents,
    credentials,
    sessions,
    knownBrowsers: mfa.knownBrowsers,
    // The engine's typings describe Node's own fetch.
    outgoingFetch: outgoing as never,
    canReach: (account, acrs) => signInPolicy.canReach(account, acrs, undefined),
    canEnterMailedCode: async (account) => (await signInPolicy.strongestProof(account)).mailedCode,
    settingsAcr: (ctx, account) =>
      signInPolicy.settingsAcr(account, async () => {
        const known = await mfa.knownBrowsers.recognise(cookies.get(ctx, 'knownBrowser'), account.id);
        return settings.latest().remember_browser_days > 0 && known?.isTrusted === true;
      }),
    firstPartyClient: firstPartyClientMetadata(issuer),
    upstream: services.upstreamSessions,
    logout: {
      ...createEngineLogoutHooks({ endSession, runs, cookies, ownClientId: FIRST_PARTY_CLIENT_ID }),
      async limitSessions(accountId) {
        const max = settings.latest().max_sessions_per_user;
        if (max > 0) await endSession.exceeding(accountId, max);
      },
    },
    saml: saml.engine,
  });
  const { connections, connectionDocuments: documents, upstreamSessions } = services;
  const samlUpstream = createSamlUpstream({
    ...{ issuer, now, keyring, documents, saml: saml.slo },
    logout: { connections, sessions: upstreamSessions, endSession, audit, repeatedEntries },
  });
  const logout = createLogout({
    db,
    now,
    base: issuer,
    cookies,
    metrics,
    applications,
    audit,
    repeatedEntries,
    endSession,
    runs,
    sessions,
    outgoing,
    csrf,
    upstreams: createUpstreamParticipants(
      { connections: services.connections, sessions: services.upstreamSessions },
      { ...services.upstreamLogoutProtocols, saml: samlUpstream.logoutProtocol },
    ),
    sendLogoutToken: oidc.engine.sendLogoutToken,
    saml: saml.slo,
  });
  return { saml, samlUpstream, oidc, logout };
}
