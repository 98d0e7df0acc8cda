// Step-up authentication (RFC 9470): whether a sign-in is strong and recent enough. Used by the account pages, the console and
// user tokens of the admin API alike. Pure.
//
// Where no factor is stronger, the proof includes a code by email, requested with `amr` as an essential claim (Core 5.5.1): a new `acr` would
// change the tokens of every application. A reset by email proves the same mailbox, so after one, a user with a permission in Gatehouse sets up
// no first factor until an administrator allows it.

import type { Proof } from '../../core/audit/audit.ts';
import { type Acr, acrLevel, MFA_ACR, PASSWORD_ACR } from './acr.ts';

/** What a session or an access token states about its sign-in. */
export interface StatedSignIn {
  acr: string | undefined;
  amr: readonly string[];
  authTime: Date;
}

/** The strongest proof that an account can give now. */
export interface StrongestProof {
  acr: Acr;
  /** A code by email as well: the account has no stronger factor, and the settings allow such codes. */
  mailedCode: boolean;
}

export interface AccountLevels {
  /** The strongest acr that the account can prove. */
  strongest: Acr;
  /** The acr that the settings demand of users with a right in Gatehouse; undefined for others. */
  staff: Acr | undefined;
}

/** The acr that console and admin API require: the second factor where the account has one, and what the settings demand. */
export function administrationAcr({ strongest, staff = PASSWORD_ACR }: AccountLevels): Acr {
  const own = acrLevel(strongest) > acrLevel(MFA_ACR) ? MFA_ACR : strongest;
  return acrLevel(staff) > acrLevel(own) ? staff : own;
}

/** Whether the sign-in suffices for console and admin API. A recovery code counts as a second factor, and never as a phishing-resistant one. */
export function opensAdministration(signIn: StatedSignIn, levels: AccountLevels): boolean {
  return acrLevel(signIn.acr) >= acrLevel(administrationAcr(levels));
}

/** Whether the sign-in behind a request is recent, and as strong as the account can prove. */
export function proofOf(
  signIn: StatedSignIn,
  strongest: StrongestProof,
  { now, minutes }: { now: Date; minutes: number },
): Proof {
  const ageSeconds = (now.getTime() - signIn.authTime.getTime()) / 1000;
  const isRecent = ageSeconds <= minutes * 60;
  // A user who has lost the strongest factor signs in with a recovery code in order to replace it.
  const isStrong = acrLevel(signIn.acr) >= acrLevel(strongest.acr) || signIn.amr.includes('recovery');
  const needsMailedCode = strongest.mailedCode && !signIn.amr.includes('email');
  const { acr, mailedCode } = strongest;
  return {
    isFresh: isRecent && isStrong && !needsMailedCode,
    isRecent,
    acr,
    mailedCode,
    authTime: signIn.authTime,
    minutes,
  };
}
