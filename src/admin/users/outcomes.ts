// What an administrator reads when a mail was not sent or a password is rejected.
import { type PasswordFault, passwordAdvice } from '../../credentials/password-policy.ts';
import { badRequest, conflict } from '../../http/errors.ts';

type Mailed = 'sent' | 'no-address' | 'disabled' | 'has-credentials';

export const INVITED_WITH_PASSWORD =
  'An invitation is for a user without a password: leave out either the password or the invitation.';

const notSent = {
  disabled: 'This account is disabled, so no mail was sent.',
  'no-address': 'This user has no email address.',
  'has-credentials':
    'An invitation is for a user who cannot sign in yet. This one can: send a link for a new password instead.',
};

/** Throws conflict unless the mail was sent. */
export function assertMailed(outcome: Mailed): void {
  if (outcome === 'sent') return;
  throw conflict('conflict', { message: notSent[outcome] });
}

/** The error for a password with these faults. */
export function passwordRejected(faults: readonly PasswordFault[], hasSecondFactor: boolean) {
  const fields = faults.map((fault) => ({ field: 'password', message: passwordAdvice(fault, hasSecondFactor) }));
  return badRequest('password_refused', { fields });
}
