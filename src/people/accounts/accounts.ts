// The accounts of users: look-ups, lists and changes.

import { notFound } from '../../base/http/errors.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import { type Account, createAccountLookup } from './account.ts';
import { type AccountCount, type AccountPage, countAccounts, type ListAccounts, listAccounts } from './account-list.ts';
import type { AttributeSchema } from './attributes.ts';
import {
  type AccountContext,
  createAccount,
  removeAccount,
  setAccountActive,
  updateAccount,
} from './change-accounts.ts';
import { nameKey } from './names.ts';
import type { NewAccount, Profile } from './profile.ts';
import { isGenuineUser } from './protected-users.ts';

export type { NewAccount } from './profile.ts';

export type Accounts = ReturnType<typeof createAccounts>;

export interface AccountsDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  /** JSON Schema of custom attributes; empty for none. */
  attributeSchema?: () => AttributeSchema;
  /** Domains whose addresses may be usernames of accounts with another email address. */
  usernameDomains?: () => readonly string[];
}

/** Every operation on accounts. A change joins the transaction `tx`, or is one of its own. */
export function createAccounts(dependencies: AccountsDependencies) {
  const { db, sql, now, audit, protectedRows } = dependencies;
  const { attributeSchema = () => ({}), usernameDomains = () => [] } = dependencies;
  const lookUp = createAccountLookup({ db, sql, protectedRows });
  const context = { db, sql, now, audit, protectedRows, attributeSchema, usernameDomains, lookUp };
  return {
    find: lookUp.byId,
    /** By username or email address, in whatever case and spelling. */
    findByLogin: lookUp.byLogin,
    findByEmail: lookUp.byEmail,
    list: (query: ListAccounts = {}): Promise<AccountPage> => listAccounts({ db, sql }, query),
    /** How many accounts a list of this query has. */
    countMatches: (query: ListAccounts): Promise<AccountCount> => countAccounts({ db, sql }, query),
    count: (): Promise<number> => db.user.count(),
    /** Throws user_name_taken or email_taken (409), invalid_input (400). */
    create: (account: NewAccount, by: Actor = {}, tx?: Tx): Promise<Account> => createAccount(context, account, by, tx),
    /** Changes the given fields; throws as create does, and not_found (404). */
    update: (
      id: string,
      changes: Partial<Profile> & { source?: 'local' | 'file' },
      by: Actor = {},
      tx?: Tx,
    ): Promise<Account> => updateAccount(context, id, changes, by, tx),
    /** Sets the phone number to one that the user has proven: a code that was sent to it came back. */
    confirmPhoneNumber: (id: string, number: string, by: Actor = {}, tx?: Tx): Promise<Account> =>
      updateAccount(context, id, { phoneNumber: number }, by, tx, true),
    /** Whether it changed anything. Ending the sessions of a disabled account is the caller's next step. */
    setActive: (id: string, isActive: boolean, by: Actor = {}, tx?: Tx): Promise<boolean> =>
      setAccountActive(context, id, isActive, by, tx),
    /** Deletes the account and everything that belongs to it. Its id stays retired, so that no other account gets it. */
    remove: (id: string, by: Actor = {}, tx?: Tx): Promise<void> => removeAccount(context, id, by, tx),
    /**
     * For the command line: the rows that this id, username or email address names, also those that another program wrote, which
     * all other functions treat as unknown.
     */
    findStored: (login: string): Promise<StoredAccount[]> => findStored(context, login),
    /** Deletes such a row with everything that belongs to it, whatever its MAC. */
    removeStored: (account: StoredAccount, tx: Tx): Promise<void> => removeStored(context, account, tx),
  };
}

interface StoredAccount {
  id: string;
  username: string;
  email: string | null;
  source: string;
  /** False: another program wrote the row. */
  isGenuine: boolean;
}

/** The rows with this id, username or email address: more than one only where another program wrote one of them. */
async function findStored(
  { db, protectedRows }: { db: Db; protectedRows: ProtectedRows },
  login: string,
): Promise<StoredAccount[]> {
  const key = nameKey(login);
  const rows = await db.asStored.user.findMany({
    where: { OR: [{ id: login }, { usernameKey: key }, { emailKey: key }] },
  });
  return rows.map((row) => {
    const { id, username, email, source } = row;
    return { id, username, email, source, isGenuine: isGenuineUser(row, protectedRows) };
  });
}

/** Deletes the row. Its id stays retired. Throws not_found (404). */
async function removeStored(
  { now, audit }: Pick<AccountContext, 'now' | 'audit'>,
  { id, username, email, source, isGenuine }: StoredAccount,
  tx: Tx,
): Promise<void> {
  const { count } = await tx.user.deleteMany({ where: { id } });
  if (count === 0) throw notFound({ detail: { accountId: id } });
  await tx.retiredSubject.upsert({ where: { id }, create: { id, retiredAt: now() }, update: {} });
  const data = { before: { username, email, source }, changedOutside: !isGenuine };
  await audit.record({ type: 'account.deleted', outcome: 'success', subjectId: id, data }, tx);
}
