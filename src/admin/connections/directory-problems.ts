// Why a directory would reject the right password of a user, in words: for "Try it" and the access check.

import { type Text, t } from '../../base/texts/text.ts';
import type { AccountProblem } from '../../federation/ldap/identity.ts';

export const directoryProblemTexts: Record<AccountProblem, Text> = {
  account_disabled: t('console.connections.problem.account-disabled'),
  account_expired: t('console.connections.problem.account-expired'),
  account_locked: t('console.connections.problem.account-locked'),
  password_expired: t('console.connections.problem.password-expired'),
  password_must_change: t('console.connections.problem.password-must-change'),
  not_now: t('console.connections.problem.not-now'),
};
