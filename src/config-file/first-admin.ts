// The first administrator of an empty server: a username, and a password that is displayed once and must be changed at the
// first sign-in. When several instances start at once, the unique username decides which one creates it.
import { AppError } from '../http/errors.ts';
import { ADMIN_ROLE } from '../rbac/built-in.ts';
import { createAccountWithPassword, type NewAccountDependencies } from './new-account.ts';

export type FirstAdmin = { username: string; password: string };

const USERNAME = 'admin';

/**
 * Creates the first administrator where no user has the admin role and no user was created outside the configuration file;
 * undefined otherwise. Call it after the file was applied, which may declare an administrator.
 */
export async function ensureFirstAdmin(dependencies: NewAccountDependencies): Promise<FirstAdmin | undefined> {
  const others = { OR: [{ source: { not: 'file' } }, { roles: { some: { role: { name: ADMIN_ROLE } } } }] };
  if ((await dependencies.db.user.count({ where: others })) > 0) return undefined;
  const profile = { username: USERNAME, name: 'Administrator', roles: [ADMIN_ROLE] };
  try {
    const created = await createAccountWithPassword(dependencies, profile);
    if (created.outcome === 'rejected')
      throw new Error(`a generated password was rejected: ${created.faults.join(', ')}`);
    return { username: USERNAME, password: created.oneTimePassword ?? '' };
  } catch (error) {
    if (error instanceof AppError && error.code === 'user_name_taken') return undefined;
    throw error;
  }
}
