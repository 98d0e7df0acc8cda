// Builds the OpenID Connect side of the server: clients, storage, policy and pages around the engine, and the middleware
// that serves it.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Applications } from '../applications/applications.ts';
import { needsPkce } from '../applications/oidc-client.ts';
import type { Audit } from '../audit/audit.ts';
import type { RepeatedEntries } from '../audit/repeated-entries.ts';
import type { Consents } from '../consents/consents.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context, CookieKeys, Middleware } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Keyring } from '../keys/keyring.ts';
import { type Acr, acrValues } from '../mfa/acr.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import { randomToken } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';
import { addressKey } from '../rate-limits/lockout.ts';
import { countSignInStart } from '../rate-limits/network-limits.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { ownResources } from '../rbac/built-in.ts';
import type { Rejections } from '../rejections/rejections.ts';
import type { Settings } from '../settings/settings.ts';
import { stableSecret } from '../settings/stored-secret.ts';
import type { Db } from '../storage/database.ts';
import type { Sql } from '../storage/statements.ts';
import { type ClaimsPreviews, createClaimsPreviews } from './claims/claims-preview.ts';
import { createFindAccount } from './claims/find-account.ts';
import { createPairwiseSubjects } from './claims/pairwise.ts';
import { createResourceServer } from './claims/resource-servers.ts';
import { extraTokenClaims } from './claims/token-claims.ts';
import { appContext } from './engine/app-context.ts';
import { createUsageRecorder } from './engine/application-usage.ts';
import { createConfiguration } from './engine/configuration.ts';
import type { EngineEvents } from './engine/events.ts';
import { createPrompts } from './engine/interaction-policy.ts';
import type { PairwiseIdentifier } from './engine/introspection.ts';
import type { AdapterPayload, Client, Configuration } from './engine/library.ts';
import { createEngineMiddleware } from './engine/middleware.ts';
import { createEngine, type Engine, type ResponseMode } from './engine/provider.ts';
import { createRequestCheck, type RequestCheckDependencies } from './engine/request-checks.ts';
import { createSessionStart } from './engine/session-start.ts';
import { createDevicePages } from './pages/device-pages.ts';
import { createErrorPage } from './pages/error-page.ts';
import { createLogoutPages } from './pages/logout-pages.ts';
import type { QueueLogoutToken } from './patches/logout-token-queue.ts';
import { clientLimitsOf } from './rate-limits/client-rate-limits.ts';
import { createDeviceGuesses, type DeviceGuesses } from './rate-limits/device-code-guesses.ts';
import { type ApiTokens, createApiTokens } from './store/api-access-tokens.ts';
import { type ClientSource, createClientSource } from './store/clients.ts';
import { createDynamicRegistration } from './store/dynamic-registration.ts';
import { createEngineAdapters } from './store/engine-adapters.ts';
import { createGrantLoader } from './store/grants.ts';
import { createRefreshTokenRetries, type RefreshTokenRetries } from './store/refresh-token-retries.ts';
import type { OnSessionDestroyed } from './store/session-adapter.ts';
import { createSessionStore, type SessionStore } from './store/session-rows.ts';
import type { Sessions } from './store/sessions.ts';
import { createTestTickets } from './store/test-tickets.ts';

export interface OidcDependencies {
  issuer: string;
  /** Whether cookies are sent over HTTPS only. */
  secure: boolean;
  cookies: Cookies;
  cookieKeys: CookieKeys;
  db: Db;
  sql: Sql;
  vault: Vault;
  now: Clock;
  logger: Logger;
  metrics: Metrics;
  audit: Audit;
  rejections: Rejections;
  repeatedEntries: RepeatedEntries;
  rateLimits: RateLimits;
  settings: Pick<Settings, 'latest'>;
  keyring: Pick<Keyring, 'jwks' | 'onChange'>;
  /** Requests to addresses that clients register (network/outgoing-fetch.ts). */
  outgoingFetch: Configuration['fetch'];
  accounts: Accounts;
  applications: Applications;
  consents: Consents;
  credentials: Pick<Credentials, 'status'>;
  knownBrowsers: Pick<KnownBrowsers, 'recognise'>;
  sessions: Sessions;
  /** Whether the account has the factors for one of these acr values. */
  canReach(account: Account, acrs: string[]): Promise<boolean>;
  /** The acr that the settings demand of each session of the account in this browser. */
  settingsAcr(ctx: Context, account: Account): Promise<Acr | undefined>;
  /** Whether the account can enter a code by e-mail, and has no stronger factor. */
  canEnterMailedCode(account: Account): Promise<boolean>;
  /** The server's own pages as a client that is not registered. */
  firstPartyClient: AdapterPayload & { client_id: string };
  /** Logout across both protocols (src/logout). */
  logout: {
    endSession: OnSessionDestroyed;
    queueLogoutToken: QueueLogoutToken;
    limitSessions(accountId: string): Promise<void>;
  };
  /** SAML as a response mode (src/saml). */
  saml: {
    respond: ResponseMode;
    isPendingAuthnRequest: RequestCheckDependencies['isPendingAuthnRequest'];
    /** What an AuthnRequest, given by its authorization parameters, requires of the sign-in. */
    requirements(ctx: unknown, params?: Record<string, unknown>): Promise<{ acrs: string[]; needsPassword: boolean }>;
    assertionConsumerUrls(entityId: string): Promise<string[]>;
  };
}

export interface Oidc {
  engine: Engine;
  /** Serves the engine's routes. */
  middleware: Middleware;
  clients: ClientSource;
  /** Access tokens for the server's own APIs. */
  apiTokens: ApiTokens;
  /** What an application receives about an account. */
  claimsPreview: ClaimsPreviews;
  /** The account that a client means by this `sub`; undefined for an unknown one. */
  accountOf(clientId: string, subject: string): Promise<string | undefined>;
}

/** What several parts of the engine share. */
interface Shared {
  clients: ClientSource;
  sessionStore: SessionStore;
  deviceGuesses: DeviceGuesses;
  pairwiseIdentifier: PairwiseIdentifier;
  refreshTokenRetries: RefreshTokenRetries;
}

/** Builds the engine and follows changes of the signing keys. */
export async function createOidc(dependencies: OidcDependencies): Promise<Oidc> {
  const { applications, db, keyring, now, rateLimits, rejections, saml, sql, vault } = dependencies;
  const pairwise = createPairwiseSubjects(await stableSecret({ db, vault }, 'pairwise'));
  const pairwiseIdentifier: PairwiseIdentifier = async (_ctx, accountId, client) =>
    pairwise.of(sectorOf(client), accountId);
  const clients = createClientSource({
    db,
    sql,
    vault,
    now,
    ...createDynamicRegistration({ applications }),
    assertionConsumerUrls: saml.assertionConsumerUrls,
    firstPartyClient: dependencies.firstPartyClient,
  });
  const deviceGuesses = createDeviceGuesses({
    consume: (address) => rateLimits.consume('device:address', addressKey(address)),
    refund: (address) => rateLimits.refund('device:address', addressKey(address)),
  });
  const clientLimits = clientLimitsOf(rateLimits);
  const sessionStore = createSessionStore({ sql });
  const refreshTokenRetries = createRefreshTokenRetries(dependencies);
  const shared = { clients, sessionStore, deviceGuesses, pairwiseIdentifier, refreshTokenRetries };

  const engine = createEngine({
    issuer: dependencies.issuer,
    configuration: () => configurationOf(dependencies, shared),
    events: eventsOf(dependencies, clients),
    patches: {
      clients,
      vault,
      sql,
      admitClient: clientLimits.admit,
      sessionSaving: {
        store: sessionStore,
        epoch: () => Math.floor(now().getTime() / 1000),
        idleSeconds: () => dependencies.settings.latest().session_idle_minutes * 60,
        signedIn: createSessionStart({ ...dependencies, limitSessions: dependencies.logout.limitSessions }),
      },
      queueLogoutToken: dependencies.logout.queueLogoutToken,
      refreshTokenRetries,
    },
    samlResponse: saml.respond,
  });
  keyring.onChange(() => engine.rebuild());

  return {
    engine,
    clients,
    middleware: createEngineMiddleware({
      engine,
      clients,
      clientLimits,
      deviceGuesses,
      rejections,
    }),
    apiTokens: createApiTokens({ provider: engine.current }),
    claimsPreview: createClaimsPreviews({ provider: engine.current, clients, accounts: dependencies.accounts }),
    async accountOf(clientId, subject) {
      const client = await engine.current().Client.find(clientId);
      return client?.subjectType === 'pairwise' ? pairwise.accountOf(sectorOf(client), subject) : subject;
    },
  };
}

function configurationOf(dependencies: OidcDependencies, shared: Shared): Configuration {
  const { accounts, audit, consents, db, issuer, keyring, now, rejections, saml, sessions, sql, vault } = dependencies;
  const { clients, sessionStore, deviceGuesses, pairwiseIdentifier, refreshTokenRetries } = shared;
  const { cookies, rateLimits } = dependencies;
  const settings = () => {
    const { session_hours, access_token_minutes, refresh_token_days } = dependencies.settings.latest();
    return {
      sessionHours: session_hours,
      accessTokenMinutes: access_token_minutes,
      refreshTokenDays: refresh_token_days,
    };
  };
  const testTickets = createTestTickets({ cookies, vault, now });
  return createConfiguration({
    jwks: keyring.jwks() as never,
    adapter: createEngineAdapters({
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
      refreshTokenDays: () => settings().refreshTokenDays,
    }),
    loadExistingGrant: createGrantLoader({ consents, clients, addClientToSession: sessionStore.addClientToSession }),
    prompts: promptsOf(dependencies, shared),
    checkRequest: createRequestCheck({
      clients,
      isPendingAuthnRequest: saml.isPendingAuthnRequest,
      countSignInStart: (address) => countSignInStart(rateLimits, address),
      isRunningTest: (ctx, params) => testTickets.matches(appContext(ctx), params),
    }),
    needsPkce: (clientId) => needsPkce(clients.cachedApplicationOf(clientId)?.metadata ?? {}),
    acrValues: [...acrValues],
    cookieKeys: dependencies.cookieKeys,
    secure: dependencies.secure,
    sessionCookie: cookies.nameOf('session'),
    dpopNonceSecret: vault.deriveKey('dpop-nonce'),
    settings,
    resourceServer: createResourceServer({
      db,
      accounts,
      clients,
      accessTokenSeconds: () => settings().accessTokenMinutes * 60,
      serverApis: ownResources(issuer),
    }),
    pairwiseIdentifier,
    extraTokenClaims,
    clientSecret: () => randomToken(),
    fetch: dependencies.outgoingFetch,
    pages: {
      renderError: createErrorPage({ rejections }),
      logout: createLogoutPages({ findAccount: (id) => accounts.find(id) }),
      device: createDevicePages({ deviceGuesses }),
    },
  });
}

function promptsOf(
  { accounts, canEnterMailedCode, canReach, credentials, saml, settingsAcr }: OidcDependencies,
  { clients, pairwiseIdentifier }: Shared,
) {
  return createPrompts({
    clients,
    canEnterMailedCode,
    settingsAcr: (ctx, account) => settingsAcr(appContext(ctx), account),
    async canReach(accountId, requested) {
      const account = await accounts.find(accountId);
      return account !== undefined && canReach(account, requested);
    },
    samlRequirements: (ctx) => saml.requirements(ctx, ctx.oidc.params),
    hasPassword: async (accountId) => (await credentials.status(accountId)) !== undefined,
    subjectOf: async (ctx, accountId) =>
      ctx.oidc.client?.subjectType === 'pairwise' ? pairwiseIdentifier(ctx, accountId, ctx.oidc.client) : accountId,
  });
}

function eventsOf(dependencies: OidcDependencies, clients: ClientSource): EngineEvents {
  const { audit, firstPartyClient, logger, metrics, now, rejections, repeatedEntries, sessions } = dependencies;
  return {
    repeatedEntries,
    metrics,
    logger,
    rejections,
    clients,
    recordActivity: sessions.recordActivity,
    recordUsage: createUsageRecorder({ audit, now, exceptOf: firstPartyClient.client_id }),
  };
}

/** The host that the client's redirect URIs share (OIDC Core 8.1); absent from oidc-provider's types. */
function sectorOf(client: Client): string {
  return String(Reflect.get(client, 'sectorIdentifier'));
}
