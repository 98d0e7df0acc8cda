// The first administrator of an empty server: a username, and a password that is displayed once and must be changed at the
// first sign-in. When several instances start at once, the unique username decides which one creates it.

import { AppError } from '../base/http/errors.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { Db } from '../base/storage/database.ts';
import type { Account } from '../people/accounts/account.ts';
import { createAccountList } from '../people/accounts/account-list.ts';
import { listAdministrators } from '../people/rbac/administrators.ts';
import { ADMIN_ROLE } from '../people/rbac/built-in.ts';
import { createAccountWithPassword } from './new-account.ts';

/** What the list of accounts is read with. */
type Core = Parameters<typeof createAccountList>[0];

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

/** The name of an administrator, where none of them has a way to sign in, such as those that a new configuration file declares. */
export async function lockedOutAdministrator({
  find,
  ...core
}: Core & { find(id: string): Promise<Account | undefined> }): Promise<string | undefined> {
  const ids = (await listAdministrators(core, find)).map(({ id }) => id);
  if (ids.length === 0) return undefined;
  const { accounts } = await createAccountList(core).list({ ids, sort: 'created', limit: ids.length });
  return accounts.every(({ invitation }) => invitation === 'needed') ? accounts[0]?.username : undefined;
}

/** What to do then. */
export const lockedOutAdvice = (username: string): string => `Run: gatehouse user set-password ${username}`;

/** For the log of a start. */
export async function warnOfAdministrators({
  logger,
  accounts: { find },
  ...core
}: Core & { logger: Logger; accounts: { find(id: string): Promise<Account | undefined> } }): Promise<void> {
  const lockedOut = await lockedOutAdministrator({ ...core, find });
  if (lockedOut !== undefined)
    logger.warn(`no administrator has a password or another way to sign in. ${lockedOutAdvice(lockedOut)}`);
  if (await isFirstPasswordUnused(core))
    logger.warn(`nobody has signed in as ${USERNAME} yet. ${FIRST_PASSWORD_ADVICE}`);
}
