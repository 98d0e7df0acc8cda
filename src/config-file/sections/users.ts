// `users`: the accounts. A declared `sub` finds the account first, so that the file can change a username; else the username does. Fields
// that the file leaves out keep what the user set.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import { at, type Fault, fault, textFault } from '../../base/texts/faults.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { isLimited, withState } from '../../people/accounts/active.ts';
import { attributeFaults } from '../../people/accounts/attributes.ts';
import { disableAccount, endByPeriod, removeAccount } from '../../people/accounts/life.ts';
import { nameAdvice, nameKey, usernameFault } from '../../people/accounts/names.ts';
import { profileColumns } from '../../people/accounts/profile.ts';
import { addressOf, textFieldNames, textFields } from '../../people/accounts/profile-fields.ts';
import { retiredIds } from '../../people/accounts/retired.ts';
import { differences, type FieldChange, type Planned, type Planning, planEntries, unknownRoles } from '../planning.ts';
import {
  type DeclaredUser,
  declaredTimed,
  lasting,
  profileOf,
  snakeCase,
  type Timed,
  timed,
  user as userSchema,
  withoutDefaults,
} from '../schema.ts';
import { type CredentialChange, credentialChanges } from './declared-credentials.ts';

/** Columns that hold JSON. */
const JSON_FIELDS = ['attributes', 'address'];
// Argon2 runs in four threads; more parallel hashes would only wait.
const AT_ONCE = 4;

export async function planUsers(planning: Planning): Promise<Planned> {
  const { now, declared, roles } = planning;
  const { users } = declared;
  const { stored, retired } = await storedFor(users, planning);
  const bySubject = new Map(stored.map((user) => [user.id, user]));
  const byName = new Map(stored.map((user) => [user.usernameKey, user]));
  const existingOf = ({ sub, username }: DeclaredUser) =>
    (sub === undefined ? undefined : bySubject.get(sub)) ?? byName.get(nameKey(username));
  const found = { existing: users.map(existingOf), stored, retired };
  const faults = await entryFaults(users, found, planning);
  // No password is hashed for a file that is rejected.
  if (faults.length > 0) return { steps: [], unchanged: 0, faults, warnings: [] };

  const credentialsOf = await credentialChanges(planning);
  return planEntries({
    section: 'users',
    declared: users,
    stored: bySubject,
    nameOf: ({ username }) => username,
    atOnce: AT_ONCE,
    async compare(entry, take, index) {
      const existing = take(found.existing[index]?.id ?? '');
      const credentials = await credentialsOf(entry, existing);
      return {
        name: entry.username,
        fields: [
          ...(existing ? changedFields(entry, existing, now()) : newFields(entry, now())),
          ...(credentials?.fields ?? []),
        ],
        store: (tx) => (existing ? changeUser : createUser)(planning, entry, { existing, credentials, tx }),
      };
    },
    // A new account may have the same username, but never the same `sub` (retired_subjects).
    async remove({ id }, tx) {
      await roles.assertNotLastAdmin(id, tx);
      await removeAccount(planning, id, {}, tx);
    },
  });
}

interface UserChange {
  existing: StoredUser | undefined;
  credentials: CredentialChange | undefined;
  tx: Tx;
}

async function createUser(
  { accounts, now, roles: assignments, ssoIds }: Planning,
  entry: DeclaredUser,
  { credentials, tx }: UserChange,
): Promise<void> {
  const id = entry.sub === undefined ? {} : { id: entry.sub };
  const profile = { ...profileOf(entry), ...id, isEnabled: entry.active, source: 'file' as const };
  const account = await accounts.create(profile, {}, tx);
  await ssoIds.set(account, { before: null, connectionId: entry.sso_connection }, {}, tx);
  if (entry.roles.length > 0) await assignments.setRoles(account.id, rolesOf(entry, now()), {}, tx);
  await credentials?.store(account.id, tx);
}

async function changeUser(
  planning: Planning,
  entry: DeclaredUser,
  { existing, credentials, tx }: UserChange,
): Promise<void> {
  if (!existing) return;
  const { accounts, now, roles: assignments, endSession, ssoIds } = planning;
  const { id, ssoId } = existing;
  const profile = profileOf(entry);
  if (isLimited(profile, now())) await assignments.assertNotLastAdmin(id, tx);
  const account = await accounts.update(id, { ...profile, source: 'file' }, {}, tx);
  await endByPeriod(endSession, id, [withState(existing, now()), account], {}, tx);
  await ssoIds.set(account, { before: ssoId, connectionId: entry.sso_connection }, {}, tx);
  await assignments.setRoles(id, rolesOf(entry, now()), {}, tx);
  if (entry.active) await accounts.setActive(id, true, {}, tx);
  else {
    await assignments.assertNotLastAdmin(id, tx);
    await disableAccount(planning, id, {}, tx);
  }
  await credentials?.store(id, tx);
}

/** The roles that the entry gives now or later. */
const rolesOf = ({ roles }: DeclaredUser, now: Date): Timed[] => lasting(roles.map(timed), now);

const declaredRoles = (roles: readonly Timed[]) =>
  [...roles].sort((a, b) => (a.name < b.name ? -1 : 1)).map((role) => declaredTimed('name', role));

/** `sso_connection` where the file declares it. */
const connectionOf = ({ sso_connection }: DeclaredUser) => (sso_connection === undefined ? {} : { sso_connection });

function newFields(entry: DeclaredUser, now: Date): FieldChange[] {
  const { active } = entry;
  const profile = declaredFields({ ...profileOf(entry) });
  return differences({}, { ...profile, ...connectionOf(entry), active, roles: declaredRoles(rolesOf(entry, now)) });
}

/** Both sides in canonical form, and only fields that the file declares. */
function changedFields(entry: DeclaredUser, existing: StoredUser, now: Date): FieldChange[] {
  const given = profileOf(entry);
  const emailChanges = given.email !== undefined && nameKey(given.email ?? '') !== nameKey(existing.email ?? '');
  const emailVerified = given.emailVerified ?? (emailChanges ? false : existing.emailVerified);
  const columns: Record<string, unknown> = profileColumns({ ...existing, ...given, emailVerified }, 'any', existing);
  const pick = (from: Record<string, unknown>) =>
    declaredFields(
      Object.fromEntries(
        Object.keys(given).map((name) => [name, JSON_FIELDS.includes(name) ? parsed(from[name]) : from[name]]),
      ),
    );
  const connection = connectionOf(entry);
  const { isEnabled, ssoConnection } = existing;
  const roles = declaredRoles(lasting(existing.grants, now));
  const before = { ...('sso_connection' in connection && { sso_connection: ssoConnection }), active: isEnabled, roles };
  return [
    ...differences(pick({ ...existing }), pick(columns)),
    ...differences(before, { ...connection, active: entry.active, roles: declaredRoles(rolesOf(entry, now)) }),
  ];
}

function parsed(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}

function declaredFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value]));
}

type StoredUser = Account & {
  /** The connection at which `ssoId` is the subject. */
  ssoConnection: string | null;
  usernameKey: string;
  emailKey: string | null;
  hash: string | null;
  /** The direct roles, with their times. */
  grants: Timed[];
};

/** The accounts that the declaration may touch, and those of its subjects that were retired. */
async function storedFor(declared: readonly DeclaredUser[], { db, vault, now }: Base) {
  const subjects = declared.flatMap(({ sub }) => sub ?? []);
  const emails: string[] = [];
  const names: string[] = [];
  for await (const { username, email } of inTurns(declared)) {
    names.push(nameKey(username));
    if (email) emails.push(nameKey(email));
  }
  const select = { id: true } as const;
  const touched = [
    await ownedByFile(db),
    await inChunks(names, (piece) => db.asStored.user.findMany({ where: { usernameKey: { in: piece } }, select })),
    await inChunks(emails, (piece) => db.asStored.user.findMany({ where: { emailKey: { in: piece } }, select })),
    // A username may be an address, and must not be that of another account.
    await inChunks(names, (piece) => db.asStored.user.findMany({ where: { emailKey: { in: piece } }, select })),
    await inChunks(emails, (piece) => db.asStored.user.findMany({ where: { usernameKey: { in: piece } }, select })),
    await inChunks(subjects, (piece) => db.asStored.user.findMany({ where: { id: { in: piece } }, select })),
  ];
  const ids = [...new Set(touched.flat().map(({ id }) => id))];
  const stored = await inChunks(ids, (piece) => loadUsers(piece, db, now()));
  const subOf = new Map(subjects.flatMap((sub) => retiredIds(vault, sub).map((id) => [id, sub] as const)));
  const retired = await inChunks([...subOf.keys()], (piece) =>
    db.asStored.retiredSubject.findMany({ where: { id: { in: piece } }, select: { id: true } }),
  );
  return { stored, retired: new Set(retired.map(({ id }) => subOf.get(id) ?? '')) };
}

async function ownedByFile(db: Db): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  for (let piece = [{ id: '' }]; piece.length > 0; ) {
    const after = piece.at(-1)?.id ?? '';
    const where = { source: 'file', id: { gt: after } };
    piece = await db.asStored.user.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: 500 });
    found.push(...piece);
    await nextTurn();
  }
  return found;
}

async function loadUsers(ids: string[], db: Db, now: Date): Promise<StoredUser[]> {
  const include = {
    password: { select: { hash: true } },
    roles: { where: { via: '' }, select: { since: true, until: true, role: { select: { name: true } } } },
    externalIdentities: { select: { connectionId: true, subject: true } },
  };
  const rows = await db.asStored.user.findMany({ where: { id: { in: ids } }, include });
  return rows.map(({ password, roles, attributes, address, externalIdentities: identities, ...row }) => ({
    ...withState(row, now),
    wasUnused: false,
    ssoConnection: identities.find(({ subject }) => subject === row.ssoId)?.connectionId ?? null,
    address: addressOf(address),
    attributes: JSON.parse(attributes) as Record<string, unknown>,
    roles: roles.map(({ role }) => role.name).sort(),
    permissions: [],
    groups: [],
    hash: password?.hash ?? null,
    grants: roles.map(({ role: { name }, since, until }) => ({ name, since, until })),
  }));
}

interface FoundUsers {
  /** The account of each entry, in the order of the file. */
  existing: readonly (StoredUser | undefined)[];
  stored: readonly StoredUser[];
  retired: ReadonlySet<string>;
}

/** The faults of all entries: conflicts with each other and with other accounts, and what a setting does not allow. */
async function entryFaults(
  users: readonly DeclaredUser[],
  { existing, stored, retired }: FoundUsers,
  planning: Planning,
): Promise<Fault[]> {
  const domains = planning.settingAfter('username_domains');
  const schema = planning.settingAfter('user_attributes');
  const first = new Map<string, number>();
  for (const [index, account] of existing.entries())
    if (account && !first.has(account.id)) first.set(account.id, index);
  // Only accounts that stay: those that the file no longer declares are deleted first, which frees their names.
  const staying = stored.filter(({ id, source }) => source !== 'file' || first.has(id));
  const byName = new Map(staying.map((user) => [user.usernameKey, user]));
  const byEmail = new Map(staying.flatMap((user) => (user.emailKey ? [[user.emailKey, user] as const] : [])));

  /** Another account that has the name or the address. */
  const otherWith = (accounts: ReadonlyMap<string, StoredUser>, text: string | null | undefined, id?: string) => {
    const found = text ? accounts.get(nameKey(text)) : undefined;
    return found && found.id !== id ? [{ account: found.username }] : [];
  };

  const faults: Fault[] = [];
  for await (const [index, entry] of inTurns(users.entries())) {
    const { username } = entry;
    const account = existing[index];
    const before = account && first.get(account.id);
    const email = entry.email === undefined ? account?.email : entry.email;
    const breaksAtRule = usernameFault(username, email, domains) === 'at_sign';
    const roleNames = entry.roles.map((role) => timed(role).name);
    const ofEntry = [
      ...unknownRoles(roleNames, planning, ['roles']),
      ...subjectFaults(entry, account, retired),
      ...(before !== undefined && before !== index
        ? [fault(['username'], 'same-account', { where: `users[${before}]` })]
        : []),
      ...otherWith(byName, username, account?.id).map((other) => fault(['username'], 'username-of-other', other)),
      ...otherWith(byEmail, username, account?.id).map((other) => fault(['username'], 'email-of-other', other)),
      ...otherWith(byName, entry.email, account?.id).map((other) => fault(['email'], 'username-of-other', other)),
      ...otherWith(byEmail, entry.email, account?.id).map((other) => fault(['email'], 'email-of-other', other)),
      ...(breaksAtRule ? [textFault(['username'], nameAdvice('at_sign'))] : []),
      ...ssoFaults(entry, account, planning),
      ...attributeFaults(entry.attributes ?? {}, schema),
    ];
    faults.push(...at(['users', index], ofEntry));
  }
  return faults;
}

function subjectFaults(
  { username, sub }: DeclaredUser,
  existing: StoredUser | undefined,
  retired: ReadonlySet<string>,
): Fault[] {
  if (sub === undefined) return [];
  const isOther = existing !== undefined && existing.id !== sub;
  return [
    ...(retired.has(sub) ? [fault(['sub'], 'deleted-subject')] : []),
    ...(isOther ? [fault(['sub'], 'other-subject', { account: username })] : []),
  ];
}

function ssoFaults(
  { sso_id: declared, sso_connection: id }: DeclaredUser,
  existing: StoredUser | undefined,
  { connectionIds }: Planning,
): Fault[] {
  if (!id) return [];
  const ssoId = declared === undefined ? existing?.ssoId : declared;
  if (!ssoId) return [fault(['sso_connection'], 'needs-key', { key: 'sso_id' })];
  return connectionIds.has(id) ? [] : [fault(['sso_connection'], 'unknown-connection', { id })];
}

/** What an entry need not say. */
const defaults = { ...userSchema.parse({ username: 'x' }), email_verified: false, attributes: {} };

/** @param known the names of the roles that this server wrote */
export async function exportUsers(
  { db, now }: Core,
  known: ReadonlySet<string>,
): Promise<(Record<string, unknown> & { username: string })[]> {
  const ids = await db.asStored.user.findMany({ select: { id: true }, orderBy: { usernameKey: 'asc' } });
  const include = {
    roles: { where: { via: '' }, include: { role: { select: { name: true } } } },
    externalIdentities: { select: { connectionId: true, subject: true, userId: true } },
  } as const;
  const rows = await inChunks(ids, (piece) =>
    db.user.findMany({
      where: { id: { in: piece.map(({ id }) => id) } },
      include,
      orderBy: { usernameKey: 'asc' },
    }),
  );
  return rows.map((row) => {
    const grants = row.roles.map(({ role: { name }, since, until }) => ({ name, since, until }));
    const held = lasting(grants, now()).filter(({ name }) => known.has(name));
    const entry = {
      sub: row.id,
      email: row.email,
      email_verified: row.emailVerified,
      ...Object.fromEntries(textFieldNames.map((field) => [textFields[field].claim, row[field]])),
      phone_number: row.phoneNumber,
      address: parsed(row.address),
      sso_id: row.ssoId,
      // None where another program wrote the identity.
      sso_connection: row.externalIdentities.find(({ subject }) => subject === row.ssoId)?.connectionId,
      attributes: JSON.parse(row.attributes),
      active: row.isEnabled,
      active_from: row.activeFrom?.toISOString(),
      active_until: row.activeUntil?.toISOString(),
      roles: declaredRoles(held),
    };
    return { username: row.username, ...withoutDefaults(entry, defaults) };
  });
}
