// What an administrator reads when a mail was not sent or a password is rejected.

import { badRequest, conflict } from '../../base/http/errors.ts';
import { textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import { passwordAdvice } from '../../people/credentials/password-advice.ts';
import type { PasswordFault } from '../../people/credentials/password-policy.ts';

type Mailed = 'sent' | 'no-address' | 'disabled' | 'has-credentials';

export const INVITED_WITH_PASSWORD = t('console.users.problem.password-and-invitation');

const notSent = {
  disabled: t('console.users.problem.mail-disabled'),
  'no-address': t('console.users.problem.mail-no-address'),
  'has-credentials': t('console.users.problem.mail-has-credentials'),
};

/** Throws conflict unless the mail was sent. */
export function assertMailed(outcome: Mailed): void {
  if (outcome === 'sent') return;
  throw conflict('conflict', { message: notSent[outcome] });
}

/** The error for a password with these faults. */
export function passwordRejected(faults: readonly PasswordFault[], hasSecondFactor: boolean) {
  return badRequest('password_rejected', {
    faults: faults.map((one) => textFault(['password'], passwordAdvice(one, hasSecondFactor))),
  });
}
