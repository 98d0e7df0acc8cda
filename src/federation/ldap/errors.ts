// What the result of a directory means: a password that is wrong, one that is right although the directory rejects the sign-in, or a
// directory that cannot answer. No text of the directory reaches the person.

import { ResultCodeError } from 'ldapts';
import { messageOf } from '../../base/platform/errors.ts';
import { FederationError } from '../faults.ts';

/** Why a directory rejects a right password. */
export type PasswordRejection =
  | 'password_expired'
  | 'password_must_change'
  | 'account_disabled'
  | 'account_expired'
  | 'not_now'
  | 'not_here';

export interface BindRejection {
  /** For the audit log. */
  reason: string;
  /** What the directory answered. */
  text: string;
  /** Present: the password is right. */
  rejection?: PasswordRejection;
}

/** The result codes that reject this user or password (RFC 4511 appendix A.1). */
const BY_RESULT_CODE: Record<number, string> = {
  19: 'directory_constraint', // OpenLDAP and 389 DS: locked by a password policy
  32: 'directory_no_user',
  48: 'directory_no_password',
  49: 'wrong_password',
  50: 'directory_no_right',
  53: 'directory_unwilling',
};

/**
 * `data 533` in the message of Active Directory. A code with a rejection is the answer to the right password only, in Windows and in
 * Samba; 775 (locked) is the answer to every password.
 */
const BY_ACTIVE_DIRECTORY_CODE: Record<string, Omit<BindRejection, 'text'>> = {
  '525': { reason: 'directory_no_user' },
  '52e': { reason: 'wrong_password' },
  '530': { reason: 'directory_not_now', rejection: 'not_now' },
  '531': { reason: 'directory_not_here', rejection: 'not_here' },
  '532': { reason: 'directory_password_expired', rejection: 'password_expired' },
  '533': { reason: 'directory_account_disabled', rejection: 'account_disabled' },
  '701': { reason: 'directory_account_expired', rejection: 'account_expired' },
  '773': { reason: 'directory_password_must_change', rejection: 'password_must_change' },
  '775': { reason: 'directory_account_locked' },
};

/** Why a bind failed; undefined when the directory did not judge the password. */
export function rejectionOf(error: unknown): BindRejection | undefined {
  if (!(error instanceof ResultCodeError)) return undefined;
  const code = error.code === 49 ? /\bdata ([0-9a-f]{3,8})\b/i.exec(error.message)?.[1]?.toLowerCase() : undefined;
  const reason = BY_RESULT_CODE[error.code];
  if (reason === undefined) return undefined;
  return { reason, ...BY_ACTIVE_DIRECTORY_CODE[code ?? ''], text: plainText(error.message) };
}

/** The text of a directory on one line. */
const plainText = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, 300);

export const SIZE_LIMIT_EXCEEDED = 4;

/** A directory that cannot check passwords now. */
export function directoryUnavailable(operation: string, cause: unknown): FederationError {
  if (cause instanceof FederationError) return cause;
  const text = messageOf(cause);
  return new FederationError('upstream_unavailable', {
    rule: cause instanceof ResultCodeError ? 'answer' : 'connection',
    reason: `The directory can’t be used: ${operation} failed.`,
    expected: operation,
    received: plainText(text),
    cause,
  });
}

/** The directory rejects every password that is stored for the account that searches. */
export function searchAccountRejected(dn: string, reason: string): FederationError {
  return new FederationError('upstream_unavailable', {
    rule: 'secret',
    reason: 'The directory rejects the password of the account that searches. It isn’t sent again until it changes.',
    expected: `a bind as ${dn}`,
    received: reason,
  });
}

/** A response that breaks a rule of this server. */
export function invalidAnswer(message: string, expected: string, received: string): FederationError {
  return new FederationError('upstream_answer_invalid', { rule: 'answer', reason: message, expected, received });
}
