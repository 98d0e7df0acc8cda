// What an administrator reads when a mail was not sent or a password is rejected.
import { type PasswordFault, passwordAdvice } from '../../credentials/password-policy.ts';
import { badRequest, conflict } from '../../http/errors.ts';

type Mailed = 'sent' | 'no-address' | 'disabled';

/** Throws conflict unless the mail was sent. */
export function assertMailed(outcome: Mailed): void {
  if (outcome === 'sent') return;
  const message =
    outcome === 'disabled' ? 'This account is disabled, so no mail was sent.' : 'This user has no e-mail address.';
  throw conflict('conflict', { message });
}

/** The error for a password with these faults. */
export function passwordRejected(faults: readonly PasswordFault[], hasSecondFactor: boolean) {
  const fields = faults.map((fault) => ({ field: 'password', message: passwordAdvice(fault, hasSecondFactor) }));
  return badRequest('password_refused', { fields });
}
