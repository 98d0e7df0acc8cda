// The administrators, for mail about the server itself.

import type { Account } from '../accounts/account.ts';
import { createAccountList } from '../accounts/account-list.ts';
import { ADMIN_ROLE } from './built-in.ts';

const MOST = 50;

/**
 * The active accounts with the role for administrators; at most 50.
 *
 * @param find the account as this server wrote it: rights and addresses of other programs do not count
 */
export async function listAdministrators(
  core: Parameters<typeof createAccountList>[0],
  find: (id: string) => Promise<Account | undefined>,
): Promise<Account[]> {
  const { list } = createAccountList(core);
  const administrators: Account[] = [];
  let after: string | undefined;
  do {
    const page = await list({ role: ADMIN_ROLE, state: 'active', sort: 'created', limit: MOST, after });
    for (const { id } of page.accounts) {
      const account = await find(id);
      if (account?.isActive && account.roles.includes(ADMIN_ROLE)) administrators.push(account);
      if (administrators.length === MOST) return administrators;
    }
    after = page.next;
  } while (after !== undefined);
  return administrators;
}
