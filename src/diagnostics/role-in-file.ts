// What the pages say where a role is missing that no button can give, because the configuration file declares the user.

import { missingRoles } from '../applications/access-decision.ts';
import type { Application } from '../applications/application.ts';
import { nameAndUsername } from '../base/http/pages/tokens.ts';
import { oneOf, type Text, t } from '../base/texts/text.ts';
import type { Account } from '../people/accounts/account.ts';

/** Undefined where the console can give the roles, or none is missing. */
export function roleInFile({ access }: Application, account: Account): Text | undefined {
  const roles = missingRoles(access, account);
  if (account.source !== 'file' || roles.length === 0) return undefined;
  return t('console.access-check.role-in-file', { user: nameAndUsername(account), roles: oneOf(roles) });
}
