// What the result of a directory means: a password that is wrong, with the reason for the audit log, or a directory that cannot
// answer. No text of the directory reaches the person.
import { ResultCodeError } from 'ldapts';
import { FederationError } from '../faults.ts';

/** The result codes that reject this user or password (RFC 4511 appendix A.1). */
const REASON_BY_RESULT_CODE: Record<number, string> = {
  19: 'directory_constraint', // OpenLDAP and 389 DS: locked by a password policy
  32: 'directory_no_user',
  48: 'directory_no_password',
  49: 'wrong_password',
  50: 'directory_no_right',
  53: 'directory_unwilling',
};

/** `data 533` in the message of Active Directory, by why it rejects a password. */
const REASON_BY_ACTIVE_DIRECTORY_CODE: Record<string, string> = {
  '525': 'directory_no_user',
  '530': 'directory_not_now',
  '531': 'directory_not_here',
  '532': 'directory_password_expired',
  '533': 'directory_account_disabled',
  '701': 'directory_account_expired',
  '773': 'directory_password_must_change',
  '775': 'directory_account_locked',
};

/** Why the bind of a user failed, for the audit log; undefined when the directory did not judge the password. */
export function rejectionOf(error: unknown): string | undefined {
  if (!(error instanceof ResultCodeError)) return undefined;
  const code = error.code === 49 ? /\bdata ([0-9a-f]{3,8})\b/i.exec(error.message)?.[1] : undefined;
  return (code && REASON_BY_ACTIVE_DIRECTORY_CODE[code]) ?? REASON_BY_RESULT_CODE[error.code];
}

export const SIZE_LIMIT_EXCEEDED = 4;

/** A directory that cannot check passwords now. */
export function directoryUnavailable(operation: string, cause: unknown): FederationError {
  if (cause instanceof FederationError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new FederationError('upstream_unavailable', {
    rule: cause instanceof ResultCodeError ? 'answer' : 'connection',
    message: `The directory can’t be used: ${operation} failed.`,
    expected: operation,
    received: text.replace(/\p{Cc}+/gu, ' ').slice(0, 300),
    cause,
  });
}

/** A response that breaks a rule of this server. */
export function invalidAnswer(message: string, expected: string, received: string): FederationError {
  return new FederationError('upstream_answer_invalid', { rule: 'answer', message, expected, received });
}
