// Builds the options of the engine from the parts of this server.
import { needsPkce } from '../../applications/fields/oidc-client.ts';
import { randomToken } from '../../base/platform/random.ts';
import { acrValues, FEDERATED_ACR } from '../../people/mfa/acr.ts';
import { ownResources } from '../../people/rbac/built-in.ts';
import { createFindAccount } from './claims/find-account.ts';
import { createResourceServers } from './claims/resource-servers.ts';
import { createExtraTokenClaims } from './claims/token-claims.ts';
import type { OidcDependencies, Shared } from './dependencies.ts';
import { appContext } from './engine/app-context.ts';
import { createConfiguration } from './engine/configuration.ts';
import { createPrompts } from './engine/interaction-policy.ts';
import type { Configuration } from './engine/library.ts';
import { createRequestCheck } from './engine/requests/request-checks.ts';
import { createDevicePages } from './pages/device-pages.ts';
import { createErrorPage } from './pages/error-page.ts';
import { createLogoutPages } from './pages/logout-pages.ts';
import { reportRejectedClients } from './registration/registration-fault.ts';
import { createEngineAdapters } from './store/engine-adapters.ts';
import { createGrantLoader } from './store/grants.ts';
import { createTestTickets } from './store/test-tickets.ts';

/** The options of the engine (engine/configuration.ts), from the parts of this server. */
export function configurationOf(dependencies: OidcDependencies, shared: Shared): Configuration {
  const { accounts, audit, consents, db, issuer, keyring, now, rejections, saml, sessions, sql, vault } = dependencies;
  const { protectedRows } = dependencies;
  const { clients, sessionStore, deviceGuesses, pairwiseIdentifier, refreshTokenRetries } = shared;
  const { cookies, rateLimits } = dependencies;
  const settings = () => {
    const { session_hours, access_token_minutes, refresh_token_days, signing_algorithms } =
      dependencies.settings.latest();
    return {
      sessionHours: session_hours,
      accessTokenMinutes: access_token_minutes,
      refreshTokenDays: refresh_token_days,
      signingAlgorithms: signing_algorithms,
    };
  };
  const testTickets = createTestTickets({ cookies, vault, now });
  const { resourceServer, registeredScopes } = createResourceServers({
    db,
    protectedRows,
    accounts,
    clients,
    accessTokenMinutes: () => settings().accessTokenMinutes,
    serverApis: ownResources(issuer),
  });
  const { rejectedLogoutPage, ...logoutPages } = createLogoutPages({
    findAccount: (id) => accounts.find(id),
    ownClientId: dependencies.firstPartyClient.client_id,
    clients,
    reportRejectedClient: reportRejectedClients(dependencies.logger),
  });
  return createConfiguration({
    jwks: keyring.jwks() as never,
    adapter: createEngineAdapters({
      protectedRows,
      db,
      sql,
      now,
      clients,
      endSession: dependencies.logout.endSession,
      isTooSoon: async (deviceCode) => !(await rateLimits.consume('device:poll', deviceCode)).allowed,
      refreshTokenRetries,
    }),
    findAccount: createFindAccount({
      accounts,
      audit,
      clients,
      consents,
      sessions,
      checkDirectories: dependencies.checkDirectories,
      refreshTokenDays: () => settings().refreshTokenDays,
    }),
    loadExistingGrant: createGrantLoader({
      consents,
      clients,
      addClientToSession: sessionStore.addClientToSession,
      isOwnApi: (resource) => Object.hasOwn(ownResources(issuer), resource),
    }),
    prompts: promptsOf(dependencies, shared),
    checkAndCompleteRequest: createRequestCheck({
      clients,
      registeredScopes,
      isPendingAuthnRequest: saml.isPendingAuthnRequest,
      isRunningTest: (ctx, params) => testTickets.matches(appContext(ctx), params),
    }),
    needsPkce: (clientId) => needsPkce(clients.cachedApplicationOf(clientId)?.metadata ?? {}),
    acrValues: [...acrValues, FEDERATED_ACR],
    cookieKeys: dependencies.cookieKeys,
    secure: dependencies.secure,
    sessionCookie: cookies.nameOf('session'),
    dpopNonceSecret: vault.deriveKey('dpop-nonce'),
    settings,
    lifetimesOf: (clientId) => clients.cachedApplicationOf(clientId)?.metadata ?? {},
    resourceServer,
    pairwiseIdentifier,
    extraTokenClaims: createExtraTokenClaims(clients),
    clientSecret: () => randomToken(),
    fetch: dependencies.outgoingFetch,
    pages: {
      renderError: createErrorPage({ rejections, clients, rejectedLogoutPage }),
      logout: logoutPages,
      device: createDevicePages({ deviceGuesses }),
    },
  });
}

function promptsOf(
  { accounts, canEnterMailedCode, canSatisfyAcr, credentials, saml, settingsAcr, upstream }: OidcDependencies,
  { clients, pairwiseIdentifier }: Shared,
) {
  return createPrompts({
    clients,
    upstream,
    canEnterMailedCode,
    settingsAcr: (ctx, account) => settingsAcr(appContext(ctx), account),
    async canSatisfyAcr(accountId, requested) {
      const account = await accounts.find(accountId);
      return account !== undefined && canSatisfyAcr(account, requested);
    },
    samlRequirements: (ctx) => saml.requirements(ctx, ctx.oidc.params),
    hasPassword: async (accountId) => (await credentials.status(accountId)) !== undefined,
    usernameOf: async (accountId) => (await accounts.find(accountId))?.username,
    subjectOf: async (ctx, accountId) =>
      ctx.oidc.client?.subjectType === 'pairwise' ? pairwiseIdentifier(ctx, accountId, ctx.oidc.client) : accountId,
  });
}
