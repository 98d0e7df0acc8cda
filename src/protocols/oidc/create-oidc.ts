// Builds the OpenID Connect side of the server: clients, storage, policy and pages around the engine, and the middleware
// that serves it.
import { createSecretUses } from '../../applications/secret-uses.ts';
import { stableSecret } from '../../core/settings/stored-secret.ts';
import { createClaimsPreviews } from './claims/claims-preview.ts';
import { createPairwiseSubjects } from './claims/pairwise.ts';
import { registeredApi } from './claims/resource-servers.ts';
import type { OidcDependencies, Shared } from './dependencies.ts';
import { createAfterSignIn } from './engine/after-sign-in.ts';
import { createUsageRecorder } from './engine/application-usage.ts';
import { engineSeconds } from './engine/configuration.ts';
import type { EngineEvents } from './engine/events.ts';
import type { PairwiseIdentifier } from './engine/introspection.ts';
import type { Client } from './engine/library.ts';
import { createEngineMiddleware } from './engine/middleware.ts';
import { createEngine } from './engine/provider.ts';
import { createPublished } from './engine/published.ts';
import { configurationOf } from './engine-options.ts';
import { createClientKeySets } from './patches/provider/client-key-sets.ts';
import { type ClientLimits, clientLimitsOf } from './rate-limits/client-rate-limits.ts';
import { createDeviceGuesses } from './rate-limits/device-code-guesses.ts';
import { createDynamicRegistration } from './registration/dynamic-registration.ts';
import { createRegistrationFaults, reportRejectedClients } from './registration/registration-fault.ts';
import { createApiTokens } from './store/api-access-tokens.ts';
import { type ClientSource, createClientSource } from './store/clients.ts';
import { createFormStates } from './store/form-state.ts';
import { createRefreshTokenRetries } from './store/refresh-token-retries.ts';
import { createSessionStore } from './store/sessions/session-store.ts';

export type Oidc = Awaited<ReturnType<typeof createOidc>>;

/** Builds the engine and follows changes of the signing keys. */
export async function createOidc(dependencies: OidcDependencies) {
  const { applications, db, keyring, now, protectedRows, rateLimits, rejections, saml, sql, vault } = dependencies;
  const pairwise = createPairwiseSubjects(await stableSecret({ db, vault }, 'pairwise'));
  const pairwiseIdentifier: PairwiseIdentifier = async (_ctx, accountId, client) =>
    pairwise.subjectOf(sectorOf(client), accountId);
  const clients = createClientSource({
    db,
    sql,
    vault,
    now,
    protectedRows,
    ...createDynamicRegistration({ applications }),
    assertionConsumerUrls: saml.assertionConsumerUrls,
    firstPartyClient: dependencies.firstPartyClient,
  });
  const deviceGuesses = createDeviceGuesses({
    consume: (address) => rateLimits.consume('device:address', { address }),
    refund: (address) => rateLimits.refund('device:address', { address }),
  });
  const clientLimits = clientLimitsOf(
    rateLimits,
    async (id) => (clients.cachedApplicationOf(id) ?? (await clients.applicationOf(id))) !== undefined,
  );
  const sessionStore = createSessionStore({ sql, protectedRows });
  const refreshTokenRetries = createRefreshTokenRetries(dependencies);
  const shared = { clients, sessionStore, deviceGuesses, pairwiseIdentifier, refreshTokenRetries };

  const engine = createEngine({
    issuer: dependencies.issuer,
    configuration: () => configurationOf(dependencies, shared),
    events: eventsOf(dependencies, { clients, clientLimits }),
    patches: { ...patchesOf(dependencies, shared), admitClient: clientLimits.admit },
    samlResponse: saml.respond,
  });
  keyring.onChange(() => engine.rebuild());

  return {
    engine,
    clients,
    /** Serves the engine's routes. */
    middleware: createEngineMiddleware({
      engine,
      clients,
      clientLimits,
      deviceGuesses,
      refreshTokenRetries,
      rejections,
      cookies: dependencies.cookies,
      published: createPublished(dependencies),
    }),
    /** Access tokens for the server's own APIs. */
    apiTokens: createApiTokens({ provider: engine.current, clients }),
    /** The claims that an application receives about an account. */
    claimsPreview: createClaimsPreviews({ ...dependencies, provider: engine.current, clients }),
    /** Why the engine rejects a registered client. */
    registrationFaultOf: createRegistrationFaults(engine.current),
    /** The account with this `sub` at the client; undefined for an unknown one. */
    async accountOf(clientId: string, subject: string): Promise<string | undefined> {
      const client = await engine.current().Client.find(clientId);
      return client?.subjectType === 'pairwise' ? pairwise.accountOf(sectorOf(client), subject) : subject;
    },
  };
}

/** The dependencies of the patches of oidc-provider (oidc/patches/). */
function patchesOf(dependencies: OidcDependencies, { clients, refreshTokenRetries, sessionStore }: Shared) {
  const { cookies, db, keyring, logger, logout, now, protectedRows, settings, sql, upstream, vault } = dependencies;
  return {
    clients,
    jwks: keyring.jwks,
    isRegisteredApi: async (identifier: string) =>
      (await registeredApi({ db, protectedRows }, identifier)) !== undefined,
    clientKeySets: createClientKeySets({
      fetch: dependencies.outgoingFetch as typeof fetch,
      now: engineSeconds,
      logger,
    }),
    vault,
    recordSecretUse: createSecretUses({ db, now, logger }),
    sql,
    now,
    sessionSaving: {
      store: sessionStore,
      forms: createFormStates({ cookies, vault, now }),
      epoch: () => Math.floor(now().getTime() / 1000),
      idleSeconds: () => settings.latest().session_idle_minutes * 60,
      onSignedIn: createAfterSignIn({
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
  dependencies: OidcDependencies,
  { clients, clientLimits }: { clients: ClientSource; clientLimits: ClientLimits },
): EngineEvents {
  const { audit, firstPartyClient, logger, metrics, now, rejections, repeatedEntries, sessions, vault } = dependencies;
  return {
    repeatedEntries,
    metrics,
    logger,
    rejections,
    clients,
    vault,
    countFailedRequestObject: clientLimits.markFailed,
    recordActivity: sessions.recordActivity,
    recordUsage: createUsageRecorder({ audit, now, exceptOf: firstPartyClient.client_id }),
  };
}

/** The host that the client's redirect URIs share (OIDC Core 8.1); absent from oidc-provider's types. */
function sectorOf(client: Client): string {
  return String(Reflect.get(client, 'sectorIdentifier'));
}
