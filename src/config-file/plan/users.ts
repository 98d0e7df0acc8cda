// Plans the users: the file's declarations against the accounts. A declared `sub` finds the account first, so that the file
// can change a username; else the username does. Fields that the file leaves out keep what the user set.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { at } from '../../base/platform/faults.ts';
import { inTurns } from '../../base/platform/turns.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import { type AttributeSchema, attributeFaults } from '../../people/accounts/attributes.ts';
import { nameAdvice, nameKey, usernameFault } from '../../people/accounts/names.ts';
import { type Profile, profileColumns } from '../../people/accounts/profile.ts';
import type { Roles } from '../../people/rbac/roles.ts';
import type { CredentialDependencies } from '../dependencies.ts';
import type { DeclaredUser } from '../schema.ts';
import {
  type CredentialChange,
  credentialChange,
  hiddenCredentialChange,
  rememberedCredentials,
} from './declared-credentials.ts';
import { matchFaults, matchUsers, type StoredUser, storedFor } from './match-users.ts';
import {
  differences,
  type FieldChange,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  type Step,
  takeOver,
} from './steps.ts';
import { profileOf, snakeCase } from './user-profile.ts';

export type UserDependencies = CredentialDependencies & {
  db: Db;
  accounts: Accounts;
  roles: Roles;
  attributeSchema: AttributeSchema;
  usernameDomains: readonly string[];
  /** The identifiers of the connections once the file is applied. */
  connectionsLeft: ReadonlySet<string>;
};

/** Columns that hold JSON. */
const JSON_FIELDS = ['attributes', 'address'];
// Argon2 runs in four threads; more parallel hashes would only wait.
const AT_ONCE = 4;

export async function planUsers(
  declared: readonly DeclaredUser[],
  knownRoles: ReadonlySet<string>,
  dependencies: UserDependencies,
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
      plan.faults.push({ path: ['users', index, 'username'], message: String(nameAdvice('at_sign')) });
  }
  for await (const [index, { entry, existing }] of inTurns(matches.entries())) {
    const fault = ssoFault(entry, existing, dependencies.connectionsLeft);
    if (fault !== undefined) plan.faults.push({ path: ['users', index, 'sso_connection'], message: fault });
  }
  for await (const [index, { attributes = {} }] of inTurns(declared.entries())) {
    for (const { field, message } of attributeFaults(attributes, dependencies.attributeSchema))
      plan.faults.push({ path: ['users', index, ...field.split('.')], message: String(message) });
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
): string | undefined {
  if (!connection) return undefined;
  const ssoId = declared === undefined ? existing?.ssoId : declared;
  if (!ssoId) return 'needs sso_id';
  return connections.has(connection) ? undefined : `connection doesn’t exist: ${connection}`;
}

function createStep(
  entry: DeclaredUser,
  credentials: CredentialChange | undefined,
  dependencies: UserDependencies,
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
  { accounts, roles: assignments, endAllSessions, ssoIds }: UserDependencies,
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
function deleteStep(id: string, username: string, { accounts, endAllSessions, roles }: UserDependencies): Step {
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
