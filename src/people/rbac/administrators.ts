// The administrators, for mail about the server itself.

import type { Db } from '../../base/storage/database.ts';
import type { Account } from '../accounts/account.ts';
import { ADMIN_ROLE } from './built-in.ts';

const MOST = 50;

/**
 * The active accounts with the role for administrators; at most 50.
 *
 * @param find the account as this server wrote it: rights and addresses of other programs do not count
 */
export async function listAdministrators(
  db: Db,
  find: (id: string) => Promise<Account | undefined>,
): Promise<Account[]> {
  const admin = { role: { name: ADMIN_ROLE } };
  const inAdmins = { ancestor: { roles: { some: admin } } };
  const rows = await db.asStored.user.findMany({
    where: { OR: [{ roles: { some: admin } }, { groups: { some: { group: { ancestors: { some: inAdmins } } } } }] },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  const administrators: Account[] = [];
  for (const { id } of rows) {
    const account = await find(id);
    if (account?.isActive && account.roles.includes(ADMIN_ROLE)) administrators.push(account);
    if (administrators.length === MOST) break;
  }
  return administrators;
}
