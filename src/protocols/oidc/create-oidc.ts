// Builds the OpenID Connect side of the server: clients, storage, policy and pages around the engine, and the middleware
// that serves it.

import type { ApplicationServices } from '../../applications/application-services.ts';
import { needsPkce } from '../../applications/fields/oidc-client.ts';
import { findResource, scopesForAgent } from '../../applications/resources.ts';
import { createSecretUses } from '../../applications/secrets.ts';
import { includesResource } from '../../applications/uris.ts';
import type { Base } from '../../base/base.ts';
import type { Context } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import { stableSecret } from '../../core/settings/settings.ts';
import type { Account } from '../../people/accounts/account.ts';
import { termsDue } from '../../people/accounts/terms.ts';
import { acrValues, FEDERATED_ACR } from '../../people/mfa/acr.ts';
import type { SessionContext, SessionNeed } from '../../people/mfa/policy.ts';
import type { People } from '../../people/people.ts';
import { ownResources } from '../../people/rbac/built-in.ts';
import { chooseGroup } from './claims/chosen-group.ts';
import { createClaimsPreviews } from './claims/claims-preview.ts';
import { createExtraTokenClaims, createFindAccount, createIntrospectionPolicy } from './claims/find-account.ts';
import { createPairwiseSubjects } from './claims/pairwise-subjects.ts';
import { createResourceServers, unreachableApi } from './claims/resource-servers.ts';
import { createClientDocuments } from './client-documents.ts';
import { appContext } from './engine/app-context.ts';
import { createConfiguration, type PairwiseIdentifier } from './engine/configuration.ts';
import { createUsageRecorder, type EngineEvents } from './engine/events.ts';
import { createPrompts, type UpstreamSource } from './engine/interaction-policy.ts';
import {
  type Adapter,
  type AdapterPayload,
  type Client,
  type Configuration,
  engineSeconds,
  errors,
  type KoaContextWithOIDC,
  Provider,
} from './engine/library.ts';
import { createEngineMiddleware } from './engine/middleware.ts';
import { createEngine, type ResponseMode } from './engine/provider.ts';
import { createPublished } from './engine/public-documents.ts';
import { createRequestCheck, type RequestCheckDependencies } from './engine/requests/request-checks.ts';
import type { SamlRequirements } from './engine/saml-requirements.ts';
import type { IdJagDependencies } from './identity-assertions.ts';
import { isInProcessClient } from './in-process-clients.ts';
import { createDevicePages, createErrorPage, createLogoutPages } from './pages.ts';
import { createClientKeySets } from './patches/provider/client-key-sets.ts';
import type { QueueLogoutToken } from './patches/provider/logout-token-queue.ts';
import { upstreamLogin } from './patches/provider/session-auth-time.ts';
import type { SignedInSession } from './patches/provider/session-saving.ts';
import {
  type ClientLimits,
  clientLimitsOf,
  createDeviceGuesses,
  type DeviceGuesses,
  TooManyAttempts,
} from './rate-limits.ts';
import {
  createDynamicRegistration,
  createOpenRegistration,
  createRegistrationFaults,
  reportRejectedClients,
} from './registration.ts';
import { createArtifactAdapter } from './store/adapter.ts';
import { createApiTokens } from './store/api-access-tokens.ts';
import { type ClientApplication, type ClientSource, createClientSource } from './store/clients.ts';
import { createFormStates } from './store/form-state.ts';
import { createGrantLoader } from './store/grants.ts';
import {
  createRefreshTokenAdapter,
  createRefreshTokenRetries,
  type RefreshTokenRetries,
} from './store/refresh-token-retries.ts';
import { createSessionAdapter, type OnSessionDestroyed } from './store/sessions/session-adapter.ts';
import type { SessionDevices } from './store/sessions/session-devices.ts';
import { createSessionStore, type SessionStore } from './store/sessions/session-store.ts';
import type { Sessions } from './store/sessions/sessions.ts';
import { createTestTickets } from './store/test-tickets.ts';

export type Oidc = Awaited<ReturnType<typeof createOidc>>;

/** Builds the engine and follows changes of the signing keys. */
export async function createOidc(dependencies: Core & Http & People & ApplicationServices & OidcDependencies) {
  const { db, keyring, rateLimits, saml, vault } = dependencies;
  const pairwise = createPairwiseSubjects(await stableSecret({ db, vault }, 'pairwise'));
  const pairwiseIdentifier: PairwiseIdentifier = async (_ctx, accountId, client) =>
    pairwise.subjectOf(sectorOf(client), accountId);
  const accountOfSubject = (client: Client, subject: string) =>
    client.subjectType === 'pairwise' ? pairwise.accountOf(sectorOf(client), subject) : subject;
  const clients = createClientSource({
    ...dependencies,
    ...createDynamicRegistration(dependencies),
    assertionConsumerUrls: saml.assertionConsumerUrls,
    firstPartyClient: dependencies.firstPartyClient,
    documents: createClientDocuments({
      ...dependencies,
      tooManyAttempts: (seconds) => new TooManyAttempts(seconds),
    }),
  });
  const deviceGuesses = createDeviceGuesses({
    consume: (address) => rateLimits.consume('device:address', { address }),
    refund: (address) => rateLimits.refund('device:address', { address }),
  });
  const clientLimits = clientLimitsOf(
    rateLimits,
    async (id) => (clients.cachedApplicationOf(id) ?? (await clients.applicationOf(id))) !== undefined,
  );
  const admitClient = async (ctx: KoaContextWithOIDC, clientId: string) => {
    await clientLimits.admit(ctx, clientId);
    if (await isInProcessClient(clients, clientId))
      throw new errors.InvalidClientAuth('this server redeems the codes of the client itself');
  };
  const sessionStore = createSessionStore(dependencies);
  const refreshTokenRetries = createRefreshTokenRetries(dependencies);
  const shared = { clients, sessionStore, deviceGuesses, pairwiseIdentifier, refreshTokenRetries };

  const engine = createEngine({
    ...dependencies,
    configuration: () => configurationOf(dependencies, shared),
    events: eventsOf(dependencies, { clients, clientLimits }),
    patches: { ...dependencies, ...patchesOf(dependencies, shared), admitClient },
    grants: {
      ...dependencies,
      ...patchesOf(dependencies, shared),
      readAssertion: dependencies.upstream.readAssertion,
      subjects: {
        of: (client, accountId) =>
          client.subjectType === 'pairwise' ? pairwise.subjectOf(sectorOf(client), accountId) : accountId,
        accountOf: accountOfSubject,
      },
    },
    samlResponse: saml.respond,
  });
  keyring.onChange(() => engine.rebuild());

  return {
    engine,
    clients,
    /** Serves the engine's routes. */
    middleware: createEngineMiddleware({
      ...dependencies,
      engine,
      clients,
      clientLimits,
      deviceGuesses,
      refreshTokenRetries,
      published: createPublished(dependencies),
      openRegistration: createOpenRegistration(dependencies),
    }),
    /** Access tokens that this server accepts. */
    apiTokens: createApiTokens({
      provider: engine.current,
      clients,
      jwks: keyring.jwks,
      mayHoldTokenFor: heldApis(dependencies),
    }),
    /** The claims that an application receives about an account. */
    claimsPreview: createClaimsPreviews({ ...dependencies, provider: engine.current, clients }),
    /** Why the engine rejects a registered client. */
    registrationFaultOf: createRegistrationFaults(engine.current),
    /** The account with this `sub` at the client; undefined for an unknown one. */
    async accountOf(clientId: string, subject: string): Promise<string | undefined> {
      const client = await engine.current().Client.find(clientId);
      return client ? accountOfSubject(client, subject) : subject;
    },
  };
}

/** Whether there is an API with this identifier whose tokens are JWTs, for which the application may have one now. */
const heldApis =
  ({ db, settings }: Core) =>
  async (identifier: string, application: ClientApplication): Promise<boolean> => {
    const api = await findResource(identifier, db);
    if (api?.signingAlg === undefined) return false;
    const { resources } = application.metadata;
    return includesResource(resources, identifier) || scopesForAgent(api, application, settings.latest()) !== undefined;
  };

/** The dependencies of the patches of oidc-provider (oidc/patches/). */
function patchesOf(
  dependencies: Core & Http & People & ApplicationServices & OidcDependencies,
  { clients, refreshTokenRetries, sessionStore }: Shared,
) {
  const { cookies, keyring, logger, logout, now, settings, upstream, vault } = dependencies;
  return {
    clients,
    jwks: keyring.jwks,
    mayHoldTokenFor: heldApis(dependencies),
    clientKeySets: createClientKeySets(dependencies, engineSeconds),
    recordSecretUse: createSecretUses(dependencies),
    sessionSaving: {
      store: sessionStore,
      forms: createFormStates({ cookies, vault, now }),
      epoch: () => Math.floor(now().getTime() / 1000),
      idleSeconds: () => settings.latest().session_idle_minutes * 60,
      ...createSignInRecords({
        ...dependencies,
        limitSessions: logout.limitSessions,
        attachUpstream: upstream.attach,
      }),
    },
    queueLogoutToken: logout.queueLogoutToken,
    reportRejectedClient: reportRejectedClients(logger),
    refreshTokenRetries,
  };
}

function eventsOf(
  dependencies: Core & Http & People & OidcDependencies,
  { clients, clientLimits }: { clients: ClientSource; clientLimits: ClientLimits },
): EngineEvents {
  const { firstPartyClient, logger, metrics, rejections, repeatedEntries, sessions, vault } = dependencies;
  return {
    repeatedEntries,
    metrics,
    logger,
    rejections,
    clients,
    vault,
    countFailedRequestObject: clientLimits.markFailed,
    recordActivity: sessions.recordActivity,
    recordUsage: createUsageRecorder({ ...dependencies, exceptOf: firstPartyClient.client_id }),
  };
}

/** The host that the client's redirect URIs share (OIDC Core 8.1); absent from oidc-provider's types. */
function sectorOf(client: Client): string {
  return String(Reflect.get(client, 'sectorIdentifier'));
}

// Builds the options of the engine from the parts of this server.

/** The options of the engine (engine/configuration.ts), from the parts of this server. */
function configurationOf(
  dependencies: Core & Http & People & ApplicationServices & OidcDependencies,
  shared: Shared,
): Configuration {
  const {
    accounts,
    keyring,
    now,
    saml,
    sessions,
    vault,
    config: { issuer },
  } = dependencies;
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
  const { resourceServer, defaultResource, registeredScopes } = createResourceServers({
    ...dependencies,
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
  const findAccount = createFindAccount({
    ...dependencies,
    clients,
    sessions,
    checkDirectories: dependencies.checkDirectories,
    refreshTokenDays: () => settings().refreshTokenDays,
  });
  return createConfiguration({
    ...dependencies,
    jwks: keyring.jwks() as never,
    adapter: createEngineAdapters({
      ...dependencies,
      clients,
      endSession: dependencies.logout.endSession,
      isTooSoon: async (deviceCode) => !(await rateLimits.consume('device:poll', deviceCode)).allowed,
      refreshTokenRetries,
    }),
    findAccount,
    loadExistingGrant: createGrantLoader({
      ...dependencies,
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
    secure: dependencies.secure,
    sessionCookie: cookies.nameOf('session'),
    dpopNonceSecret: vault.deriveKey('dpop-nonce'),
    settings,
    lifetimesOf: (clientId) => clients.cachedApplicationOf(clientId)?.metadata ?? {},
    resourceServer,
    defaultResource,
    pairwiseIdentifier,
    introspectionPolicy: createIntrospectionPolicy(findAccount, pairwiseIdentifier),
    extraTokenClaims: createExtraTokenClaims(clients),
    clientSecret: () => randomToken(),
    fetch: dependencies.outgoingFetch,
    pages: {
      renderError: createErrorPage({ ...dependencies, clients, rejectedLogoutPage }),
      logout: logoutPages,
      device: createDevicePages({ deviceGuesses }),
    },
  });
}

function promptsOf(dependencies: Core & People & OidcDependencies, { clients, pairwiseIdentifier }: Shared) {
  const { accounts, credentials, saml, sessionNeed, settings, upstream } = dependencies;
  return createPrompts({
    clients,
    chooseGroup: (ctx, application, account) => chooseGroup(ctx, application, account, dependencies.db),
    hasTermsDue: (account) => termsDue(settings.latest(), account) !== undefined,
    unreachableApi: (identifiers, account) => unreachableApi(dependencies, identifiers, account),
    upstream,
    sessionNeed: (ctx, account, session) => sessionNeed(appContext(ctx), account, session),
    samlRequirements: (ctx) => saml.requirements(ctx, ctx.oidc.params),
    hasPassword: async (accountId) => (await credentials.status(accountId)) !== undefined,
    usernameOf: async (accountId) => (await accounts.find(accountId))?.username,
    subjectOf: async (ctx, accountId) =>
      ctx.oidc.client?.subjectType === 'pairwise' ? pairwiseIdentifier(ctx, accountId, ctx.oidc.client) : accountId,
  });
}

/** What is stored about a session beside it. After it is stored, the sign-in is complete, so a failure is only logged. */
function createSignInRecords(
  dependencies: Base &
    Http &
    People & {
      sessions: SessionDevices;
      /** Ends the oldest sessions of an account with too many. */
      limitSessions(accountId: string): Promise<void>;
      /** Links the session at an upstream to the session that started with it. */
      attachUpstream(id: string, session: SignedInSession): Promise<void>;
    },
) {
  const {
    cookies,
    logger,
    sessions,
    limitSessions,
    attachUpstream,
    mfa: { knownBrowsers },
  } = dependencies;

  async function recordBrowser(session: SignedInSession): Promise<void> {
    if (!Provider.ctx) return;
    const ctx = appContext(Provider.ctx);
    const browser = await knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), session.accountId);
    await sessions.recordDevice(session, ctx.state.request, browser?.id);
  }

  async function onSignedIn(session: SignedInSession): Promise<void> {
    const upstream = upstreamLogin()?.upstream;
    // Without the upstream session, applications that require a connection reject this session.
    if (upstream)
      await attachUpstream(upstream, session).catch((err) =>
        logger.error({ err }, 'the upstream session was not attached'),
      );
    await limitSessions(session.accountId).catch((err) =>
      logger.error({ err }, 'the sessions over the limit were not ended'),
    );
  }

  return { recordBrowser, onSignedIn };
}

function createEngineAdapters(
  dependencies: Core & {
    clients: ClientSource;
    endSession: OnSessionDestroyed;
    /** Counts a poll of this device code; true when it came too soon after the last one. */
    isTooSoon(deviceCode: string): Promise<boolean>;
    refreshTokenRetries: RefreshTokenRetries;
  },
) {
  const { clients, endSession, isTooSoon, refreshTokenRetries } = dependencies;
  return function adapterOf(model: string): Adapter {
    if (model === 'Client') return clients.adapter;
    if (model === 'RefreshToken')
      return createRefreshTokenAdapter(refreshTokenRetries, (mayUseAgain) =>
        createArtifactAdapter(model, dependencies, mayUseAgain),
      );
    const adapter = createArtifactAdapter(model, dependencies);
    if (model === 'Session') return createSessionAdapter(adapter, endSession);
    if (model === 'DeviceCode') return createDeviceCodeAdapter(adapter, isTooSoon);
    return adapter;
  };
}

/**
 * @param adapter stores the device codes
 * @param isTooSoon counts a poll of this device code; true when it came too soon after the last one
 */
export function createDeviceCodeAdapter(
  adapter: Adapter,
  isTooSoon: (deviceCode: string) => Promise<boolean>,
): Adapter {
  return {
    ...adapter,
    async find(deviceCode) {
      const stored = await adapter.find(deviceCode);
      const oidc = Provider.ctx?.oidc;
      const isPoll = oidc?.route === 'token' && stored && stored.clientId === oidc.client?.clientId;
      if (isPoll && isPending(stored) && (await isTooSoon(deviceCode))) throw new errors.SlowDown();
      return stored;
    },
  };
}

function isPending({ accountId, error, exp = 0 }: AdapterPayload): boolean {
  return !accountId && !error && exp > engineSeconds();
}

// What the OpenID Connect side of the server is made of, and what its parts share.

interface OidcDependencies {
  /** Whether cookies are sent over HTTPS only. */
  secure: boolean;
  /** Requests to addresses that clients register (base/network/outgoing-fetch.ts). */
  outgoingFetch: Configuration['fetch'];
  sessions: Sessions;
  sessionNeed(ctx: Context, account: Account, session: Omit<SessionContext, 'isTrustedBrowser'>): Promise<SessionNeed>;
  /** The server's own pages as a client that is not registered. */
  firstPartyClient: AdapterPayload & { client_id: string };
  /** Whether the tokens of the account may be refreshed: false for a user whom the directory has no more. */
  checkDirectories(accountId: string): Promise<boolean>;
  /** Sessions at upstream identity providers (src/federation). */
  upstream: UpstreamSource & {
    attach(id: string, session: SignedInSession): Promise<void>;
    readAssertion: IdJagDependencies['readAssertion'];
  };
  /** Logout across both protocols (src/protocols/logout). */
  logout: {
    endSession: OnSessionDestroyed;
    queueLogoutToken: QueueLogoutToken;
    limitSessions(accountId: string): Promise<void>;
  };
  /** SAML as a response mode (src/protocols/saml). */
  saml: {
    respond: ResponseMode;
    isPendingAuthnRequest: RequestCheckDependencies['isPendingAuthnRequest'];
    /** What an AuthnRequest, given by its authorization parameters, requires of the sign-in. */
    requirements(ctx: unknown, params?: Record<string, unknown>): Promise<SamlRequirements>;
    assertionConsumerUrls(entityId: string): Promise<string[]>;
  };
}

/** What several parts of the engine share. */
interface Shared {
  clients: ClientSource;
  sessionStore: SessionStore;
  deviceGuesses: DeviceGuesses;
  pairwiseIdentifier: PairwiseIdentifier;
  refreshTokenRetries: RefreshTokenRetries;
}
