// The accounts of users: look-ups, lists and changes.

import { conflict, invalidInput, notFound } from '../../base/http/errors.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { randomId } from '../../base/platform/random.ts';
import { type Db, isUniqueViolation, type Tx, withinTransaction } from '../../base/storage/database.ts';
import { lockAccountNames, lockRow } from '../../base/storage/row-lock.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { deleteLinkTokens } from '../../core/mail/link-tokens.ts';
import { type Account, createAccountLookup } from './account.ts';
import { type AccountCount, type AccountPage, countAccounts, type ListAccounts, listAccounts } from './account-list.ts';
import { type AttributeSchema, attributeFaults } from './attributes.ts';
import { type NameDomains, nameKey } from './names.ts';
import { type NewAccount, type Profile, profileColumns } from './profile.ts';
import { addressOf, emptyProfile } from './profile-fields.ts';

export type { NewAccount } from './profile.ts';

export type Accounts = ReturnType<typeof createAccounts>;

/** Every operation on accounts. A change joins the transaction `tx`, or is one of its own. */
export function createAccounts(
  dependencies: Core & {
    /** JSON Schema of custom attributes; empty for none. */
    attributeSchema?: () => AttributeSchema;
    /** Domains whose addresses may be usernames of accounts with another email address. */
    usernameDomains?: () => readonly string[];
  },
) {
  const { db, sql, now, audit } = dependencies;
  const { attributeSchema = () => ({}), usernameDomains = () => [] } = dependencies;
  const lookUp = createAccountLookup(dependencies);
  const context = { db, sql, now, audit, attributeSchema, usernameDomains, lookUp };
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
    /**
     * Changes the given fields; throws as create does, and not_found (404).
     * @param of its id, or the account that the caller has read in this transaction, with its row locked
     */
    update: (
      of: string | Account,
      changes: Partial<Profile> & { source?: 'local' | 'file' },
      by: Actor = {},
      tx?: Tx,
    ): Promise<Account> => updateAccount(context, of, changes, by, tx),
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
async function findStored({ db }: { db: Db }, login: string): Promise<StoredAccount[]> {
  const key = nameKey(login);
  const query = {
    where: { OR: [{ id: login }, { usernameKey: key }, { emailKey: key }] },
  };
  const genuine = new Set((await db.user.findMany(query)).map(({ id }) => id));
  const stored = await db.asStored.user.findMany(query);
  return stored.map(({ id, username, email, source }) => ({ id, username, email, source, isGenuine: genuine.has(id) }));
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

// Creates, changes and deletes accounts. Unique constraints decide which of two requests gets a name, not a look-up
// beforehand. Every change is audited in its own transaction.

type AccountContext = {
  db: Db;
  now: Clock;
  audit: Audit;
  sql: Sql;
  attributeSchema: () => AttributeSchema;
  usernameDomains: () => readonly string[];
  lookUp: Pick<ReturnType<typeof createAccountLookup>, 'byId'>;
};

/** Throws user_name_taken or email_taken (409), invalid_input (400). */
async function createAccount(
  context: AccountContext,
  { id = randomId(), isActive = true, source = 'local', ...profile }: NewAccount,
  by: Actor,
  outer: Tx | undefined,
): Promise<Account> {
  const { db, now, audit, attributeSchema } = context;
  // Attributes and names in the configuration file were checked against the settings that the file declares.
  if (source !== 'file') assertAttributes(profile.attributes, attributeSchema());
  const columns = profileColumns(profile, source === 'file' ? 'any' : context.usernameDomains());
  return withinTransaction(db, outer, async (tx) => {
    if (await tx.retiredSubject.findUnique({ where: { id } })) {
      throw conflict('conflict', { message: 'This identifier belonged to a deleted account. Use another one.' });
    }
    await assertNotTaken(tx, context.sql, id, columns);
    const at = now();
    const row = { ...emptyProfile, ssoId: null, ...columns, id, isActive, source };
    const dates = { createdAt: at, updatedAt: at };
    await tx.user.create({ data: { ...row, ...dates }, select: { id: true } }).catch(throwTaken);
    const data = { after: columnsForAudit(columns) };
    await audit.record({ ...by, type: 'account.created', outcome: 'success', subjectId: id, data }, tx);
    return findOrThrow(context, id, tx);
  });
}

/** Changes the given fields; throws as createAccount does, and not_found (404). A new phone number is unverified unless it was proven. */
function updateAccount(
  context: AccountContext,
  of: string | Account,
  { source, ...changes }: Partial<Profile> & { source?: 'local' | 'file' },
  by: Actor,
  outer: Tx | undefined,
  hasProvenPhone = false,
): Promise<Account> {
  const { db, now, audit, attributeSchema } = context;
  return withinTransaction(db, outer, async (tx) => {
    const before = typeof of === 'string' ? await lockedAccount(context, of, tx) : of;
    const { id } = before;
    // Attributes from before the schema stay as they are until they are changed.
    if (source !== 'file' && JSON.stringify(changes.attributes) !== JSON.stringify(before.attributes))
      assertAttributes(changes.attributes, attributeSchema(), before.attributes);
    const profile = changedProfile(before, changes);
    const domains = source === 'file' ? 'any' : domainsFor(before, profile, context.usernameDomains());
    const checked = profileColumns(profile, domains, before);
    const isSamePhone = before.phoneNumberVerified && (checked.phoneNumber ?? null) === before.phoneNumber;
    const columns = { ...checked, phoneNumberVerified: hasProvenPhone || isSamePhone };
    const difference = differenceOf(before, columns);
    if (!difference && (source ?? before.source) === before.source) return before;
    const emailKey = before.email === null ? null : nameKey(before.email);
    if (columns.usernameKey !== nameKey(before.username) || columns.emailKey !== emailKey)
      await assertNotTaken(tx, context.sql, id, columns);
    // All that the MAC covers: the row was verified, and is locked.
    const data = { ...columns, id, isActive: before.isActive, source: source ?? before.source, updatedAt: now() };
    await tx.user.update({ where: { id }, data, select: { id: true } }).catch(throwTaken);
    // Links that were mailed to the old address must not work.
    if (columns.emailKey !== emailKey) await deleteLinkTokens(tx, id);
    await audit.record(
      { ...by, type: 'account.updated', outcome: 'success', subjectId: id, data: difference ?? { source } },
      tx,
    );
    return changedAccount(before, columns, data);
  });
}

/** The MAC covers the whole row, so no other change may come between reading and writing it. */
async function lockedAccount(context: AccountContext, id: string, tx: Tx): Promise<Account> {
  await lockRow(tx, context.sql, 'users', id);
  return findOrThrow(context, id, tx);
}

/** The account with these columns. */
function changedAccount(
  before: Account,
  columns: Columns,
  { source, updatedAt }: { source: Account['source']; updatedAt: Date },
): Account {
  const {
    usernameKey: _name,
    emailKey: _email,
    searchKey: _search,
    nameKey: _sort,
    lastNameKey: _last,
    ...rest
  } = columns;
  const address = rest.address === undefined ? before.address : addressOf(rest.address);
  return { ...before, ...rest, address, attributes: JSON.parse(rest.attributes), source, updatedAt };
}

/** Whether it changed anything. */
function setAccountActive(
  context: AccountContext,
  id: string,
  isActive: boolean,
  by: Actor,
  outer: Tx | undefined,
): Promise<boolean> {
  const { db, now, audit } = context;
  return withinTransaction(db, outer, async (tx) => {
    await lockRow(tx, context.sql, 'users', id);
    if ((await findOrThrow(context, id, tx)).isActive === isActive) return false;
    await tx.user.update({ where: { id }, data: { isActive, updatedAt: now() }, select: { id: true } });
    const type = isActive ? 'account.enabled' : 'account.disabled';
    const data = { before: { isActive: !isActive }, after: { isActive } };
    await audit.record({ ...by, type, outcome: 'success', subjectId: id, data }, tx);
    return true;
  });
}

/** Deletes the account and everything that belongs to it. Its id stays retired, so that no other account gets it. */
function removeAccount(context: AccountContext, id: string, by: Actor, outer: Tx | undefined): Promise<void> {
  const { db, now, audit } = context;
  return withinTransaction(db, outer, async (tx) => {
    const account = await findOrThrow(context, id, tx);
    await tx.retiredSubject.create({ data: { id, retiredAt: now() } });
    await tx.user.delete({ where: { id }, select: { id: true } });
    const { permissions: _permissions, createdAt: _at, updatedAt: _changed, ...before } = account;
    await audit.record({ ...by, type: 'account.deleted', outcome: 'success', subjectId: id, data: { before } }, tx);
  });
}

async function findOrThrow({ lookUp }: AccountContext, id: string, tx: Tx): Promise<Account> {
  const account = await lookUp.byId(id, tx);
  if (!account) throw notFound({ detail: { accountId: id } });
  return account;
}

/** A username from before its domain left the setting stays until it is changed. */
function domainsFor(before: Account, { username }: Profile, domains: readonly string[]): NameDomains {
  const isOwnAddress = before.email !== null && nameKey(before.email) === nameKey(before.username);
  return username === before.username && !isOwnAddress ? 'any' : domains;
}

/** The profile after the changes, with the fields that follow from them. */
function changedProfile(before: Account, changes: Partial<Profile>): Profile {
  const profile: Profile = { ...before, ...changes };
  // A username that is the email address follows it.
  if (changes.username === undefined && before.email && nameKey(before.username) === nameKey(before.email)) {
    profile.username = profile.email ?? before.username;
  }
  // A new address is unverified unless the caller has verified it.
  if (profile.email && nameKey(profile.email) !== nameKey(before.email ?? '')) {
    profile.emailVerified = changes.emailVerified ?? false;
  }
  return profile;
}

type Columns = ReturnType<typeof profileColumns> & { phoneNumberVerified?: boolean };

function assertAttributes(
  attributes: Record<string, unknown> | undefined,
  schema: AttributeSchema,
  before: Readonly<Record<string, unknown>> = {},
): void {
  const faults = attributes ? attributeFaults(attributes, schema, before) : [];
  if (faults.length > 0) throw invalidInput(faults);
}

function throwTaken(error: unknown): never {
  if (!isUniqueViolation(error)) throw error;
  // `meta` names the constraint, in a different place for each database.
  const where = JSON.stringify(error instanceof Error && 'meta' in error ? error.meta : '');
  if (/email_?key/i.test(where)) throw conflict('email_taken', { cause: error });
  if (/username_?key/i.test(where)) throw conflict('user_name_taken', { cause: error });
  throw conflict('conflict', { cause: error });
}

/** The columns of a new account that the audit event contains. */
function columnsForAudit({
  usernameKey: _name,
  emailKey: _email,
  searchKey: _search,
  nameKey: _sort,
  lastNameKey: _last,
  ...columns
}: Columns): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null && value !== '{}'));
}

function differenceOf(
  before: Account,
  { usernameKey: _name, emailKey: _email, searchKey: _search, nameKey: _sort, lastNameKey: _last, ...columns }: Columns,
) {
  const old: Record<string, unknown> = {
    ...before,
    attributes: JSON.stringify(before.attributes),
    address: before.address && JSON.stringify(before.address),
  };
  const different = Object.entries(columns).filter(([field, value]) => (old[field] ?? null) !== value);
  if (different.length === 0) return undefined;
  return {
    before: Object.fromEntries(different.map(([field]) => [field, old[field] ?? null])),
    after: Object.fromEntries(different),
  };
}

/**
 * Throws user_name_taken or email_taken (409) when the username is the email address of another account, or the email address
 * another account's username. Call it in the transaction that writes both, before it writes them.
 */
async function assertNotTaken(
  tx: Tx,
  sql: Sql,
  id: string,
  { usernameKey, emailKey }: { usernameKey: string; emailKey: string | null },
): Promise<void> {
  const isOtherAddress = usernameKey.includes('@') && usernameKey !== emailKey;
  if (emailKey === null && !isOtherAddress) return;
  // Two email addresses are compared by the unique constraint, so that only the rare other names wait for each other.
  await lockAccountNames(tx, sql, isOtherAddress ? 'exclusive' : 'shared');
  const [others, select] = [{ id: { not: id } }, { id: true }] as const;
  if (isOtherAddress && (await tx.asStored.user.findFirst({ where: { emailKey: usernameKey, ...others }, select })))
    throw conflict('user_name_taken');
  if (emailKey !== null && (await tx.asStored.user.findFirst({ where: { usernameKey: emailKey, ...others }, select })))
    throw conflict('email_taken');
}
