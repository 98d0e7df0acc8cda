// What the parts of the OpenID Connect side share: what the folders above pass in, and what create-oidc.ts makes of it.
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { SignInRule } from '../../applications/rules/sign-in-rule.ts';
import type { Context } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { SessionContext, SessionNeed } from '../../people/mfa/policy.ts';
import type { People } from '../../people/people.ts';
import type { Subjects } from './claims/pairwise-subjects.ts';
import type { AdapterPayload, KoaContextWithOIDC } from './engine/library.ts';
import type { SamlRequirements } from './engine/saml-requirements.ts';
import type { IdentityAssertion } from './identity-assertions.ts';
import type { QueueLogoutToken } from './patches/provider/logout-token-queue.ts';
import type { SignedInSession } from './patches/provider/session-saving.ts';
import type { ClientLimits, DeviceGuesses } from './rate-limits.ts';
import type { ClientSource } from './store/clients.ts';
import type { RefreshTokenRetries } from './store/refresh-token-retries.ts';
import type { OnSessionDestroyed } from './store/sessions/session-adapter.ts';
import type { SessionStore } from './store/sessions/session-store.ts';
import type { Sessions } from './store/sessions/sessions.ts';

/** A handler for `registerResponseMode`: `payload` holds `state`, and `error` when the request was rejected. */
export type ResponseMode = (
  ctx: KoaContextWithOIDC,
  redirectUri: string,
  payload: Record<string, unknown>,
) => Promise<void>;

export interface OidcOptions {
  sessions: Sessions;
  sessionNeed(ctx: Context, account: Account, session: Omit<SessionContext, 'isTrustedBrowser'>): Promise<SessionNeed>;
  /** The server's own pages as a client that is not registered. */
  firstPartyClient: AdapterPayload & { client_id: string };
  /** Whether the directories of the account still have it; its roles follow them. */
  checkDirectories(accountId: string): Promise<boolean>;
  /** Sessions at upstream identity providers (src/federation). */
  upstream: {
    /** The connection of a session, and of a sign-in that is not stored yet (federation/sessions.ts). */
    ofSession(sessionUid: string): Promise<string | undefined>;
    connectionOf(id: string): Promise<string | undefined>;
    /** Whether the upstream of the session can prove one of these acr values. */
    canSatisfyAcr(sessionUid: string, acrs: readonly string[]): Promise<boolean>;
    /** Whether a directory that the application accepts checks the password of this account. */
    hasDirectory(accountId: string, rule: SignInRule | undefined): Promise<boolean>;
    /** Links the session at an upstream to the session that started with it. */
    attach(id: string, session: SignedInSession): Promise<void>;
    /** Throws an AppError for an assertion that is not believed. */
    readAssertion(assertion: string): Promise<IdentityAssertion>;
  };
  /** Logout across both protocols (src/protocols/logout). */
  logout: {
    endSession: OnSessionDestroyed;
    queueLogoutToken: QueueLogoutToken;
    /** Ends the oldest sessions of an account with too many. */
    limitSessions(accountId: string): Promise<void>;
  };
  /** SAML as a response mode (src/protocols/saml). */
  saml: {
    respond: ResponseMode;
    /** Whether the parameters are exactly those of a pending AuthnRequest of this browser. */
    isPendingAuthnRequest(ctx: unknown, params?: Record<string, unknown>): Promise<boolean>;
    /** What an AuthnRequest, given by its authorization parameters, requires of the sign-in. */
    requirements(ctx: unknown, params?: Record<string, unknown>): Promise<SamlRequirements>;
    assertionConsumerUrls(entityId: string): Promise<string[]>;
  };
}

export type OidcServices = Core &
  Http &
  People &
  ApplicationServices &
  OidcOptions & {
    clients: ClientSource;
    clientLimits: ClientLimits;
    deviceGuesses: DeviceGuesses;
    subjects: Subjects;
    sessionStore: SessionStore;
    refreshTokenRetries: RefreshTokenRetries;
    /** Audits the use of an application without a sign-in. */
    recordUsage(accountId: string, clientId: string, request: RequestInfo): Promise<void>;
  };
