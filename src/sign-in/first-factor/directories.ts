// Directories (LDAP, Active Directory) behind the password form, as the sign-in pages see them. src/federation implements it.

import type { SignInRule } from '../../applications/rules/sign-in-rule.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { UpstreamResult } from './upstream.ts';

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

/** A right password with which the directory lets nobody in: expired, to be changed, an account that is disabled, … */
export interface RejectedUser {
  outcome: 'rejected';
  rejection: string;
  /** Of the connection. */
  name: string;
  /** Where the user changes the password of the directory. */
  passwordUrl: string | undefined;
}

export type DirectoryVerdict =
  | { outcome: 'right'; user: ConfirmedUser }
  /** `reason` is for the audit log. */
  | (RejectedUser & { reason: string; connectionId: string })
  /** `reason` is for the audit log only; undefined: no directory got the password. */
  | { outcome: 'wrong'; reason?: string; connectionId?: string }
  | { outcome: 'unavailable'; name: string; retryAfterSeconds: number };

export interface DirectorySignIns {
  /** Checks the password at the directories that the login may belong to; the work is the same for every login. */
  check(attempt: DirectoryAttempt): Promise<DirectoryVerdict>;
  /** Finds the account of a confirmed user. Failures are AppErrors, and recorded as rejected requests. */
  finish(
    user: ConfirmedUser,
    sign: { uid: string; rule: SignInRule | undefined; invitedId: string | undefined; request: RequestInfo },
  ): Promise<UpstreamResult>;
}
