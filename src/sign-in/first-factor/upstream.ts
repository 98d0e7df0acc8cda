// Sign-in at upstream identity providers, and at directories (LDAP, Active Directory) behind the password form, as the sign-in pages
// see them. src/federation implements it.

import type { SignInRule } from '../../applications/rules/sign-in-rule.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Acr } from '../../people/mfa/acr.ts';

/** A first factor that was proven at an upstream, in the attempt. */
export interface ProvenUpstream {
  /** Under which the identity is stored until the sign-in is finished. */
  requestId: string;
  connectionId: string;
  connectionName: string;
  /** `fed`, and what the trusted values of the connection prove. */
  amr: string[];
  /** When the user authenticated there, in epoch seconds; 0: the upstream does not say. */
  authTime: number;
  /** The authentication is not known to be as recent as demanded: a second factor of this server has to follow. */
  needsOwnFactor: boolean;
  /** The account that the user has to prove here before the identity is linked to it. */
  linkTo?: string | undefined;
}

/** A connection with a button on the sign-in page. */
export interface OfferedConnection {
  id: string;
  name: string;
  logo: string;
}

export interface SignInOffer {
  connections: OfferedConnection[];
  isLocalAllowed: boolean;
  /** The page has a form with a password: of this server, or of a directory. */
  takesPassword: boolean;
  /** Some users are sent to their connection by the domain of their address, so the address comes first. */
  asksAddressFirst: boolean;
}

/** The sign-in that a factor is for: its interaction, the rule of its application, and the request of the browser. */
interface SignInRequest {
  uid: string;
  rule: SignInRule | undefined;
  request: RequestInfo;
}

/** What the application and the page demand of a sign-in at an upstream. */
export interface UpstreamDemands {
  /** The user must authenticate again. */
  forced: boolean;
  maxAgeSeconds?: number;
  /** The acr of this server that the sign-in has to reach, as far as it is known before the user is. */
  level: Acr | undefined;
  /** The user is known, and has to reach the level there now. */
  isStepUp?: boolean;
  loginHint: string | undefined;
}

/** A connection whose upstream can prove more than it has. */
export interface UpstreamStepUp {
  connectionId: string;
  connectionName: string;
  /** The connection has no value that requests the level: the user has to authenticate again. */
  isForced: boolean;
}

/** Where the browser goes with the request. */
export type UpstreamStart =
  | { method: 'redirect'; url: string }
  | { method: 'post'; url: string; fields: Record<string, string> };

export interface UpstreamResult {
  proven: ProvenUpstream;
  /** The account that is signed in; undefined while `proven.linkTo` has to be proven. */
  userId: string | undefined;
  /** Freshness was demanded, and neither the upstream nor a second factor of the account can prove it: the code of the rejection. */
  staleCode?: string | undefined;
}

/** Rejections are AppErrors, and recorded. */
export interface UpstreamSignIns {
  /** What the first page offers to users of an application. */
  offer(rule: SignInRule | undefined): Promise<SignInOffer>;
  /** Whether the users of this connection type their password here. */
  isDirectory(connectionId: string): Promise<boolean>;
  /** Whether a directory that the application accepts checks the password of this account. */
  hasDirectory(accountId: string, rule: SignInRule | undefined): Promise<boolean>;
  /** The connection that the users of this address sign in at, if the application accepts it. No account is looked up. */
  forLogin(login: string, rule: SignInRule | undefined): Promise<string | undefined>;
  /** The connection at which alone the users of this account's domain sign in; undefined: none, as for administrators. */
  requiredConnection(account: Account): Promise<{ id: string; name: string } | undefined>;
  /**
   * The connection whose upstream can raise this session, or this sign-in at a connection, to the level; undefined: none, or the
   * application does not accept it.
   */
  stepUpAt(
    at: { sessionUid: string } | { connectionId: string },
    level: Acr,
    rule: SignInRule | undefined,
  ): Promise<UpstreamStepUp | undefined>;
  start(connectionId: string, signIn: SignInRequest & { demands: UpstreamDemands }): Promise<UpstreamStart>;
  /** Redeems the answer that came back, and finds the account: only this one, if `userId` is given. */
  finish(
    answer: string,
    signIn: SignInRequest & { invitedId: string | undefined; userId: string | undefined },
  ): Promise<UpstreamResult>;
  /** Rejects the proof of another account than the one to link. */
  rejectOtherAccount(proven: ProvenUpstream, uid: string, request: RequestInfo): Promise<never>;
  /**
   * At the end of a sign-in: links an identity whose account was proven, and stores the session at the upstream. Returns the id
   * of that for the engine. Throws sign_in_expired when the identity is no longer stored.
   */
  complete(proven: ProvenUpstream, account: Account, uid: string, by: Actor): Promise<string>;
}

export interface DirectoryAttempt {
  login: string;
  password: string;
  /** The account with this login, and whether it has a password here, which was wrong then. */
  account: Account | undefined;
  hasPassword: boolean;
  /** Too many attempts failed: no directory gets the password. */
  isLocked: boolean;
  /** Whether the account has signed in from this browser before. */
  isKnownBrowserOf(accountId: string): Promise<boolean>;
  rule: SignInRule | undefined;
  request: RequestInfo;
}

/** A password that a directory has confirmed. */
export interface ConfirmedUser {
  connectionId: string;
  /** Opaque to the sign-in pages. */
  identity: unknown;
}

/** `name` is that of the connection. */
export type DirectoryResult =
  | { outcome: 'right'; user: ConfirmedUser }
  /**
   * A right password with which the directory lets nobody in: expired, to be changed, an account that is disabled, … `passwordUrl`: where
   * the user changes it. `reason` is for the audit log.
   */
  | {
      outcome: 'rejected';
      rejection: string;
      name: string;
      passwordUrl: string | undefined;
      reason: string;
      connectionId: string;
    }
  /** `reason` is for the audit log only; undefined: no directory got the password. */
  | { outcome: 'wrong'; reason?: string; connectionId?: string }
  | { outcome: 'unavailable'; name: string; retryAfterSeconds: number };

export interface DirectorySignIns {
  /** Checks the password at the directories that the login may belong to; the work is the same for every login. */
  check(attempt: DirectoryAttempt): Promise<DirectoryResult>;
  /** Finds the account of a confirmed user. Rejections are AppErrors, and recorded. */
  finish(user: ConfirmedUser, signIn: SignInRequest & { invitedId: string | undefined }): Promise<UpstreamResult>;
}

/** Authentication methods of this server that prove the user now. */
const OWN_FACTORS = ['otp', 'sms', 'hwk', 'swk', 'recovery'];

/** Whether a factor of this server was proven in the attempt. */
export function hasOwnFactor({ amr, passwordSetAt }: { amr: readonly string[]; passwordSetAt?: number | undefined }) {
  return passwordSetAt !== undefined || amr.some((method) => OWN_FACTORS.includes(method));
}
