// The accounts of users: look-ups, lists and changes. Unique constraints decide which of two requests gets a name, not a look-up
// beforehand. Every change is audited in its own transaction.

import { conflict, forbidden, invalidInput, notFound } from '../../base/http/errors.ts';
import { randomId } from '../../base/platform/random.ts';
import { isUniqueConstraintError, type Tx, withinTransaction } from '../../base/storage/database.ts';
import { lockAccountNames, lockRow } from '../../base/storage/row-lock.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { deleteLinkTokens } from '../../core/mail/link-tokens.ts';
import { type Account, createAccountLookup } from './account.ts';
import { createAccountList } from './account-list.ts';
import { whereActive, withState } from './active.ts';
import { type AttributeSchema, attributeFaults } from './attributes.ts';
import { isSameAddress, type NameDomains, nameKey } from './names.ts';
import { type NewAccount, type Profile, profileColumns, searchedValues } from './profile.ts';
import { addressOf, emptyProfile, textFieldNames, textFields } from './profile-fields.ts';
import { retire, retiredIds } from './retired.ts';
import { termsIn } from './terms.ts';

export type { NewAccount } from './profile.ts';

type AccountAttributes = Record<string, unknown>;

const DAY_MS = 24 * 3600 * 1000;
/** How long before the end people are told. */
export const END_NOTICE_DAYS = 7;

/** `attributes`: all of them, or what makes them from those of the locked account; undefined there changes none. */
type AccountChanges = Omit<Partial<Profile>, 'attributes'> & {
  source?: 'local' | 'file';
  attributes?: AccountAttributes | ((before: AccountAttributes) => AccountAttributes | undefined);
};

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Every operation on accounts. A change joins the transaction `outer`, or is one of its own.
 * @param addressChanged called in the transaction that changes an address, or whether it is verified
 */
export function createAccounts(
  core: Core,
  addressChanged: (account: Account, by: Actor, tx: Tx) => Promise<void> = async () => {},
) {
  const { db, sql, now, audit, settings } = core;
  const lookUp = createAccountLookup(core);

  /** A directory fills a part of the own fields; what is required of the person, the person is asked for. */
  function schemaFor({ scim }: Actor): AttributeSchema {
    const { required, ...rest } = settings.latest().user_attributes;
    return scim || required === undefined ? rest : { ...rest, required };
  }

  /** Throws user_name_taken or email_taken (409), invalid_input (400). */
  async function create(
    { id = randomId(), isEnabled = true, source = 'local', ...profile }: NewAccount,
    by: Actor = {},
    outer?: Tx,
  ): Promise<Account> {
    const { username_domains: domains } = settings.latest();
    // Attributes and names in the configuration file were checked against the settings that the file declares.
    if (source !== 'file') assertAttributes(profile.attributes, schemaFor(by));
    const columns = profileColumns(profile, source === 'file' || by.scim ? 'any' : domains);
    return withinTransaction(db, outer, async (tx) => {
      if (await tx.retiredSubject.findFirst({ where: { id: { in: retiredIds(core.vault, id) } } })) {
        throw conflict('conflict', { message: 'This identifier belonged to a deleted account. Use another one.' });
      }
      await assertNotTaken(tx, sql, id, columns);
      const at = now();
      const terms = { termsVersion: null, termsAcceptedAt: null, deleteAt: null };
      const times = { activeFrom: null, activeUntil: null };
      const row = { ...emptyProfile, ssoId: null, ...times, ...columns, ...terms, id, isEnabled, source };
      const dates = {
        createdAt: at,
        updatedAt: at,
        lastSeenAt: at,
        endNotice: isSoon(row.activeUntil, at) ? 'warned' : '',
      };
      await tx.user.create({ data: { ...row, ...dates }, select: { id: true } }).catch(throwTaken);
      await addValues(id, profile.attributes ?? {}, tx);
      const set = Object.entries(withoutKeys(columns)).filter(([, value]) => value !== null && value !== '{}');
      const data = { after: Object.fromEntries(set) };
      await audit.record({ ...by, type: 'account.created', outcome: 'success', subjectId: id, data }, tx);
      return findOrThrow(id, tx);
    });
  }

  /**
   * Changes the given fields; throws as `create` does, and not_found (404).
   * @param of the id of the account, or the account as the caller has read it in this transaction, with its row locked
   * @param hasProvenPhone whether the user has proven a new phone number, which is unverified otherwise
   */
  function update(
    of: string | Account,
    { source: newSource, attributes: given, ...rest }: AccountChanges,
    by: Actor = {},
    outer?: Tx,
    hasProvenPhone = false,
  ): Promise<Account> {
    return withinTransaction(db, outer, async (tx) => {
      const before = typeof of === 'string' ? await lockedAccount(of, tx) : of;
      const attributes = typeof given === 'function' ? given(before.attributes) : given;
      const changes: Partial<Profile> = { ...rest, ...(attributes && { attributes }) };
      const isByFile = newSource === 'file';
      const columns = checkedColumns(before, changes, { by, isByFile, hasProvenPhone });
      const source = newSource ?? before.source;
      const difference = differenceOf(before, columns);
      if (!difference && source === before.source) return before;
      if (difference && !by.scim) await assertNotManaged(before, difference.after, tx);
      return store(before, { ...columns, source }, difference, by, tx);
    });
  }

  /** The columns of the account after the changes; throws invalid_input (400). */
  function checkedColumns(
    before: Account,
    changes: Partial<Profile>,
    { by, isByFile, hasProvenPhone }: { by: Actor; isByFile: boolean; hasProvenPhone: boolean },
  ) {
    const { username_domains: domains } = settings.latest();
    // Attributes from before the schema stay as they are until they are changed.
    if (!isByFile && JSON.stringify(changes.attributes) !== JSON.stringify(before.attributes))
      assertAttributes(changes.attributes, schemaFor(by), before.attributes);
    const profile = changedProfile(before, changes);
    const columns = profileColumns(profile, isByFile || by.scim ? 'any' : domainsFor(before, profile, domains), before);
    const isSamePhone = before.phoneNumberVerified && (columns.phoneNumber ?? null) === before.phoneNumber;
    return { ...columns, phoneNumberVerified: hasProvenPhone || isSamePhone };
  }

  /** Writes the columns of a locked account, and what follows from those that are different. */
  async function store(
    before: Account,
    { source, ...columns }: Columns & { source: Account['source'] },
    difference: ReturnType<typeof differenceOf>,
    by: Actor,
    tx: Tx,
  ): Promise<Account> {
    const { id, isEnabled, termsVersion, termsAcceptedAt, deleteAt, createdAt } = before;
    const changed = difference?.after ?? {};
    const hasNewAddress = columns.emailKey !== (before.email === null ? null : nameKey(before.email));
    if (hasNewAddress || columns.usernameKey !== nameKey(before.username)) await assertNotTaken(tx, sql, id, columns);
    // All that the MAC covers: the row was verified, and is locked.
    const kept = { id, isEnabled, termsVersion, termsAcceptedAt, deleteAt, createdAt };
    const notice = 'activeFrom' in changed || 'activeUntil' in changed ? { endNotice: '' } : {};
    const data = { ...columns, ...kept, ...notice, source, updatedAt: now() };
    const after = changedAccount(before, columns, data);
    await tx.user.update({ where: { id }, data, select: { id: true } }).catch(throwTaken);
    if ('attributes' in changed) {
      await tx.userValue.deleteMany({ where: { userId: id } });
      await addValues(id, after.attributes, tx);
    }
    // Links that were mailed to the old address must not work.
    if (hasNewAddress) await deleteLinkTokens(tx, id);
    const event = { ...by, type: 'account.updated', outcome: 'success', subjectId: id } as const;
    if (difference) await audit.record({ ...event, data: difference }, tx);
    // A new upload comes after this (pictures.ts).
    if (after.picture !== before.picture) await tx.userPicture.deleteMany({ where: { userId: id } });
    if (after.email !== before.email || after.emailProven !== before.emailProven) await addressChanged(after, by, tx);
    return after;
  }

  async function findOrThrow(id: string, tx: Tx): Promise<Account> {
    const account = await lookUp.find(id, tx);
    if (!account) throw notFound({ detail: { accountId: id } });
    return account;
  }

  /** The MAC covers the whole row, so no other change may come between reading and writing it. */
  async function lockedAccount(id: string, tx: Tx): Promise<Account> {
    await lockRow(tx, sql, 'users', id);
    return findOrThrow(id, tx);
  }

  return {
    ...lookUp,
    ...createAccountList(core),
    create,
    update,

    /** These changes without what a directory manages of the account. */
    async withoutManaged<Changes extends Partial<Profile>>(
      account: Account,
      changes: Changes,
      tx: Tx,
    ): Promise<Changes> {
      const directory = (await directoriesOf([account.id], tx)).get(account.id);
      if (!directory || directory.deletedAt) return changes;
      // The proof of an address is for no other one.
      const managed = 'email' in changes ? [...MANAGED, 'emailVerified', 'emailProven'] : MANAGED;
      const kept = Object.entries(changes).filter(([name]) => !managed.includes(name));
      const own = Object.entries(account.attributes).filter(([name]) => directory.attributes.includes(name));
      const others = Object.entries(changes.attributes ?? {}).filter(([name]) => !directory.attributes.includes(name));
      const attributes = changes.attributes && { attributes: Object.fromEntries([...others, ...own]) };
      return { ...Object.fromEntries(kept), ...attributes } as Changes;
    },

    /** The directories that manage these accounts, by account; absent: none. */
    directoriesOf: (ids: readonly string[], tx: Tx = db) => directoriesOf(ids, tx),

    /** Sets the phone number to one that the user has proven: a code that was sent to it came back. */
    confirmPhoneNumber: (id: string, phoneNumber: string, by: Actor): Promise<Account> =>
      update(id, { phoneNumber }, by, undefined, true),

    /**
     * Whether it changed anything. Ending the sessions of a disabled account is the caller's next step.
     * @param reason why the server does it
     */
    setActive: (id: string, isEnabled: boolean, by: Actor = {}, outer?: Tx, reason?: 'unused'): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        if ((await lockedAccount(id, tx)).isEnabled === isEnabled) return false;
        const idle = { idleNotice: reason ? 'disabled' : '', idleNoticeAt: reason ? now() : null };
        await tx.user.update({ where: { id }, data: { isEnabled, ...idle, updatedAt: now() }, select: { id: true } });
        const type = isEnabled ? 'account.enabled' : 'account.disabled';
        const data = { before: { isEnabled: !isEnabled }, after: { isEnabled } };
        await audit.record({ ...by, type, outcome: 'success', ...(reason && { reason }), subjectId: id, data }, tx);
        return true;
      }),

    /** When the account is deleted at the wish of its person; null: it is kept. Whether that changes anything. */
    setDeletion: (id: string, deleteAt: Date | null, by: Actor, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        const { deleteAt: before, updatedAt } = await lockedAccount(id, tx);
        if ((before === null) === (deleteAt === null)) return false;
        await tx.user.update({ where: { id }, data: { deleteAt, updatedAt }, select: { id: true } });
        const type = deleteAt ? 'account.deletion-requested' : 'account.deletion-canceled';
        const data = { deleteAt: (deleteAt ?? before)?.toISOString() };
        await audit.record({ ...by, type, outcome: 'success', subjectId: id, data }, tx);
        return true;
      }),

    /** Records that the person accepts this version of the terms; false for another one than that of the settings. */
    acceptTerms: (id: string, version: string, by: Actor, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        if (termsIn(settings.latest())?.version !== version) return false;
        const { termsVersion: before, updatedAt } = await lockedAccount(id, tx);
        if (before === version) return true;
        const data = { termsVersion: version, termsAcceptedAt: now(), updatedAt };
        await tx.user.update({ where: { id }, data, select: { id: true } });
        const details = { version, ...(before !== null && { before }) };
        await audit.record({ ...by, type: 'terms.accepted', outcome: 'success', subjectId: id, data: details }, tx);
        return true;
      }),

    /** Whether this administrator has dismissed the first steps of the console. */
    async hidesFirstSteps(id: string): Promise<boolean> {
      const row = await db.asStored.user.findUnique({ where: { id }, select: { hidesFirstSteps: true } });
      return row?.hidesFirstSteps ?? false;
    },

    /** Dismisses the first steps, or brings them back. */
    async setFirstSteps({ id, updatedAt }: Account, hidesFirstSteps: boolean): Promise<void> {
      await db.user.update({ where: { id }, data: { hidesFirstSteps, updatedAt }, select: { id: true } });
    },

    /** How many users have accepted this version, of those who can sign in. */
    async countTerms(termsVersion: string): Promise<{ accepted: number; users: number }> {
      const [accepted, users] = await Promise.all([
        db.user.count({ where: { termsVersion, ...whereActive(now()) } }),
        db.user.count({ where: whereActive(now()) }),
      ]);
      return { accepted, users };
    },

    /** Deletes the account and everything that belongs to it. Its id stays retired, so that no other account gets it. */
    remove: (id: string, by: Actor = {}, outer?: Tx): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        const account = await findOrThrow(id, tx);
        const groups = await groupsOf(id, tx);
        await retire(id, core, tx);
        await tx.user.delete({ where: { id }, select: { id: true } });
        const { permissions: _permissions, createdAt: _at, updatedAt: _changed, ...before } = account;
        const data = { before, groups };
        await audit.record({ ...by, type: 'account.deleted', outcome: 'success', subjectId: id, data }, tx);
      }),

    /**
     * For the command line: the rows that this id, username or email address names, also those that another program wrote, which
     * all other functions treat as unknown. More than one only where another program wrote one of them.
     */
    async findStored(login: string): Promise<StoredAccount[]> {
      const key = nameKey(login);
      const query = { where: { OR: [{ id: login }, { usernameKey: key }, { emailKey: key }] } };
      const genuine = new Set((await db.user.findMany(query)).map(({ id }) => id));
      const rows = await db.asStored.user.findMany(query);
      return rows.map(({ id, username, email, source }) => ({
        id,
        username,
        email,
        source,
        isGenuine: genuine.has(id),
      }));
    },

    /** Deletes such a row with everything that belongs to it, whatever its MAC. Its id stays retired. Throws not_found (404). */
    async removeStored({ id, username, email, source, isGenuine }: StoredAccount, tx: Tx): Promise<void> {
      const { count } = await tx.user.deleteMany({ where: { id } });
      if (count === 0) throw notFound({ detail: { accountId: id } });
      await retire(id, core, tx);
      const data = { before: { username, email, source }, changedOutside: !isGenuine };
      await audit.record({ type: 'account.deleted', outcome: 'success', subjectId: id, data }, tx);
    },
  };
}

/** The ids of the groups of a user, and of those above them: an event stream of a group has the deletion of a member. */
async function groupsOf(userId: string, tx: Tx): Promise<string[]> {
  const members = await tx.groupMember.findMany({ where: { userId } });
  const groupId = { in: members.map((one) => one.groupId) };
  const above = members.length === 0 ? [] : await tx.groupAncestor.findMany({ where: { groupId } });
  return [...new Set(above.map(({ ancestorId }) => ancestorId))];
}

/** An account that is created for so short a time needs no reminder of its end. */
const isSoon = (activeUntil: Date | null, now: Date): boolean =>
  activeUntil !== null && activeUntil > now && activeUntil.getTime() - now.getTime() <= END_NOTICE_DAYS * DAY_MS;

interface StoredAccount {
  id: string;
  username: string;
  email: string | null;
  source: string;
  /** False: another program wrote the row. */
  isGenuine: boolean;
}

/** The account with these columns. */
function changedAccount(
  before: Account,
  columns: Columns,
  { source, updatedAt }: { source: Account['source']; updatedAt: Date },
): Account {
  const rest = withoutKeys(columns);
  const address = rest.address === undefined ? before.address : addressOf(rest.address);
  const after = { ...before, ...rest, address, attributes: JSON.parse(rest.attributes), source, updatedAt };
  return withState(after, updatedAt);
}

/** The directory that manages an account by SCIM (protocols/scim). */
export interface Directory {
  id: string;
  name: string;
  /** The own fields that it fills. */
  attributes: readonly string[];
  /** It deleted the account, which is kept for some days and not managed meanwhile. */
  deletedAt: Date | null;
  /** Its connection has been deleted since. */
  isRemoved: boolean;
}

/** What a directory manages beside own fields; people choose their language and their picture themselves. */
export const MANAGED: readonly string[] = [
  ...['username', 'email', 'phoneNumber', 'address'],
  ...textFieldNames.filter((field) => textFields[field].isManaged),
];

/** Throws owned_by_scim (403). */
async function assertNotManaged({ id, attributes }: Account, changes: Partial<Columns>, tx: Tx): Promise<void> {
  const isNamed = MANAGED.some((name) => name in changes);
  if (!isNamed && changes.attributes === undefined) return;
  const directory = (await directoriesOf([id], tx)).get(id);
  if (!directory || directory.deletedAt) return;
  const after = JSON.parse(changes.attributes ?? '{}') as AccountAttributes;
  const isOther = (name: string) => JSON.stringify(attributes[name]) !== JSON.stringify(after[name]);
  if (isNamed || directory.attributes.some(isOther)) throw forbidden('owned_by_scim');
}

/** The directories of those accounts that have one, by account. */
async function directoriesOf(ids: readonly string[], tx: Tx): Promise<Map<string, Directory>> {
  const select = { id: true, name: true, mappings: true, removedAt: true } as const;
  const rows = await tx.asStored.scimUser.findMany({
    where: { userId: { in: [...ids] }, OR: [{ deletedAt: { not: null } }, { connection: { removedAt: null } }] },
    select: { userId: true, deletedAt: true, connection: { select } },
  });
  return new Map(
    rows.map(({ userId, deletedAt, connection: { id, name, mappings, removedAt } }) => {
      const { attributes } = JSON.parse(mappings) as { attributes: object };
      return [userId, { id, name, attributes: Object.keys(attributes), deletedAt, isRemoved: removedAt !== null }];
    }),
  );
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
  // nameKey makes look-alike addresses equal, but their mailboxes differ.
  profile.emailProven =
    changes.emailProven ?? (before.emailProven && isSameAddress(before.email, profile.email ?? null));
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
  if (!isUniqueConstraintError(error)) throw error;
  // `meta` names the constraint, in a different place for each database.
  const where = JSON.stringify(error instanceof Error && 'meta' in error ? error.meta : '');
  if (/email_?key/i.test(where)) throw conflict('email_taken', { cause: error });
  if (/username_?key/i.test(where)) throw conflict('user_name_taken', { cause: error });
  throw conflict('conflict', { cause: error });
}

/** The values of own fields, which lists search. */
async function addValues(userId: string, attributes: AccountAttributes, tx: Tx): Promise<void> {
  const data = searchedValues(attributes).map((row) => ({ ...row, userId }));
  if (data.length > 0) await tx.userValue.createMany({ data });
}

/** The columns without those that only searches and constraints compare. */
function withoutKeys({
  usernameKey: _name,
  emailKey: _email,
  searchKey: _search,
  nameKey: _sort,
  lastNameKey: _last,
  ...columns
}: Columns) {
  return columns;
}

function differenceOf(before: Account, columns: Columns) {
  const old: Record<string, unknown> = {
    ...before,
    attributes: JSON.stringify(before.attributes),
    address: before.address && JSON.stringify(before.address),
  };
  const comparable = (value: unknown) => (value instanceof Date ? value.getTime() : (value ?? null));
  const different = Object.entries(withoutKeys(columns)).filter(
    ([field, value]) => comparable(old[field]) !== comparable(value),
  );
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
