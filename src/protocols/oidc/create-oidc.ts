// Builds the OpenID Connect side of the server: clients, storage, policy and pages around the engine, and the middleware
// that serves it.

import type { ApplicationServices } from '../../applications/application-services.ts';
import { findResource, scopesForAgent } from '../../applications/resources.ts';
import { createSecretUses } from '../../applications/secrets.ts';
import { includesResource } from '../../applications/uris.ts';
import type { Http } from '../../base/http/http.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { createClaimsPreviews } from './claims/claims-preview.ts';
import { createSubjects, sectorOfClient } from './claims/pairwise-subjects.ts';
import { createClientDocuments } from './client-documents.ts';
import { appContext } from './engine/app-context.ts';
import { createUsageRecorder } from './engine/events.ts';
import { engineSeconds, errors, type KoaContextWithOIDC, Provider } from './engine/library.ts';
import { createEngineMiddleware } from './engine/middleware.ts';
import { createEngine } from './engine/provider.ts';
import { isInProcessClient } from './in-process-clients.ts';
import type { OidcOptions, OidcServices } from './oidc-services.ts';
import { createClientKeySets } from './patches/provider/client-key-sets.ts';
import { upstreamLogin } from './patches/provider/session-auth-time.ts';
import type { SignedInSession } from './patches/provider/session-saving.ts';
import type { ProviderPatchDependencies } from './patches.ts';
import { createClientLimits, createDeviceGuesses } from './rate-limits.ts';
import { createDynamicRegistration, createRegistrationFaults, reportRejectedClients } from './registration.ts';
import { createApiTokens } from './store/api-access-tokens.ts';
import { type ClientApplication, createClientSource } from './store/clients.ts';
import { createFormStates } from './store/form-state.ts';
import { createRefreshTokenRetries } from './store/refresh-token-retries.ts';
import { createSessionStore } from './store/sessions/session-store.ts';

export type Oidc = Awaited<ReturnType<typeof createOidc>>;

/** Builds the engine and follows changes of the signing keys. */
export async function createOidc(given: Core & Http & People & ApplicationServices & OidcOptions) {
  const { keyring, saml } = given;
  const clients = createClientSource({
    ...given,
    ...createDynamicRegistration(given),
    assertionConsumerUrls: saml.assertionConsumerUrls,
    documents: createClientDocuments(given),
  });
  const isRegistered = async (id: string) =>
    (clients.cachedApplicationOf(id) ?? (await clients.applicationOf(id))) !== undefined;
  const services: OidcServices = {
    ...given,
    clients,
    clientLimits: createClientLimits({ ...given, isRegistered }),
    deviceGuesses: createDeviceGuesses(given),
    subjects: await createSubjects(given),
    sessionStore: createSessionStore(given),
    refreshTokenRetries: createRefreshTokenRetries(given),
    recordUsage: createUsageRecorder(given),
  };
  const patches = { ...services, ...patchesOf(services) };
  const engine = createEngine(services, patches);
  keyring.onChange(() => engine.rebuild());

  return {
    engine,
    clients,
    /** Serves the engine's routes. */
    middleware: createEngineMiddleware(services, engine),
    /** Access tokens that this server accepts. */
    apiTokens: createApiTokens({ ...patches, provider: engine.current }),
    /** The claims that an application receives about an account. */
    claimsPreview: createClaimsPreviews({ ...services, provider: engine.current }),
    /** Why the engine rejects a registered client. */
    registrationFaultOf: createRegistrationFaults(engine.current),
    /** The account with this `sub` at the client; undefined for an unknown one. */
    async accountOf(clientId: string, subject: string): Promise<string | undefined> {
      const client = await engine.current().Client.find(clientId);
      return client ? services.subjects.accountOf(sectorOfClient(client), subject) : subject;
    },
  };
}

/** The dependencies of the patches of oidc-provider (oidc/patches/). */
function patchesOf(services: OidcServices): ProviderPatchDependencies {
  const { clientLimits, clients, keyring, logger, logout, now, refreshTokenRetries, sessionStore, settings } = services;
  return {
    clients,
    refreshTokenRetries,
    jwks: keyring.jwks,
    mayHoldTokenFor: (identifier, application) => mayHoldTokenFor(services, identifier, application),
    clientKeySets: createClientKeySets(services, engineSeconds),
    recordSecretUse: createSecretUses(services),
    async admitClient(ctx: KoaContextWithOIDC, clientId: string) {
      await clientLimits.admit(ctx, clientId);
      if (await isInProcessClient(clients, clientId))
        throw new errors.InvalidClientAuth('this server redeems the codes of the client itself');
    },
    sessionSaving: {
      store: sessionStore,
      forms: createFormStates(services),
      epoch: () => Math.floor(now().getTime() / 1000),
      idleSeconds: () => settings.latest().session_idle_minutes * 60,
      ...createSignInRecords(services),
    },
    queueLogoutToken: logout.queueLogoutToken,
    reportRejectedClient: reportRejectedClients(logger),
  };
}

/** Whether there is an API with this identifier whose tokens are JWTs, for which the application may have one now. */
async function mayHoldTokenFor(
  { db, settings }: Core,
  identifier: string,
  application: ClientApplication,
): Promise<boolean> {
  const api = await findResource(identifier, db);
  if (api?.signingAlg === undefined) return false;
  const { resources } = application.metadata;
  return includesResource(resources, identifier) || scopesForAgent(api, application, settings.latest()) !== undefined;
}

/** What is stored about a session beside it. After it is stored, the sign-in is complete, so a failure is only logged. */
function createSignInRecords({ cookies, logger, logout, mfa, sessions, upstream }: OidcServices) {
  async function recordBrowser(session: SignedInSession): Promise<void> {
    if (!Provider.ctx) return;
    const ctx = appContext(Provider.ctx);
    const browser = await mfa.knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), session.accountId);
    await sessions.recordDevice(session, ctx.state.request, browser?.id);
  }

  async function onSignedIn(session: SignedInSession): Promise<void> {
    const upstreamSession = upstreamLogin()?.upstream;
    // Without the upstream session, applications that require a connection reject this session.
    if (upstreamSession)
      await upstream
        .attach(upstreamSession, session)
        .catch((err) => logger.error({ err }, 'the upstream session was not attached'));
    await logout
      .limitSessions(session.accountId)
      .catch((err) => logger.error({ err }, 'the sessions over the limit were not ended'));
  }

  return { recordBrowser, onSignedIn };
}
