// What an administrator reads when a mail was not sent or a password is rejected.
import { passwordAdvice } from '../../credentials/password-advice.ts';
import type { PasswordFault } from '../../credentials/password-policy.ts';
import { badRequest, conflict } from '../../http/errors.ts';

type Mailed = 'sent' | 'no-address' | 'disabled' | 'has-credentials';

export const INVITED_WITH_PASSWORD = 'Choose either a password or an invitation, not both.';

const notSent = {
  disabled: 'This account is disabled, so Gatehouse sent no email.',
  'no-address': 'This user has no email address.',
  'has-credentials': 'This user can already sign in. Send a password reset instead of an invitation.',
};

/** Throws conflict unless the mail was sent. */
export function assertMailed(outcome: Mailed): void {
  if (outcome === 'sent') return;
  throw conflict('conflict', { message: notSent[outcome] });
}

/** The error for a password with these faults. */
export function passwordRejected(faults: readonly PasswordFault[], hasSecondFactor: boolean) {
  const fields = faults.map((fault) => ({
    field: 'password',
    message: String(passwordAdvice(fault, hasSecondFactor)),
  }));
  return badRequest('password_refused', { fields });
}
