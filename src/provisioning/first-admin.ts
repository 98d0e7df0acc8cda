// The first administrator of an empty server: a user name, and a password that is shown once and must be changed at the
// first sign-in. Instances that start at the same moment agree by the unique user name: one makes it, and says so.
import { AppError } from '../http/errors.ts';
import { ADMIN_ROLE } from '../rbac/built-in.ts';
import { createAccountWithPassword, type NewAccountNeeds } from './new-account.ts';

export type FirstAdmin = { username: string; password: string };

const USERNAME = 'admin';

/**
 * Makes the first admin where nobody has the admin role and nobody was made but by the configuration file; undefined when
 * there was nothing to do. Call it after the file was applied, which may bring an admin.
 */
export async function ensureFirstAdmin(needs: NewAccountNeeds): Promise<FirstAdmin | undefined> {
  const others = { OR: [{ source: { not: 'file' } }, { roles: { some: { role: { name: ADMIN_ROLE } } } }] };
  if ((await needs.db.user.count({ where: others })) > 0) return undefined;
  const profile = { username: USERNAME, name: 'Administrator', roles: [ADMIN_ROLE] };
  try {
    const created = await createAccountWithPassword(needs, profile);
    if (created.outcome === 'refused')
      throw new Error(`a generated password was refused: ${created.faults.join(', ')}`);
    return { username: USERNAME, password: created.oneTimePassword ?? '' };
  } catch (error) {
    if (error instanceof AppError && error.code === 'user_name_taken') return undefined;
    throw error;
  }
}
