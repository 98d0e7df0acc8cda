// What the OpenID Connect side of the server is made of, and what its parts share.

import type { Context } from '../../base/http/context.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Acr } from '../../people/mfa/acr.ts';
import type { UpstreamSource } from './engine/interaction-policy.ts';
import type { PairwiseIdentifier } from './engine/introspection.ts';
import type { AdapterPayload, Configuration } from './engine/library.ts';
import type { ResponseMode } from './engine/provider.ts';
import type { RequestCheckDependencies } from './engine/requests/request-checks.ts';
import type { SamlRequirements } from './engine/saml-requirements.ts';
import type { QueueLogoutToken } from './patches/provider/logout-token-queue.ts';
import type { SignedInSession } from './patches/provider/session-saving.ts';
import type { DeviceGuesses } from './rate-limits/device-code-guesses.ts';
import type { ClientSource } from './store/clients.ts';
import type { RefreshTokenRetries } from './store/refresh-token-retries.ts';
import type { OnSessionDestroyed } from './store/sessions/session-adapter.ts';
import type { SessionStore } from './store/sessions/session-store.ts';
import type { Sessions } from './store/sessions/sessions.ts';

export interface OidcDependencies {
  /** Whether cookies are sent over HTTPS only. */
  secure: boolean;
  /** Requests to addresses that clients register (base/network/outgoing-fetch.ts). */
  outgoingFetch: Configuration['fetch'];
  sessions: Sessions;
  /** Whether the account has the factors for one of these acr values. */
  canSatisfyAcr(account: Account, acrs: string[]): Promise<boolean>;
  /** The acr that the settings demand of each session of the account in this browser. */
  settingsAcr(ctx: Context, account: Account): Promise<Acr | undefined>;
  /** Whether the account can enter a code by email, and has no stronger factor. */
  canEnterMailedCode(account: Account): Promise<boolean>;
  /** The server's own pages as a client that is not registered. */
  firstPartyClient: AdapterPayload & { client_id: string };
  /** Whether the tokens of the account may be refreshed: false for a user whom the directory has no more. */
  checkDirectories(accountId: string): Promise<boolean>;
  /** Sessions at upstream identity providers (src/federation). */
  upstream: UpstreamSource & { attach(id: string, session: SignedInSession): Promise<void> };
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
export interface Shared {
  clients: ClientSource;
  sessionStore: SessionStore;
  deviceGuesses: DeviceGuesses;
  pairwiseIdentifier: PairwiseIdentifier;
  refreshTokenRetries: RefreshTokenRetries;
}
