// Puts the OpenID Connect engine together from the services: its storage, clients, policy, pages and keys.
import type { Client } from 'oidc-provider';
import { acrValues, type OidcClientInput, oidcMetadata } from '../applications/oidc-client.ts';
import type { CookieKeys } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { MFA_ACR, PHISHING_RESISTANT_ACR, satisfies } from '../mfa/acr.ts';
import { createArtifactAdapter } from '../oidc/adapter.ts';
import { createAdmission } from '../oidc/admission.ts';
import { type ClientLimits, createClientLimits } from '../oidc/client-limits.ts';
import { type ClientSource, createClientSource } from '../oidc/clients.ts';
import { createConfiguration } from '../oidc/configuration.ts';
import { createDeviceGuesses, type DeviceGuesses } from '../oidc/device-guesses.ts';
import type { EngineEvents } from '../oidc/events.ts';
import { createFindAccount } from '../oidc/find-account.ts';
import { createGrantLoader } from '../oidc/grants.ts';
import type { PairwiseIdentifier } from '../oidc/introspection.ts';
import { createNoteOpened } from '../oidc/opened.ts';
import { createPages, outer } from '../oidc/pages.ts';
import { createPairwiseSubjects } from '../oidc/pairwise.ts';
import { createPrompts } from '../oidc/prompts.ts';
import { createEngine, type Engine, type ResponseMode } from '../oidc/provider.ts';
import { createResourceServer } from '../oidc/resources.ts';
import { createSessionStore } from '../oidc/session-store.ts';
import { createTestTickets } from '../oidc/test-tickets.ts';
import { extraTokenClaims } from '../oidc/token-claims.ts';
import type { Metrics } from '../platform/metrics.ts';
import { randomToken } from '../platform/random.ts';
import { stableSecret } from '../platform/stable-secret.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';
import { ownResources } from '../rbac/built-in.ts';
import { OWN_CLIENT_ID, ownClientMetadata } from '../rp/own-client.ts';
import type { Services } from '../services.ts';
import { engineSignOut } from './sign-out.ts';

export interface EngineParts {
  services: Services;
  metrics: Metrics;
  cookies: Cookies;
  cookieKeys: CookieKeys;
  /** SAML as a response mode (src/saml). */
  saml: {
    respond: ResponseMode;
    isAsked: Parameters<typeof createAdmission>[0]['isSamlAsked'];
    wishes(ctx: unknown, params?: Record<string, unknown>): Promise<{ acrs: string[]; needsPassword: boolean }>;
    assertionConsumerUrls(entityId: string): Promise<string[]>;
  };
}

export interface AssembledEngine {
  engine: Engine;
  clients: ClientSource;
  clientLimits: ClientLimits;
  deviceGuesses: DeviceGuesses;
  pairwiseIdentifier: PairwiseIdentifier;
  /** The account that a client means by this `sub`. */
  accountOf(clientId: string, subject: string): Promise<string | undefined>;
}

export async function assembleEngine(parts: EngineParts): Promise<AssembledEngine> {
  const { services, metrics, cookies, cookieKeys, saml } = parts;
  const {
    accounts,
    audit,
    config,
    consents,
    credentials,
    db,
    kind,
    keyring,
    logger,
    now,
    permissions,
    settings,
    signInPolicy,
    sql,
    vault,
  } = services;
  const pairwise = createPairwiseSubjects(await stableSecret({ db, vault }, 'pairwise'));
  const accessTokenSeconds = () => settings.latest().access_token_minutes * 60;
  const { isAsked: isTestAsked } = createTestTickets({ cookies, vault, now });
  const clients = createClientSource({
    db,
    sql,
    kind,
    vault,
    now,
    assertionConsumerUrls: saml.assertionConsumerUrls,
    ownClient: ownClientMetadata(config.issuer),
    register: (clientId, metadata) => registerDynamically(services, clientId, metadata),
    async unregister(clientId) {
      const application = await services.applications.find(clientId);
      if (application) await services.applications.remove(application.id, { source: 'dynamic' });
    },
  });

  const pairwiseIdentifier: PairwiseIdentifier = async (_ctx, accountId, client) =>
    pairwise.of(sectorOf(client), accountId);

  const sessionStore = createSessionStore({ sql, kind });

  const deviceGuesses = createDeviceGuesses({
    consume: (address) => services.rateLimits.consume('device:address', addressKey(address)),
    refund: (address) => services.rateLimits.refund('device:address', addressKey(address)),
  });

  const { rateLimits } = services;
  const at = (who: string, address: string) => `${who}|${addressKey(address)}`;
  const clientLimits = createClientLimits({
    failures: (who, address) => rateLimits.peek('client-auth:address', at(who, address)),
    failed: async (who, address) => void (await rateLimits.consume('client-auth:address', at(who, address))),
    deviceStart: (who, address) => rateLimits.consume('device-start:address', at(who, address)),
  });

  const configuration = async () =>
    createConfiguration({
      jwks: keyring.jwks() as never,
      adapter: (model: string) =>
        model === 'Client' ? clients.adapter : createArtifactAdapter(model, { sql, kind, now }),
      findAccount: createFindAccount({ ...services, clients }),
      loadExistingGrant: createGrantLoader({ consents, clients, enter: sessionStore.enter }),
      prompts: createPrompts({
        clients,
        accessAllowed: permissions.accessAllowed,
        satisfies,
        contextOf: (rule) => (rule === 'mfa' ? MFA_ACR : PHISHING_RESISTANT_ACR),
        async canReach(accountId, requested) {
          const account = await accounts.find(accountId);
          return account !== undefined && signInPolicy.canReach(account, requested, undefined);
        },
        samlWishes: (ctx) => saml.wishes(ctx, ctx.oidc.params),
        hasPassword: async (accountId) => (await credentials.status(accountId)) !== undefined,
        subjectOf: async (ctx, accountId) =>
          ctx.oidc.client?.subjectType === 'pairwise' ? pairwiseIdentifier(ctx, accountId, ctx.oidc.client) : accountId,
      }),
      admit: createAdmission({
        clients,
        isSamlAsked: saml.isAsked,
        isTestAsked: (ctx, params) => isTestAsked(outer(ctx), params),
      }),
      acrValues: [...acrValues],
      cookieKeys,
      secure: config.secure,
      sessionCookie: cookies.nameOf('session'),
      dpopNonceSecret: vault.deriveKey('dpop-nonce'),
      settings: () => ({
        sessionHours: settings.latest().session_hours,
        accessTokenMinutes: settings.latest().access_token_minutes,
      }),
      resourceServer: createResourceServer({ db, clients, accessTokenSeconds, own: ownResources(config.issuer) }),
      pairwiseIdentifier,
      extraTokenClaims,
      clientSecret: () => randomToken(),
      fetch: services.outgoing as never,
      pages: createPages({ findAccount: (id) => accounts.find(id), deviceGuesses, refusals: services.refusals }),
    });

  const noteDevice: EngineEvents['noteDevice'] = async (session, ctx) => {
    const browser = await services.mfa.knownBrowsers.recognise(cookies.get(ctx, 'knownBrowser'), session.accountId);
    await services.sessions.noteDevice(session, ctx.state.request, browser?.id);
  };

  const noteOpened = createNoteOpened({ audit, now });
  const engine = await createEngine({
    issuer: config.issuer,
    configuration,
    clients,
    clientLimits,
    vault,
    sql,
    events: {
      ...{ audit, metrics, logger, noteDevice, seen: services.sessions.seen, refusals: services.refusals },
      opened: async (accountId, clientId, request) => {
        if (clientId !== OWN_CLIENT_ID) await noteOpened(accountId, clientId, request);
      },
    },
    signOut: engineSignOut({ services, cookies }),
    sessionSaving: { store: sessionStore, epoch: () => Math.floor(now().getTime() / 1000) },
    isTooSoon: async (deviceCode) => !(await services.rateLimits.consume('device:poll', deviceCode)).allowed,
    samlResponse: saml.respond,
  });
  keyring.onChange(() => engine.rebuild());

  const accountOf = async (clientId: string, subject: string) => {
    const client = await engine.current().Client.find(clientId);
    return client?.subjectType === 'pairwise' ? pairwise.accountOf(sectorOf(client), subject) : subject;
  };
  return { engine, clients, clientLimits, deviceGuesses, pairwiseIdentifier, accountOf };
}

/** The host that the client's redirect URIs share; absent from the engine's typings. */
function sectorOf(client: Client): string {
  return String(Reflect.get(client, 'sectorIdentifier'));
}

/** RFC 7591: the fields we know of what the engine has checked; the rest is its own bookkeeping. */
async function registerDynamically(
  { applications }: Services,
  clientId: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  const known = Object.keys(oidcMetadata.shape).flatMap((key) =>
    metadata[key] === undefined ? [] : [[key, metadata[key]]],
  );
  const { client_name, client_secret } = metadata;
  const input = {
    ...Object.fromEntries(known),
    // Rights at an API are given by somebody who knows the application, not taken by itself.
    resources: [],
    client_name,
    client_secret,
    client_id: clientId,
  } as Partial<OidcClientInput>;
  await applications.createOidc(input, { source: 'dynamic' });
}
