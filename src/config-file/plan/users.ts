// Plans the users: the file's declarations against the accounts. A declared `sub` finds the account first, so that the file
// can change a username; else the username does. Fields that the file leaves out keep what the user set.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import { at, type Fault, fault, textFault } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { Account } from '../../people/accounts/account.ts';
import { type AttributeSchema, attributeFaults } from '../../people/accounts/attributes.ts';
import { nameAdvice, nameKey, usernameFault } from '../../people/accounts/names.ts';
import { type Profile, profileColumns } from '../../people/accounts/profile.ts';
import { addressOf, textFieldNames, textFields } from '../../people/accounts/profile-fields.ts';
import type { People } from '../../people/people.ts';
import type { DeclaredUser } from '../schema.ts';
import {
  type CredentialChange,
  credentialChange,
  type EndAllSessions,
  hiddenCredentialChange,
  rememberedCredentials,
} from './declared-credentials.ts';
import {
  differences,
  type FieldChange,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  type Step,
  takeOver,
} from './steps.ts';

export interface UserDependencies {
  importHash(userId: string, hash: string, by: Actor, tx: Tx): Promise<void>;
  endAllSessions: EndAllSessions;
  attributeSchema: AttributeSchema;
  usernameDomains: readonly string[];
  /** The identifiers of the connections once the file is applied. */
  connectionsLeft: ReadonlySet<string>;
}

/** Columns that hold JSON. */
const JSON_FIELDS = ['attributes', 'address'];
// Argon2 runs in four threads; more parallel hashes would only wait.
const AT_ONCE = 4;

export async function planUsers(
  declared: readonly DeclaredUser[],
  knownRoles: ReadonlySet<string>,
  dependencies: Base & People & FederationServices & UserDependencies,
  { hidesSecrets = false }: PlanOptions = {},
): Promise<Planned> {
  const plan = nothingPlanned();
  const { stored, retired } = await storedFor(declared, dependencies.db);
  const matches = await matchUsers(declared, stored);
  const remembered = hidesSecrets ? new Map() : await rememberedCredentials(dependencies.db);
  for (const { index, faults } of await matchFaults(matches, { roles: knownRoles, retired, stored })) {
    plan.faults.push(...at(['users', index], faults));
  }
  for await (const [index, { entry, existing }] of inTurns(matches.entries())) {
    const email = entry.email === undefined ? existing?.email : entry.email;
    if (usernameFault(entry.username, email, dependencies.usernameDomains) === 'at_sign')
      plan.faults.push(textFault(['users', index, 'username'], nameAdvice('at_sign')));
  }
  for await (const [index, { entry, existing }] of inTurns(matches.entries())) {
    const found = ssoFault(entry, existing, dependencies.connectionsLeft);
    if (found) plan.faults.push(...at(['users', index], [found]));
  }
  for await (const [index, { attributes = {} }] of inTurns(declared.entries())) {
    plan.faults.push(...at(['users', index], attributeFaults(attributes, dependencies.attributeSchema)));
  }
  if (plan.faults.length > 0) return plan;

  const steps = await inBatches(matches, AT_ONCE, async ({ entry, existing }) => {
    const credentials = hidesSecrets
      ? hiddenCredentialChange(entry)
      : await credentialChange(entry, existing, existing && remembered.get(existing.id), dependencies);
    return existing
      ? changeStep(entry, existing, credentials, dependencies)
      : createStep(entry, credentials, dependencies);
  });
  plan.steps.push(...steps.filter((step) => step !== undefined));
  plan.unchanged = declared.length - plan.steps.length;
  const declaredIds = new Set(matches.map(({ existing }) => existing?.id));
  for (const { id, username, source } of stored) {
    if (source === 'file' && !declaredIds.has(id)) plan.steps.push(deleteStep(id, username, dependencies));
  }
  return plan;
}

function ssoFault(
  { sso_id: declared, sso_connection: connection }: DeclaredUser,
  existing: StoredUser | undefined,
  connections: ReadonlySet<string>,
): Fault | undefined {
  if (!connection) return undefined;
  const ssoId = declared === undefined ? existing?.ssoId : declared;
  if (!ssoId) return fault(['sso_connection'], 'needs-key', { key: 'sso_id' });
  return connections.has(connection) ? undefined : fault(['sso_connection'], 'unknown-connection', { id: connection });
}

function createStep(
  entry: DeclaredUser,
  credentials: CredentialChange | undefined,
  dependencies: People & FederationServices,
): Step {
  const profile = profileOf(entry);
  const roles = [...new Set(entry.roles)].sort();
  const fields = [
    ...differences({}, declaredFields({ ...profile, ...connectionChange(entry), active: entry.active, roles })),
    ...(credentials?.fields ?? []),
  ];
  return {
    kind: 'create',
    section: 'users',
    name: entry.username,
    fields,
    async run(tx) {
      const id = entry.sub === undefined ? {} : { id: entry.sub };
      const account = await dependencies.accounts.create(
        { ...profile, ...id, isActive: entry.active, source: 'file' },
        {},
        tx,
      );
      const connectionId = entry.sso_connection;
      await dependencies.ssoIds.set(account, { before: null, connectionId }, {}, tx);
      if (roles.length > 0) await dependencies.roles.setRoles(account.id, roles, {}, tx);
      await credentials?.store(account.id, tx);
    },
  };
}

function changeStep(
  entry: DeclaredUser,
  existing: StoredUser,
  credentials: CredentialChange | undefined,
  {
    accounts,
    roles: assignments,
    endAllSessions,
    ssoIds,
  }: People & FederationServices & { endAllSessions: EndAllSessions },
): Step | undefined {
  const { id } = existing;
  const given = profileOf(entry);
  const roles = [...new Set(entry.roles)].sort();
  const profileChanges = profileDifferences(given, existing);
  const statusChanges = differences(
    { active: existing.isActive, roles: existing.roles },
    { active: entry.active, roles },
  );
  const fields: FieldChange[] = [
    ...profileChanges,
    ...connectionDifferences(entry, existing),
    ...statusChanges,
    ...(credentials?.fields ?? []),
    ...takeOver(existing.source),
  ];
  if (fields.length === 0) return undefined;
  return {
    kind: 'change',
    section: 'users',
    name: entry.username,
    fields,
    async run(tx) {
      const account = await accounts.update(id, { ...given, source: 'file' }, {}, tx);
      await ssoIds.set(account, { before: existing.ssoId, connectionId: entry.sso_connection }, {}, tx);
      await assignments.setRoles(id, roles, {}, tx);
      if (!entry.active) await assignments.assertNotLastAdmin(id, tx);
      const changed = await accounts.setActive(id, entry.active, {}, tx);
      if (changed && !entry.active) await endAllSessions(id, 'account-disabled', {}, tx);
      await credentials?.store(id, tx);
    },
  };
}

/** `sso_connection` where the file declares it. */
function connectionChange({ sso_connection: ssoConnection }: DeclaredUser): { ssoConnection?: string | null } {
  return ssoConnection === undefined ? {} : { ssoConnection };
}

function connectionDifferences(entry: DeclaredUser, { ssoConnection }: StoredUser): FieldChange[] {
  const wanted = connectionChange(entry);
  return 'ssoConnection' in wanted ? differences(declaredFields({ ssoConnection }), declaredFields(wanted)) : [];
}

// A new account may have the same username, but never the same `sub` (retired_subjects).
function deleteStep(
  id: string,
  username: string,
  { accounts, endAllSessions, roles }: People & { endAllSessions: EndAllSessions },
): Step {
  return {
    kind: 'delete',
    section: 'users',
    name: username,
    fields: [],
    async run(tx) {
      await roles.assertNotLastAdmin(id, tx);
      await endAllSessions(id, 'account-deleted', {}, tx);
      await accounts.remove(id, {}, tx);
    },
  };
}

// Both sides in canonical form, and only fields that the file declares.
function profileDifferences(given: Profile, existing: StoredUser): FieldChange[] {
  const emailChanges = given.email !== undefined && nameKey(given.email ?? '') !== nameKey(existing.email ?? '');
  const emailVerified = given.emailVerified ?? (emailChanges ? false : existing.emailVerified);
  const columns: Record<string, unknown> = profileColumns({ ...existing, ...given, emailVerified }, 'any', existing);
  const names = Object.keys(given);
  const pick = (from: Record<string, unknown>) =>
    declaredFields(
      Object.fromEntries(names.map((name) => [name, JSON_FIELDS.includes(name) ? parsed(from[name]) : from[name]])),
    );
  return differences(pick({ ...existing }), pick(columns));
}

function parsed(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}

function declaredFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value]));
}

async function inBatches<In, Out>(
  items: readonly In[],
  size: number,
  work: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  for (let start = 0; start < items.length; start += size) {
    const batch = items.slice(start, start + size);
    results.push(...(await Promise.all(batch.map((item, offset) => work(item, start + offset)))));
    await nextTurn();
  }
  return results;
}

// Finds the account of each declared user: by its `sub`, so that the file can change a username, else by its username.
// Reports conflicts: a subject, name or address that belongs to another account.

type StoredUser = Account & {
  /** The connection at which `ssoId` is the subject. */
  ssoConnection: string | null;
  usernameKey: string;
  emailKey: string | null;
  hash: string | null;
};
type Match = { entry: DeclaredUser; existing: StoredUser | undefined };

/** The accounts that the declaration may touch, and those of its subjects that were retired. */
async function storedFor(declared: readonly DeclaredUser[], db: Db) {
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
  const stored = await inChunks(ids, (piece) => loadUsers(piece, db));
  const retired = await inChunks(subjects, (piece) => db.retiredSubject.findMany({ where: { id: { in: piece } } }));
  return { stored, retired: new Set(retired.map(({ id }) => id)) };
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

async function loadUsers(ids: string[], db: Db): Promise<StoredUser[]> {
  const include = {
    password: { select: { hash: true } },
    roles: { where: { via: '' }, select: { role: { select: { name: true } } } },
    externalIdentities: { select: { connectionId: true, subject: true } },
  };
  const rows = await db.asStored.user.findMany({ where: { id: { in: ids } }, include });
  return rows.map(({ password, roles, attributes, address, externalIdentities: identities, ...row }) => ({
    ...row,
    ssoConnection: identities.find(({ subject }) => subject === row.ssoId)?.connectionId ?? null,
    address: addressOf(address),
    attributes: JSON.parse(attributes) as Record<string, unknown>,
    roles: roles.map(({ role }) => role.name).sort(),
    permissions: [],
    groups: [],
    hash: password?.hash ?? null,
  }));
}

/** The account of each entry, in the order of the file. */
async function matchUsers(declared: readonly DeclaredUser[], stored: readonly StoredUser[]): Promise<Match[]> {
  const bySubject = new Map(stored.map((user) => [user.id, user]));
  const byName = new Map(stored.map((user) => [user.usernameKey, user]));
  const matches: Match[] = [];
  for await (const entry of inTurns(declared)) {
    const bySub = entry.sub === undefined ? undefined : bySubject.get(entry.sub);
    matches.push({ entry, existing: bySub ?? byName.get(nameKey(entry.username)) });
  }
  return matches;
}

type Known = { roles: ReadonlySet<string>; retired: ReadonlySet<string>; stored: readonly StoredUser[] };

/** The conflicts of each entry; `index` is its position in the file. */
async function matchFaults(
  matches: readonly Match[],
  { roles, retired, stored }: Known,
): Promise<{ index: number; faults: Fault[] }[]> {
  const first = new Map<string, number>();
  for (const [index, { existing }] of matches.entries()) {
    if (existing && !first.has(existing.id)) first.set(existing.id, index);
  }
  // Only accounts that stay: those that the file no longer declares are deleted first, which frees their names.
  const staying = stored.filter(({ id, source }) => source !== 'file' || first.has(id));
  const byName = new Map(staying.map((user) => [user.usernameKey, user]));
  const byEmail = new Map(staying.flatMap((user) => (user.emailKey ? [[user.emailKey, user] as const] : [])));

  const found: { index: number; faults: Fault[] }[] = [];
  for await (const [index, { entry, existing }] of inTurns(matches.entries())) {
    const faults: Fault[] = [];
    for (const role of entry.roles)
      if (!roles.has(role)) faults.push(fault(['roles'], 'unknown-role', { roles: role }));
    if (entry.sub !== undefined && retired.has(entry.sub)) faults.push(fault(['sub'], 'deleted-subject'));
    if (entry.sub !== undefined && existing && existing.id !== entry.sub) {
      faults.push(fault(['sub'], 'other-subject', { account: entry.username }));
    }
    const before = existing ? first.get(existing.id) : undefined;
    if (before !== undefined && before !== index)
      faults.push(fault(['username'], 'same-account', { where: `users[${before}]` }));
    const namesake = byName.get(nameKey(entry.username));
    if (namesake && namesake.id !== existing?.id)
      faults.push(fault(['username'], 'username-of-other', { account: namesake.username }));
    const addressee = byEmail.get(nameKey(entry.username));
    if (addressee && addressee.id !== existing?.id)
      faults.push(fault(['username'], 'email-of-other', { account: addressee.username }));
    const bearer = entry.email ? byName.get(nameKey(entry.email)) : undefined;
    if (bearer && bearer.id !== existing?.id)
      faults.push(fault(['email'], 'username-of-other', { account: bearer.username }));
    const holder = entry.email ? byEmail.get(nameKey(entry.email)) : undefined;
    if (holder && holder.id !== existing?.id)
      faults.push(fault(['email'], 'email-of-other', { account: holder.username }));
    found.push({ index, faults });
  }
  return found;
}

// Maps the profile of a declared user to the fields of an account, and back.

/** The profile of an entry, without the fields that it leaves out. */
export function profileOf(entry: DeclaredUser): Profile {
  const { username } = entry;
  const texts = textFieldNames.map((field) => [field, entry[textFields[field].claim]] as const);
  const profile: Partial<Profile> = {
    ...Object.fromEntries(texts),
    email: entry.email,
    emailVerified: entry.email_verified,
    phoneNumber: entry.phone_number,
    address: entry.address,
    ssoId: entry.sso_id,
    attributes: entry.attributes,
  };
  const given = Object.entries(profile).filter(([, value]) => value !== undefined);
  return { username, ...(Object.fromEntries(given) as Partial<Profile>) };
}

/** `givenName` -> `given_name`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
