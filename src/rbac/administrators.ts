// The administrators, for mail about the server itself.
import type { Db } from '../storage/database.ts';
import { ADMIN_ROLE } from './built-in.ts';

export interface Administrator {
  id: string;
  username: string;
  name: string | null;
  email: string | null;
}

/** The active accounts with the role for administrators; at most 50. */
export function listAdministrators(db: Db): Promise<Administrator[]> {
  return db.user.findMany({
    where: { isActive: true, roles: { some: { role: { name: ADMIN_ROLE } } } },
    select: { id: true, username: true, name: true, email: true },
    orderBy: { id: 'asc' },
    take: 50,
  });
}
