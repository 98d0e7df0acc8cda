// The people of a SCIM connection (RFC 7643 4.1): an account here, and the attributes as the client sent them. A change of the client changes
// in the account only what it changes in the attributes. docs/scim.md says what becomes of each.
import { conflict, forbidden, notFound, preconditionFailed } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { domainOf } from '../../base/network/domains.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { placeOf } from '../../core/mail/wording.ts';
import { type Account, ownedUser } from '../../people/accounts/account.ts';
import { type Activity, stateOf } from '../../people/accounts/active.ts';
import { disableAccount, removeAccount } from '../../people/accounts/life.ts';
import { isSameAddress, nameKey } from '../../people/accounts/names.ts';
import type { Profile } from '../../people/accounts/profile.ts';
import { languageTag, textFields } from '../../people/accounts/profile-fields.ts';
import type { People } from '../../people/people.ts';
import { isStaff } from '../../people/rbac/built-in.ts';
import type { EndSession } from '../logout/end-session.ts';
import type { ScimConnection, ScimConnections } from './connections.ts';
import { externalIdTaken, scimError } from './errors.ts';
import { type Complex, type Filter, fits, listOf, parsePath, textKey, type Value } from './filter.ts';
import { afterMark, createPlaces, type Mark, narrow, type Page, type Place, pageOf } from './pages.ts';
import { applyStep, STEPS, type Step } from './patch.ts';
import { type IfMatch, type Resource, readResource, textAt, toJson, type Values, valuesOf } from './resource-values.ts';
import { ENTERPRISE, USER, userType } from './schemas.ts';

/** A request of a connection. */
export interface ScimRequest {
  connection: ScimConnection;
  by: Actor;
}

/** Users whose groups are read by a statement. */
const PIECE = 250;
/** Users with the same address. */
const FEW = 100;
/** Accounts that a turn of the job deletes. */
const DELETED = 50;
const DAY_MS = 24 * 3600 * 1000;

type Row = { userId: string; externalId: string | null; content: string; createdAt: Date; updatedAt: Date };
interface Leaver {
  row: Row;
  /** Undefined for a person whom an administrator keeps. */
  account: Account | undefined;
}
type ShownRow = Row & { user: Activity };
const WITH_STATE = { user: { select: { isEnabled: true, activeFrom: true, activeUntil: true } } } as const;

export type ScimUsers = ReturnType<typeof createScimUsers>;

export function createScimUsers(
  services: Core & People & { endSession: EndSession; scimConnections: ScimConnections },
) {
  const { db, sql, now, audit, logger, accounts, outbox, scimConnections } = services;
  const places = createPlaces(now);

  /** The row, locked. Throws not_found (404), and precondition_failed (412) where the version is another one. */
  async function locked(request: ScimRequest, userId: string, ifMatch: IfMatch | undefined, tx: Tx): Promise<Row> {
    const { connection } = request;
    const where = { userId, connectionId: connection.id, deletedAt: null };
    if (!isStorable(userId)) throw unknown();
    await lockRow(tx, sql, 'scim_users', userId);
    const row = await tx.scimUser.findFirst({ where });
    if (!row) throw unknown();
    if (ifMatch && !ifMatch(await one(userId, request, tx))) throw preconditionFailed('precondition_failed');
    return row;
  }

  /** Throws forbidden (403) for a person with rights in Gatehouse, or whom the configuration file declares: the client only sees them. */
  function assertChangeable(account: Account): void {
    if (isStaff(account))
      throw forbidden('forbidden', {
        message: 'This user has a permission in Gatehouse, so only administrators change them.',
      });
    if (account.source === 'file') throw ownedUser(account);
  }

  /** Throws as `assertChangeable` does, and not_found (404). */
  async function changeable(id: string, tx: Tx): Promise<Account> {
    const account = await accounts.findWithLater(id, tx);
    if (!account) throw unknown();
    assertChangeable(account);
    return account;
  }

  /** What the client is shown: its attributes, and the state here; `withGroups` adds the groups. */
  const shown = ({ userId: id, content, createdAt, updatedAt, user }: ShownRow): Resource => {
    const values = valuesOf({ content });
    values.set('active', stateOf(user, now()) === 'active');
    return { id, values, createdAt, updatedAt };
  };

  async function withGroups(users: Resource[], { connection }: ScimRequest, tx: Tx): Promise<Resource[]> {
    const ofUser = new Map(users.map((user) => [user.id, user]));
    const members = await inChunks(
      [...ofUser.keys()],
      (some) =>
        tx.groupMember.findMany({
          where: { userId: { in: some }, source: sourceOf(connection) },
          include: { group: { select: { name: true } } },
          orderBy: { groupId: 'asc' },
        }),
      PIECE,
    );
    for (const { userId, groupId, group } of members) {
      const values = ofUser.get(userId)?.values;
      const own: Complex = new Map([
        ['value', groupId],
        ['display', group.name],
        ['type', 'direct'],
      ]);
      values?.set('groups', [...listOf(values.get('groups')), own]);
    }
    return users;
  }

  async function one(userId: string, request: ScimRequest, tx: Tx): Promise<Resource> {
    const row = await tx.scimUser.findFirst({
      where: { userId, connectionId: request.connection.id, deletedAt: null },
      include: WITH_STATE,
    });
    if (!row) throw unknown();
    const user = shown(row);
    await withGroups([user], request, tx);
    return user;
  }

  /** Changes in the account, also its state, what differs between the attributes. */
  async function updateAccount(
    account: Account,
    { before, after }: { before: Complex; after: Values },
    { connection, by }: ScimRequest,
    tx: Tx,
  ): Promise<void> {
    const changed = differenceOf(account, profileOf(before, connection), profileOf(after, connection));
    if (Object.keys(changed).length > 0) {
      await accounts.update(account.id, changed, by, tx);
      await reportNewAddress(account, changed.email, by, tx);
    }
    await setState(account, { before: before.get('active'), after: after.get('active') }, by, tx);
  }

  /** Gives a person what the connection fills. A failure, such as a value that an own field rejects, is logged: the others go on. */
  async function fill(userId: string, request: ScimRequest): Promise<void> {
    await transaction(db, async (tx) => {
      const row = await locked(request, userId, undefined, tx);
      const account = await accounts.findWithLater(userId, tx);
      const missing = account && missingIn(account, valuesOf(row), request);
      if (missing) await accounts.update(userId, missing, request.by, tx);
    }).catch((err: unknown) => {
      if (unavailableIn(err)) throw err;
      logger.warn({ err, userId }, 'a user did not get what the SCIM connection fills');
    });
  }

  /** The people of the connection who lack something that it fills, in pieces. */
  async function* incomplete(request: ScimRequest): AsyncGenerator<string[]> {
    const own = { connectionId: request.connection.id, deletedAt: null };
    const orderBy = [{ createdAt: 'asc' }, { userId: 'asc' }] as const;
    const select = { userId: true, createdAt: true };
    for (let mark: Mark | undefined; ; ) {
      const where = { AND: [own, afterMark(mark, 'userId')] };
      // As stored, because a forged row counts for the piece.
      const stored = await db.asStored.scimUser.findMany({ where, select, orderBy: [...orderBy], take: PIECE });
      const ids = stored.map(({ userId }) => userId);
      const rows = await db.scimUser.findMany({ where: { userId: { in: ids } } });
      const found = new Map((await accounts.findAll(ids)).map((account) => [account.id, account]));
      yield rows.flatMap((row) => {
        const account = found.get(row.userId);
        return account && missingIn(account, valuesOf(row), request) ? row.userId : [];
      });
      const last = stored.at(-1);
      if (!last || stored.length < PIECE) return;
      mark = { at: last.createdAt, id: last.userId };
    }
  }

  /** Gives all people of the connection what it fills; false: it was changed meanwhile, or the job is to end. */
  async function fillAll(connection: ScimConnection, signal: AbortSignal): Promise<boolean> {
    const { id, name } = connection;
    const request = { connection, by: { scim: { id, name } } };
    for await (const ids of incomplete(request)) {
      if (signal.aborted) return false;
      for (const userId of ids) {
        // After another change the next run gives what counts then.
        if (signal.aborted || !(await scimConnections.isCurrent(connection))) return false;
        await fill(userId, request);
      }
    }
    await scimConnections.noteApplied(connection);
    return true;
  }

  /** `false` disables, always. `true` enables only whom the directory disabled: an administrator's decision stays. */
  async function setState(
    { id, isEnabled }: Account,
    { before, after }: Record<'before' | 'after', Value | undefined>,
    by: Actor,
    tx: Tx,
  ): Promise<void> {
    if (after === false && isEnabled) await disableAccount(services, id, by, tx);
    if (after === true && before === false && !isEnabled) await accounts.setActive(id, true, by, tx);
  }

  /** The addresses by which a filter finds the person. */
  async function storeAddresses(userId: string, before: Complex, after: Complex, tx: Tx): Promise<void> {
    const [old, keys] = [addressKeys(before), addressKeys(after)];
    if (JSON.stringify(old) === JSON.stringify(keys)) return;
    if (old.length > 0) await tx.scimAddress.deleteMany({ where: { userId } });
    if (keys.length > 0) await tx.scimAddress.createMany({ data: keys.map((valueKey) => ({ userId, valueKey })) });
  }

  /** A few users by their ids: for a subquery, SQLite would look at all users of the connection. */
  async function withAddress(address: string): Promise<object> {
    const valueKey = textKey(address);
    const found = await db.scimAddress.findMany({ where: { valueKey }, select: { userId: true }, take: FEW + 1 });
    return found.length > FEW
      ? { addresses: { some: { valueKey } } }
      : { userId: { in: found.map((one) => one.userId) } };
  }

  /** The old mailbox learns of the new one, as after every change of an address. */
  async function reportNewAddress(
    account: Account,
    newEmail: string | null | undefined,
    by: Actor,
    tx: Tx,
  ): Promise<void> {
    const to = recipientOf(account);
    if (newEmail === undefined || isSameAddress(account.email, newEmail)) return;
    const data = { before: account.email, after: newEmail };
    await audit.record({ ...by, type: 'email.changed', outcome: 'success', subjectId: account.id, data }, tx);
    if (to && newEmail)
      await outbox.send({ kind: 'email-changed', to, newEmail, place: placeOf(by.request, now()) }, tx);
  }

  /** The account that the new person gets: a new one, or one that is here. */
  async function accountFor(values: Values, { connection, by }: ScimRequest, tx: Tx): Promise<Account> {
    const profile = profileOf(values, connection);
    const found = await takenBy(profile, { connection, by }, tx);
    const [first] = found;
    if (!first) {
      if (!connection.may_create)
        throw forbidden('forbidden', { message: 'This connection creates no accounts (`may_create`).' });
      const { attributes = {}, ...rest } = profile;
      const given = Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
      return accounts.create({ ...rest, attributes: given }, by, tx);
    }
    const owner = await tx.asStored.scimUser.findUnique({
      where: { userId: first.id, connection: { removedAt: null } },
    });
    const isOwned =
      connection.adopt === 'owned_domains' &&
      first.emailVerified &&
      isSameAddress(first.email, profile.email ?? null) &&
      isInOwned(first.email, connection);
    if (found.length > 1 || owner || !isOwned) throw conflict('user_name_taken', { message: TAKEN });
    const account = await changeable(first.id, tx);
    await tx.scimUser.deleteMany({ where: { userId: account.id } });
    const { attributes, ...rest } = profile;
    const own = Object.entries(attributes ?? {}).filter(([, value]) => value !== null);
    await accounts.update(account.id, { ...rest, attributes: withFields(own) }, by, tx);
    return account;
  }

  /** The accounts that have the username or the address. Whom this connection deleted gives both away, unless the person is kept. */
  async function takenBy({ username, email }: Profile, { connection, by }: ScimRequest, tx: Tx): Promise<Account[]> {
    const found = new Map<string, Account>();
    for (const login of new Set([username, email])) {
      const account = login ? await accounts.findByLogin(login, tx) : undefined;
      if (!account) continue;
      const deletedHere = { userId: account.id, connectionId: connection.id, deletedAt: { not: null } };
      const row = await tx.scimUser.findFirst({ where: deletedHere });
      const leaver = row ? await lockedLeaver(account.id, tx) : undefined;
      if (leaver?.account) await giveAway(leaver.account, by, tx);
      else found.set(account.id, account);
    }
    return [...found.values()];
  }

  /**
   * A person whom the directory deleted; undefined: is back, or gone. Locked, because what an administrator or another request makes of the
   * person at the same moment decides.
   */
  async function lockedLeaver(userId: string, tx: Tx): Promise<Leaver | undefined> {
    await lockRow(tx, sql, 'users', userId);
    const row = await tx.scimUser.findFirst({ where: { userId, deletedAt: { not: null } } });
    const account = row && (await accounts.findWithLater(userId, tx));
    return row ? { row, account: account && !isKept(account) ? account : undefined } : undefined;
  }

  /** The person is managed here from now on. */
  async function release(userId: string, tx: Tx): Promise<void> {
    await tx.scimUser.delete({ where: { userId }, select: { userId: true } });
  }

  /** The people of a deleted connection, but for those whom it deleted, in pieces; false where the signal stops it. */
  async function releaseAll(connectionId: string, signal: AbortSignal): Promise<boolean> {
    const where = { connectionId, deletedAt: null, connection: { removedAt: { not: null } } };
    while (!signal.aborted) {
      const rows = await db.asStored.scimUser.findMany({ where, select: { userId: true }, take: PIECE });
      const ids = rows.map(({ userId }) => userId);
      await db.scimUser.deleteMany({ where: { ...where, userId: { in: ids } } });
      if (ids.length < PIECE) return true;
    }
    return false;
  }

  /** A deleted person's names are free for another one; when the same person comes back, they get theirs again, if they are still free. */
  async function giveAway({ id }: Account, by: Actor, tx: Tx): Promise<void> {
    await accounts.update(id, { username: `deleted-${id}`, email: null }, by, tx);
  }

  /** The deleted person with this externalId comes back with their account, and so with their `sub`. */
  async function revive(row: Row, account: Account, values: Values, request: ScimRequest, tx: Tx): Promise<string> {
    const { userId } = row;
    const before = valuesOf(row);
    const content = contentOf(values);
    const data = { userId, connectionId: request.connection.id, externalId: row.externalId, content, deletedAt: null };
    await tx.scimUser.update({ where: { userId }, data: { ...data, updatedAt: now() }, select: { userId: true } });
    await storeAddresses(userId, before, values, tx);
    const wanted = profileOf(values, request.connection);
    const others = (await takenBy(wanted, request, tx)).filter(({ id }) => id !== userId);
    if (others.length > 0) throw conflict('user_name_taken', { message: TAKEN });
    const { attributes } = differenceOf(account, profileOf(before, request.connection), wanted);
    const { attributes: _all, ...profile } = wanted;
    await accounts.update(userId, { ...profile, ...(attributes && { attributes }) }, request.by, tx);
    await setState(account, { before: before.get('active'), after: values.get('active') ?? true }, request.by, tx);
    return userId;
  }

  /**
   * @param attributesAfter the attributes after the change, from those before
   * @param ifMatch where it returns false, the change throws precondition_failed (412)
   */
  function change(
    id: string,
    attributesAfter: (values: Values) => Promise<Values>,
    request: ScimRequest,
    ifMatch: IfMatch | undefined,
  ): Promise<Resource> {
    return transaction(db, async (tx) => {
      const row = await locked(request, id, ifMatch, tx);
      const before = valuesOf(row);
      // Without the state, so that afterwards there is one only where the request says it.
      const withoutState: Values = new Map(before);
      withoutState.delete('active');
      const after = await attributesAfter(withoutState);
      assertUserName(after, request.connection, before);
      const externalId = textAt(after, 'externalId') ?? null;
      const account = await accounts.findWithLater(id, tx);
      if (!account) throw unknown();
      const stored: Values = new Map(after);
      // Whom the directory disabled stays so until it says something else.
      if (!after.has('active') && before.get('active') === false) stored.set('active', false);
      const content = contentOf(stored);
      const disables = after.get('active') === false && account.isEnabled;
      const isSame = content === row.content && !disables;
      if (isSame && !missingIn(account, after, request)) return one(id, request, tx);
      assertChangeable(account);
      await updateAccount(account, { before, after }, request, tx);
      const data = { userId: id, connectionId: request.connection.id, externalId, content, deletedAt: null };
      await tx.scimUser
        .update({ where: { userId: id }, data: { ...data, updatedAt: now() }, select: { userId: true } })
        .catch(externalIdTaken('user'));
      await storeAddresses(id, before, after, tx);
      return one(id, request, tx);
    });
  }

  return {
    /** Throws conflict (409), forbidden (403), invalid_input (400). */
    create(body: Readonly<Record<string, unknown>>, request: ScimRequest): Promise<Resource> {
      const values = readResource(body, userType);
      assertUserName(values, request.connection);
      return transaction(db, async (tx) => {
        const { connection, by } = request;
        const externalId = textAt(values, 'externalId') ?? null;
        const before =
          externalId === null
            ? null
            : await tx.scimUser.findFirst({ where: { connectionId: connection.id, externalId } });
        const leaver = before?.deletedAt ? await lockedLeaver(before.userId, tx) : undefined;
        if (before && !leaver) throw conflict('conflict', { message: 'A user with this externalId exists.' });
        if (leaver?.account) return one(await revive(leaver.row, leaver.account, values, request, tx), request, tx);
        if (leaver) await release(leaver.row.userId, tx);
        const account = await accountFor(values, request, tx);
        const [userId, at] = [account.id, now()];
        const row = { userId, connectionId: connection.id, externalId, content: contentOf(values), deletedAt: null };
        await tx.scimUser.create({ data: { ...row, createdAt: at, updatedAt: at }, select: { userId: true } });
        await storeAddresses(userId, new Map(), values, tx);
        await setState(account, { before: undefined, after: values.get('active') }, by, tx);
        return one(userId, request, tx);
      });
    },

    /** Throws not_found (404) for everyone who is not of this connection. */
    async get(id: string, request: ScimRequest): Promise<Resource> {
      if (!isStorable(id)) throw unknown();
      return one(id, request, db);
    },

    /** PUT: everything that the body does not have is empty, but for the state of the account. Throws as `get` does, and as `create`. */
    replace: (id: string, body: Readonly<Record<string, unknown>>, request: ScimRequest, ifMatch?: IfMatch) =>
      change(id, async () => readResource(body, userType), request, ifMatch),

    /** PATCH. All of the steps, or none. */
    patch: (id: string, steps: readonly Step[], request: ScimRequest, ifMatch?: IfMatch) =>
      change(id, (values) => changedBy(values, steps), request, ifMatch),

    /** The client does not see the person any more. The account is disabled, and deleted some days later or at once. */
    remove(id: string, request: ScimRequest, ifMatch?: IfMatch): Promise<void> {
      return transaction(db, async (tx) => {
        const row = await locked(request, id, ifMatch, tx);
        const account = await changeable(id, tx);
        const { connection, by } = request;
        await services.groups.setMemberships(id, sourceOf(connection), [], { by, tx });
        if (connection.delete_policy === 'delete') {
          return removeAccount(services, id, by, tx);
        }
        await setState(account, { before: undefined, after: false }, by, tx);
        const { externalId } = row;
        const values = valuesOf(row);
        // Whom an administrator disabled does not come back enabled.
        const content = contentOf(account.isEnabled ? new Map([...values, ['active', false]]) : values);
        const data = { userId: id, connectionId: connection.id, externalId, content, deletedAt: now() };
        await tx.scimUser.update({ where: { userId: id }, data, select: { userId: true } });
      });
    },

    /** The people that fit the filter, in the order of their creation. */
    async list(filter: Filter | undefined, place: Place, request: ScimRequest): Promise<Page> {
      const { where, rest } = await narrow(
        filter,
        (name, value) => (name === 'emails' ? withAddress(value) : foundBy(name, value, request.connection)),
        'groups',
      );
      const own = { connectionId: request.connection.id, deletedAt: null };
      return pageOf({
        filter: rest,
        place,
        places,
        list: JSON.stringify([own, where]),
        // With the time, SQLite counts the entries of that index, which has no deleted ones, without their rows.
        count: () => db.scimUser.count({ where: { AND: [{ ...own, createdAt: { gte: new Date(0) } }, ...where] } }),
        async markAt(skip) {
          const row = await db.asStored.scimUser.findFirst({
            where: { AND: [own, ...where] },
            orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
            select: { userId: true, createdAt: true },
            skip,
          });
          return row ? { at: row.createdAt, id: row.userId } : undefined;
        },
        read: async (mark, take) => {
          const rows = await db.scimUser.findMany({
            where: { AND: [own, ...where, afterMark(mark, 'userId')] },
            orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
            include: WITH_STATE,
            take,
          });
          return rows.map(shown);
        },
        complete: async (users) => ({ items: await withGroups(users, request, db), isCut: false }),
      });
    },

    /** Deletes the accounts of those who were deleted long enough ago, and releases those that an administrator has enabled meanwhile. */
    deleteOld: {
      name: 'scim-deletions',
      everySeconds: 3600,
      async run(signal) {
        const before = new Date(now().getTime() - limits.scim.keepDeletedDays * DAY_MS);
        const failed: string[] = [];
        while (!signal.aborted && failed.length < DELETED) {
          const isDue = [{ deletedAt: { lt: before } }, { user: { isEnabled: true } }];
          const where = { deletedAt: { not: null }, OR: isDue, userId: { notIn: failed } };
          const rows = await db.scimUser.findMany({ where, take: DELETED, include: { connection: true } });
          for (const { userId, connection } of rows)
            await transaction(db, async (tx) => {
              const by = { scim: { id: connection.id, name: connection.name } };
              const leaver = await lockedLeaver(userId, tx);
              if (leaver?.account) await removeAccount(services, userId, by, tx);
              else if (leaver) await release(userId, tx);
            }).catch((err: unknown) => {
              if (unavailableIn(err)) throw err;
              // The others are not to wait for it; the next turn of the job tries again.
              failed.push(userId);
              logger.error({ err, userId }, 'a user whom the directory deleted was not deleted');
            });
          if (rows.length < DELETED) return;
        }
      },
    } satisfies ScheduledJob,

    /** After a change of the domains or mappings of a connection: gives its people what it fills now. After its deletion: releases them. */
    follow: {
      name: 'scim-connections',
      everySeconds: 60,
      async run(signal) {
        for (const id of await scimConnections.removed()) {
          if (!(await releaseAll(id, signal))) return;
          await scimConnections.forget(id);
        }
        for (const connection of await scimConnections.unapplied()) if (!(await fillAll(connection, signal))) return;
      },
    } satisfies ScheduledJob,

    /** The ids that are people of this connection. */
    async known(ids: readonly string[], { connection }: ScimRequest, tx: Tx): Promise<Set<string>> {
      const where = { connectionId: connection.id, deletedAt: null, userId: { in: [...ids] } };
      const rows = await tx.scimUser.findMany({ where, select: { userId: true } });
      return new Set(rows.map(({ userId }) => userId));
    },
  };
}

const TAKEN = 'Another account has this username or email address.';

/** The client only sees them. */
const isReadOnly = (account: Account): boolean => isStaff(account) || account.source === 'file';

/** Enabled here after the deletion, or with permissions: an administrator keeps the person. */
const isKept = (leaver: Account): boolean => leaver.isEnabled || isReadOnly(leaver);

const unknown = () => notFound({ message: 'This connection has no such user.', next: { href: '/', label: '' } });

export const sourceOf = ({ id }: ScimConnection): `scim:${string}` => `scim:${id}`;

/** What an index finds for an attribute that is equal to the text. */
function foundBy(name: string, value: string, connection: ScimConnection): object | undefined {
  if (name === 'externalId') return { externalId: value };
  if (name === 'id') return { userId: value };
  const key = nameKey(value);
  if (name === 'userName') return { user: { usernameKey: key } };
  if (name === 'displayName') return { user: { nameKey: key } };
  return name === 'groups'
    ? { user: { groups: { some: { groupId: value, source: sourceOf(connection) } } } }
    : undefined;
}

/** As JSON, without the groups, and without `active` unless the directory disabled the person. */
function contentOf(values: Values): string {
  const { active, groups: _groups, ...content } = toJson(values);
  return JSON.stringify({ ...content, ...(active === false && { active }) });
}

/** Throws invalidValue for a missing userName, and for a new one that may be the address of another person. */
function assertUserName(values: Complex, connection: ScimConnection, before?: Complex): void {
  const username = textAt(values, 'userName')?.normalize('NFC').trim() ?? '';
  if (username === '') throw scimError('invalidValue', 'userName is missing.');
  if (before && textAt(before, 'userName') === textAt(values, 'userName')) return;
  const email = firstOf(values, 'emails', ['work'])?.get('value');
  const isOwn = typeof email === 'string' && nameKey(email) === nameKey(username);
  if (username.includes('@') && !isOwn && !isInOwned(username, connection))
    throw scimError('invalidValue', 'A userName with @ is the email address of the user, or in owned_domains.');
}

const addressKeys = (values: Complex): string[] => [
  ...new Set(
    listOf(values.get('emails')).flatMap((one) => {
      const value = one.get('value');
      return typeof value === 'string' ? textKey(value) : [];
    }),
  ),
];

/** The first value of a list: the one that is marked so, else one of these kinds, else any. */
function firstOf(values: Complex, name: string, types: readonly string[]): Complex | undefined {
  const list = listOf(values.get(name));
  const ofType = (type: string) => list.find((one) => String(one.get('type')).toLowerCase() === type);
  const typed = types.map(ofType).find((one) => one !== undefined);
  return list.find((one) => one.get('primary') === true) ?? typed ?? list[0];
}

const isInOwned = (email: string | null | undefined, { owned_domains: owned }: ScimConnection): boolean =>
  Boolean(email) && owned.includes(domainOf(email ?? ''));

type ScimProfile = Profile & { attributes?: Record<string, string | boolean | null> };

/** What the attributes mean for the account. */
function profileOf(values: Complex, connection: ScimConnection): ScimProfile {
  const email = firstOf(values, 'emails', ['work'])?.get('value');
  const address = firstOf(values, 'addresses', ['work']);
  const username = (textAt(values, 'userName') ?? '').normalize('NFC').trim();
  const verified = typeof email === 'string' && isInOwned(email, connection);
  const part = (name: string) => (address ? textAt(address, name) : undefined);
  return {
    username,
    email: typeof email === 'string' ? email : null,
    emailVerified: verified,
    emailProven: verified,
    ...textFieldsOf(values),
    phoneNumber: phoneOf(values),
    address: address
      ? {
          formatted: part('formatted'),
          street_address: part('streetAddress'),
          locality: part('locality'),
          region: part('region'),
          postal_code: part('postalCode'),
          country: part('country'),
        }
      : null,
    attributes: Object.fromEntries(
      Object.entries(connection.mappings.attributes).map(([field, path]) => [field, valueAt(values, path)]),
    ),
  };
}

/** The fields that are texts: each has the first of its attributes with a value. */
function textFieldsOf(values: Complex): Record<string, string | null> {
  const fields: Record<string, string | null> = {};
  for (const [field, { scim: paths, kind }] of Object.entries(textFields)) {
    if (!paths) continue;
    const given = paths.map((path) => textAt(values, ...path.split('.')) ?? null);
    const usable = kind === 'language' ? given.map(localeOf) : given;
    fields[field] = usable.find((value) => value !== null) ?? null;
  }
  return fields;
}

/** The first language of an Accept-Language (RFC 7643 4.1.1) that is one. */
function localeOf(text: string | null): string | null {
  const [first = ''] = (text ?? '').split(/[,;]/);
  return languageTag(first.trim()) === undefined ? null : first.trim();
}

function phoneOf(values: Complex): string | null {
  const phone = firstOf(values, 'phoneNumbers', ['work', 'mobile'])?.get('value');
  return typeof phone === 'string' ? phone : null;
}

/** The value of a mapped attribute; of a list the first one that fits. */
function valueAt(values: Complex, path: string): string | boolean | null {
  const { attribute, sub, filter } = parsePath(path, userType);
  const value = values.get(attribute.name);
  const parts = value instanceof Map ? [value as Complex] : listOf(value);
  if (!attribute.multiValued && sub === undefined)
    return typeof value === 'string' || typeof value === 'boolean' ? value : null;
  const fitting = parts.find((one) => !filter || fits(filter, one));
  const found = fitting?.get(sub?.name ?? 'value');
  // The manager is an object with an identifier.
  const simple = found instanceof Map ? (found as Complex).get('value') : found;
  return typeof simple === 'string' || typeof simple === 'boolean' ? simple : null;
}

/** What the connection fills and the account lacks, such as after a change of its domains or mappings; undefined: nothing. */
function missingIn(account: Account, values: Complex, { connection }: ScimRequest) {
  const profile = profileOf(values, connection);
  const missing = isReadOnly(account) ? {} : differenceOf(account, profile, profile);
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** Changed together: an address that changes alone loses its verification, and a username that is the address follows it. */
const SIGN_IN_NAMES = ['username', 'email', 'emailVerified', 'emailProven'];

/**
 * The changes of the account: the fields of `after` that differ from `before`; and of those that the directory alone fills, own fields and the
 * verification of the address, also what the account lacks.
 */
function differenceOf(
  { email, emailVerified, emailProven, attributes }: Account,
  before: ScimProfile,
  after: ScimProfile,
) {
  const old = before as unknown as Record<string, unknown>;
  const fields = Object.entries(after).filter(([name]) => name !== 'attributes');
  const isOther = ([name, value]: [string, unknown]) => JSON.stringify(old[name]) !== JSON.stringify(value);
  const names = new Set(fields.filter(isOther).map(([name]) => name));
  const isUnverified =
    after.emailVerified && isSameAddress(email, after.email ?? null) && !(emailVerified && emailProven);
  if (isUnverified || SIGN_IN_NAMES.some((name) => names.has(name))) for (const name of SIGN_IN_NAMES) names.add(name);
  const own = Object.entries(after.attributes ?? {}).filter(([name, value]) => {
    const wasGiven = (before.attributes?.[name] ?? null) !== null;
    return value === null ? wasGiven : attributes[name] !== value;
  });
  return {
    ...(Object.fromEntries(fields.filter(([name]) => names.has(name))) as Partial<Profile>),
    ...(own.length > 0 && { attributes: withFields(own) }),
  };
}

/** A change of an account's own fields, which sets these; null empties a field. */
const withFields = (given: readonly [string, string | boolean | null][]) => (all: Account['attributes']) =>
  Object.fromEntries(Object.entries({ ...all, ...Object.fromEntries(given) }).filter(([, value]) => value !== null));

async function changedBy(values: Values, steps: readonly Step[]): Promise<Values> {
  for await (const step of inTurns(steps, STEPS)) applyStep(values, step);
  return values;
}

/** The schemas of a person: that of a company only where there are such attributes. */
export const schemasOf = (values: Complex): string[] => (values.has(ENTERPRISE) ? [USER, ENTERPRISE] : [USER]);
