// The first administrator of an empty server: a username, and a password that is displayed once and must be changed at the
// first sign-in. When several instances start at once, the unique username decides which one creates it.

import { AppError } from '../base/http/errors.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { Db } from '../base/storage/database.ts';
import { ADMIN_ROLE } from '../people/rbac/built-in.ts';
import { createAccountWithPassword } from './new-account.ts';

export type FirstAdmin = { username: string; password: string };

const USERNAME = 'admin';
const STORED_AGO_MS = 60_000;

/**
 * Creates the first administrator where no user has the admin role and no user was created outside the configuration file;
 * undefined otherwise. Call it after the file was applied, which may declare an administrator.
 */
export async function ensureFirstAdmin(
  services: Parameters<typeof createAccountWithPassword>[0],
): Promise<FirstAdmin | undefined> {
  const others = { OR: [{ source: { not: 'file' } }, { roles: { some: { role: { name: ADMIN_ROLE } } } }] };
  if ((await services.db.user.count({ where: others })) > 0) return undefined;
  const profile = { username: USERNAME, name: 'Administrator', roles: [ADMIN_ROLE] };
  try {
    const created = await createAccountWithPassword(services, profile);
    if (created.outcome === 'rejected')
      throw new Error(`a generated password was rejected: ${created.faults.join(', ')}`);
    return { username: USERNAME, password: created.oneTimePassword ?? '' };
  } catch (error) {
    if (error instanceof AppError && error.code === 'user_name_taken') return undefined;
    throw error;
  }
}

/**
 * Whether nobody has signed in yet with the password of the first administrator. It was displayed once, and not at all when the process was
 * killed between storing and displaying it.
 */
export async function isFirstPasswordUnused({ db, now }: { db: Db; now: Clock }): Promise<boolean> {
  const account = {
    usernameKey: USERNAME,
    source: 'local',
    isEnabled: true,
    password: { mustChange: true },
    roles: { some: { role: { name: ADMIN_ROLE } } },
    // Another process may be starting that has just stored it.
    createdAt: { lt: new Date(now().getTime() - STORED_AGO_MS) },
  };
  return (await db.user.count({ where: account })) > 0;
}

/** What to do then. */
export const FIRST_PASSWORD_ADVICE = `If its password is lost, run: gatehouse user set-password ${USERNAME}`;

/** For the log of a start. */
export async function warnOfUnusedPassword({
  logger,
  ...dependencies
}: {
  db: Db;
  now: Clock;
  logger: Logger;
}): Promise<void> {
  if (await isFirstPasswordUnused(dependencies))
    logger.warn(`nobody has signed in as ${USERNAME} yet. ${FIRST_PASSWORD_ADVICE}`);
}
