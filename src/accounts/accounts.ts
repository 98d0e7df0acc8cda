// Accounts (seed 2.5 users; 7: a name that exists is a 409). Unique constraints decide who was first, never a look-up
// beforehand, and every change is audited in its own transaction.
import type { Audit, By } from '../audit/audit.ts';
import { badRequest, conflict, notFound } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, isUniqueViolation, type Tx, transaction } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import type { Sql } from '../platform/sql.ts';
import { type Account, createAccountLookup } from './account.ts';
import { type AttributeSchema, attributeFaults } from './attributes.ts';
import { type AccountPage, type ListAccounts, listAccounts } from './list.ts';
import { nameKey } from './names.ts';
import { type Profile, profileColumns } from './profile.ts';

export interface NewAccount extends Profile {
  /** Only to restore an account that was exported: its `sub` stays what applications know. */
  id?: string;
  isActive?: boolean;
  source?: 'local' | 'file';
}

export interface Accounts {
  find(id: string, tx?: Tx): Promise<Account | undefined>;
  /** By user name or e-mail address, in whatever case and spelling. */
  findByLogin(login: string, tx?: Tx): Promise<Account | undefined>;
  findByEmail(email: string, tx?: Tx): Promise<Account | undefined>;
  findBySsoId(ssoId: string, tx?: Tx): Promise<Account | undefined>;
  list(query?: ListAccounts): Promise<AccountPage>;
  count(): Promise<number>;
  /** Throws user_name_taken or email_taken (409), invalid_input (400). */
  create(account: NewAccount, by?: By, tx?: Tx): Promise<Account>;
  /** Changes the given fields; throws as create does. */
  update(id: string, changes: Partial<Profile> & { source?: 'local' | 'file' }, by?: By, tx?: Tx): Promise<Account>;
  /** Whether it changed anything. Ending the sessions of a disabled account is the caller's next step. */
  setActive(id: string, isActive: boolean, by?: By, tx?: Tx): Promise<boolean>;
  /** Deletes the account and all it holds; its id is kept so that it is never given out again. */
  remove(id: string, by?: By, tx?: Tx): Promise<void>;
}

export interface AccountsNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
  audit: Audit;
  /** JSON Schema of custom attributes; empty for none. */
  attributeSchema?: () => AttributeSchema;
}

export function createAccounts(needs: AccountsNeeds): Accounts {
  const { db, sql, kind, now, audit, attributeSchema = () => ({}) } = needs;
  const lookUp = createAccountLookup({ sql, kind });
  const within = <T>(tx: Tx | undefined, work: (tx: Tx) => Promise<T>) => (tx ? work(tx) : transaction(db, work));

  async function found(tx: Tx, id: string): Promise<Account> {
    const account = await lookUp.byId(id, tx);
    if (!account) throw notFound({ detail: { accountId: id } });
    return account;
  }

  return {
    find: lookUp.byId,
    findByLogin: lookUp.byLogin,
    findByEmail: lookUp.byEmail,
    findBySsoId: lookUp.bySsoId,
    list: (query = {}) => listAccounts({ sql, kind }, query),
    count: () => db.user.count(),

    async create({ id = randomId(), isActive = true, source = 'local', ...profile }, by = {}, outer) {
      // What the file declares was judged with the schema that the file declares.
      if (source !== 'file') refuseAttributes(profile.attributes, attributeSchema());
      const columns = profileColumns(profile);
      return within(outer, async (tx) => {
        if (await tx.retiredSubject.findUnique({ where: { id } })) {
          throw conflict('conflict', { message: 'This identifier belonged to an account that was deleted.' });
        }
        const at = now();
        const data = { ...columns, id, isActive, source, createdAt: at, updatedAt: at };
        await tx.user.create({ data, select: { id: true } }).catch(throwTaken);
        await audit.record(
          { ...by, type: 'account.created', outcome: 'success', subjectId: id, data: { after: shown(columns) } },
          tx,
        );
        return found(tx, id);
      });
    },

    update: (id, { source, ...changes }, by = {}, outer) =>
      within(outer, async (tx) => {
        const before = await found(tx, id);
        // What was there before the schema was stays until somebody changes it.
        if (source !== 'file' && JSON.stringify(changes.attributes) !== JSON.stringify(before.attributes))
          refuseAttributes(changes.attributes, attributeSchema());
        const profile: Profile = { ...before, ...changes };
        // A user name that is the e-mail address follows it (names.ts: no other @ is allowed in a user name).
        if (changes.username === undefined && before.email && nameKey(before.username) === nameKey(before.email)) {
          profile.username = profile.email ?? before.username;
        }
        // An address that was not proven again is not a proven one.
        if (profile.email && nameKey(profile.email) !== nameKey(before.email ?? '')) {
          profile.emailVerified = changes.emailVerified ?? false;
        }
        const columns = profileColumns(profile);
        const difference = changed(before, columns);
        if (!difference && (source ?? before.source) === before.source) return before;
        const data = { ...columns, ...(source ? { source } : {}), updatedAt: now() };
        await tx.user.update({ where: { id }, data, select: { id: true } }).catch(throwTaken);
        if (columns.emailKey !== (before.email === null ? null : nameKey(before.email))) await voidMailedLinks(tx, id);
        await audit.record(
          { ...by, type: 'account.updated', outcome: 'success', subjectId: id, data: difference ?? { source } },
          tx,
        );
        return found(tx, id);
      }),

    setActive: (id, isActive, by = {}, outer) =>
      within(outer, async (tx) => {
        const data = { isActive, updatedAt: now() };
        const { count } = await tx.user.updateMany({ where: { id, isActive: !isActive }, data });
        if (count === 0) {
          await found(tx, id);
          return false;
        }
        const type = isActive ? 'account.enabled' : 'account.disabled';
        const difference = { before: { isActive: !isActive }, after: { isActive } };
        await audit.record({ ...by, type, outcome: 'success', subjectId: id, data: difference }, tx);
        return true;
      }),

    remove: (id, by = {}, outer) =>
      within(outer, async (tx) => {
        const account = await found(tx, id);
        await tx.retiredSubject.create({ data: { id, retiredAt: now() } });
        await tx.user.delete({ where: { id }, select: { id: true } });
        const { permissions: _permissions, createdAt: _at, updatedAt: _changed, ...before } = account;
        await audit.record({ ...by, type: 'account.deleted', outcome: 'success', subjectId: id, data: { before } }, tx);
      }),
  };
}

// Whoever reads the old mailbox is not to get in with what was sent there.
async function voidMailedLinks(tx: Tx, userId: string): Promise<void> {
  await tx.passwordResetToken.deleteMany({ where: { userId, usedAt: null } });
  await tx.mailToken.deleteMany({ where: { userId, usedAt: null } });
}

type Columns = ReturnType<typeof profileColumns>;

function refuseAttributes(attributes: Record<string, unknown> | undefined, schema: AttributeSchema): void {
  const fields = attributes ? attributeFaults(attributes, schema) : [];
  if (fields.length > 0) throw badRequest('invalid_input', { fields });
}

function throwTaken(error: unknown): never {
  if (!isUniqueViolation(error)) throw error;
  // Which constraint it was stands in `meta`, in another place for each database.
  const where = JSON.stringify(error instanceof Error && 'meta' in error ? error.meta : '');
  if (/email_?key/i.test(where)) throw conflict('email_taken', { cause: error });
  if (/username_?key/i.test(where)) throw conflict('user_name_taken', { cause: error });
  throw conflict('conflict', { cause: error });
}

// What of a new account the audit shows.
function shown({
  usernameKey: _name,
  emailKey: _email,
  searchKey: _search,
  ...columns
}: Columns): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== null && value !== '{}'));
}

function changed(before: Account, { usernameKey: _name, emailKey: _email, searchKey: _search, ...columns }: Columns) {
  const old: Record<string, unknown> = { ...before, attributes: JSON.stringify(before.attributes) };
  const different = Object.entries(columns).filter(([field, value]) => (old[field] ?? null) !== value);
  if (different.length === 0) return undefined;
  return {
    before: Object.fromEntries(different.map(([field]) => [field, old[field] ?? null])),
    after: Object.fromEntries(different),
  };
}
