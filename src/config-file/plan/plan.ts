// Plans the configuration file: each section against what is stored, and the order of the steps.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Application, UnreadableApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Applications } from '../../applications/applications.ts';
import { ImageError } from '../../applications/brand/images/image-error.ts';
import { unknownBrandApplications } from '../../applications/brand/unknown-applications.ts';
import { ConfigError } from '../../base/config/config-error.ts';
import { inTurns } from '../../base/platform/turns.ts';
import type { Tx } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { defaultSettings, type Settings, type SettingValues } from '../../core/settings/settings.ts';
import type { ParseMetadata } from '../../federation/connections/documents.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { People } from '../../people/people.ts';
import { lookAlike } from '../../people/rbac/names.ts';
import { missingReads, parseLimited } from '../../people/rbac/rights.ts';
import type { Role, Roles } from '../../people/rbac/roles.ts';
import type { SignUpCode, SignUpCodes } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { ConfigurationFile } from '../read-file.ts';
import type { DeclaredRole, DeclaredSettings, DeclaredSignUpCode } from '../schema.ts';
import type { FileFault } from '../yaml.ts';
import { planClients } from './clients.ts';
import { planConnections } from './connections.ts';
import type { EndAllSessions } from './declared-credentials.ts';
import { type MetadataReader, planServiceProviders } from './service-providers.ts';
import { planResources, planSettings } from './settings.ts';
import {
  differences,
  type FieldChange,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  type Step,
  secretChange,
  secretSet,
  takeOver,
} from './steps.ts';
import { planUsers } from './users.ts';

export interface ConfigFileDependencies {
  importHash(userId: string, hash: string, by: Actor, tx: Tx): Promise<void>;
  endAllSessions: EndAllSessions;
  /** Metadata of an upstream identity provider. */
  parseUpstreamMetadata: ParseMetadata;
  /** SAML metadata: its characters, parsing it, and fetching it from a URL. */
  decodeMetadata(octets: Uint8Array): string;
  parseMetadata: MetadataReader['parse'];
  fetchMetadata: MetadataReader['fetch'];
}

export type Plan = { steps: Step[]; unchanged: number; warnings: string[] };
export type PlanResult = { ok: true; plan: Plan } | { ok: false; faults: FileFault[] };

/** What applying the file would do, or what is wrong with it; changes nothing. */
export async function planFile(
  dependencies: Core & People & ApplicationServices & FederationServices & ConfigFileDependencies,
  file: ConfigurationFile,
  options: PlanOptions = {},
): Promise<PlanResult> {
  if (file.faults.length > 0) return { ok: false, faults: file.faults };
  const { applications } = dependencies;
  const { declared, locate } = file;
  const roleRows = await dependencies.roles.list();
  const rolesLeft = new Set([
    ...roleRows.filter(({ source }) => source !== 'file').map(({ name }) => name),
    ...declared.roles.map(({ name }) => name),
  ]);
  const { applications: readable, unreadable } = await applications.readable();
  const stored = new Map(readable.map((application) => [application.clientId, application]));
  const skipped = skippedApplications(unreadable, file);
  const owned = [...stored.values()].filter(({ source }) => source === 'file');

  const identifiers = new Set(stored.keys());
  const sections = await planSections(dependencies, file, { roleRows, rolesLeft, stored, identifiers }, options);
  const gone = owned
    .filter(({ clientId }) => stored.has(clientId))
    .map((application) => {
      identifiers.delete(application.clientId);
      return deletion(applications, application);
    });
  const faults = [
    ...sections.flatMap((planned) => planned.faults),
    ...accessFaults(declared.clients, 'clients', rolesLeft),
    ...accessFaults(declared.service_providers, 'service_providers', rolesLeft),
  ];
  if (faults.length > 0) return { ok: false, faults: await locate(faults) };
  return {
    ok: true,
    plan: {
      steps: inOrder([...sections.flatMap(({ steps }) => steps), ...gone]),
      unchanged: sections.reduce((sum, { unchanged }) => sum + unchanged, 0),
      warnings: [
        ...skipped,
        ...sections.flatMap(({ warnings }) => warnings),
        ...unknownBrandApplications(
          declared.settings.brand_applications,
          (id) => identifiers.has(id) || applications.isReserved(id),
        ),
      ],
    },
  };
}

/** Damaged applications that the file has nothing to do with, as warnings. Throws ConfigError for one that it would change or delete. */
function skippedApplications(unreadable: readonly UnreadableApplication[], { declared }: ConfigurationFile): string[] {
  const names = new Set([
    ...declared.clients.map(({ client_id }) => client_id),
    ...declared.service_providers.map(({ entity_id }) => entity_id),
  ]);
  const needed = unreadable.filter(({ source, clientId }) => source === 'file' || names.has(clientId));
  if (needed.length > 0) throw new ConfigError(needed.map(({ message }) => message));
  return unreadable.map(({ message }) => message);
}

interface StoredState {
  roleRows: Awaited<ReturnType<Roles['list']>>;
  /** The names of all roles once the file is applied. */
  rolesLeft: ReadonlySet<string>;
  /** By client_id or entity ID; the plan of a section removes those that the file declares. */
  stored: Map<string, Application>;
  /** The client IDs and entity IDs of all applications; those that the file declares are added. */
  identifiers: Set<string>;
}

/** The plan of each section of the file, in the order of the sections. */
async function planSections(
  dependencies: Core & People & ApplicationServices & FederationServices & ConfigFileDependencies,
  { declared, path: filePath }: ConfigurationFile,
  { roleRows, rolesLeft, stored, identifiers }: StoredState,
  options: PlanOptions,
): Promise<Planned[]> {
  const { applications, roles, settings } = dependencies;
  const read = fileReader(path.dirname(filePath), options);
  const reader = metadataReader(dependencies, read);
  const clientIds = new Set(declared.clients.map(({ client_id }) => client_id));
  for (const id of clientIds) identifiers.add(id);
  const signingAlgs = await settingAfter('signing_algorithms', declared.settings, settings);
  const forProviders = { ...dependencies, applications, reader, clientIds, entityIds: identifiers };
  const forConnections = { ...dependencies, readFile: reader.readFile, roles: rolesLeft };
  const sections = [
    () => planSettings(declared.settings, { ...dependencies, readImage: imageReader(read) }, options),
    () => planResources(declared.resources, { ...dependencies, signingAlgs }),
    () => planRoles(declared.roles, roleRows, roles),
    () => planClients(declared.clients, stored, { applications, signingAlgs }, options),
    () => planServiceProviders(declared.service_providers, stored, forProviders),
    () => planConnections(declared.connections, forConnections, options),
    async () => {
      const attributeSchema = await settingAfter('user_attributes', declared.settings, settings);
      const usernameDomains = await settingAfter('username_domains', declared.settings, settings);
      const connectionsLeft = new Set([
        ...(await dependencies.connections.list()).flatMap(({ id, source }) => (source === 'file' ? [] : [id])),
        ...declared.connections.map(({ id }) => id),
      ]);
      const forUsers = { ...dependencies, attributeSchema, usernameDomains, connectionsLeft };
      return planUsers(declared.users, rolesLeft, forUsers, options);
    },
    () => planSignUpCodes(declared.sign_up_codes, dependencies.signUpCodes, options),
  ];
  const planned: Planned[] = [];
  for (const planSection of sections) {
    await nextTurn(); // SQLite answers within the turn of the event loop: other requests get theirs between the sections
    planned.push(await planSection());
  }
  return planned;
}

/** Reads what the file in `folder` names. Throws with what `reject` makes of a reason. */
function fileReader(folder: string, { onRead }: PlanOptions) {
  return async (name: string, reject: (reason: string, cause: unknown) => Error): Promise<Buffer> => {
    const file = path.resolve(folder, name);
    const bytes = await readFile(file).catch((cause: unknown) => {
      const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'not readable';
      throw reject(`${file} (${reason})`, cause);
    });
    onRead?.(file, bytes);
    return bytes;
  };
}

function metadataReader(
  dependencies: Pick<ConfigFileDependencies, 'parseMetadata' | 'fetchMetadata' | 'decodeMetadata'>,
  read: ReturnType<typeof fileReader>,
): MetadataReader {
  const { parseMetadata, fetchMetadata, decodeMetadata } = dependencies;
  return {
    parse: parseMetadata,
    fetch: fetchMetadata,
    readFile: async (name) =>
      decodeMetadata(await read(name, (file, cause) => new Error(`cannot be read: ${file}`, { cause }))),
  };
}

/** A picture as a data URL. */
function imageReader(read: ReturnType<typeof fileReader>) {
  return async (name: string): Promise<string> => {
    const bytes = await read(name, (file) => new ImageError(fault([], 'unreadable-file', { file })));
    return `data:;base64,${bytes.toString('base64')}`;
  };
}

function deletion(applications: Applications, { id, clientId, name, protocol }: Application): Step {
  return {
    kind: 'delete',
    section: protocol === 'oidc' ? 'clients' : 'service_providers',
    name: protocol === 'oidc' ? clientId : name,
    fields: [],
    run: (tx) => applications.remove(id, { source: 'file', tx }),
  };
}

/** The value of a setting once the file is applied. */
async function settingAfter<Name extends 'signing_algorithms' | 'user_attributes' | 'username_domains'>(
  name: Name,
  declared: DeclaredSettings,
  settings: Settings,
): Promise<SettingValues[Name]> {
  const wanted = declared[name];
  if (wanted) return wanted as SettingValues[Name];
  const stored = (await settings.list()).find((entry) => entry.name === name);
  return stored && stored.source !== 'file' ? (stored.value as SettingValues[Name]) : defaultSettings[name];
}

function accessFaults(
  entries: readonly { access: 'everyone' | { roles: string[] } }[],
  section: string,
  known: ReadonlySet<string>,
) {
  return entries.flatMap(({ access }, index) =>
    access === 'everyone'
      ? []
      : access.roles
          .filter((role) => !known.has(role))
          .map((role) => fault([section, index, 'access'], 'unknown-role', { roles: role })),
  );
}

// Deleted users and applications free names and addresses for new ones; what other rows refer to is deleted last.
function inOrder(steps: readonly Step[]): Step[] {
  const rank = ({ kind, section }: Step) => {
    if (kind === 'delete') return section === 'roles' || section === 'resources' || section === 'settings' ? 3 : 0;
    return section === 'users' ? 2 : 1;
  };
  return [...steps].sort((a, b) => rank(a) - rank(b));
}

// Plans the roles and their permissions: the file's declarations against the stored ones.

async function planRoles(declared: readonly DeclaredRole[], stored: readonly Role[], roles: Roles): Promise<Planned> {
  const plan = nothingPlanned();
  const remaining = stored.filter(({ source }) => source !== 'file');
  const known = new Set([...declared, ...remaining].map(({ name }) => name));
  const builtInNames = stored.filter(({ source }) => source === 'built-in').map(({ name }) => name);
  const left = new Map(stored.map((role) => [role.name, role]));
  for await (const [index, { name, description, permissions: given }] of inTurns(declared.entries())) {
    const existing = left.get(name);
    left.delete(name);
    if (existing?.source === 'built-in') {
      plan.faults.push(fault(['roles', index, 'name'], 'built-in-role'));
      continue;
    }
    const builtIn = lookAlike(name, builtInNames);
    if (builtIn !== undefined)
      plan.faults.push(fault(['roles', index, 'name'], 'like-built-in-role', { role: builtIn }));
    const permissions = [...new Set(given)].sort();
    for (const [at, permission] of given.entries()) {
      const limit = parseLimited(permission)?.limit;
      if (limit?.kind !== 'role' || known.has(limit.name)) continue;
      plan.faults.push(fault(['roles', index, 'permissions', at], 'unknown-role', { roles: limit.name }));
    }
    for (const { read, neededBy } of missingReads(permissions))
      plan.warnings.push(
        `the role ${name} has ${neededBy.join(', ')} without ${read}: its pages find nothing to act on`,
      );
    const wanted = { description, permissions, source: 'file' as const };
    const before = existing ? { description: existing.description, permissions: existing.permissions } : {};
    const fields = [...differences(before, { description, permissions }), ...takeOver(existing?.source ?? 'file')];
    if (existing && fields.length === 0) {
      plan.unchanged += 1;
      continue;
    }
    const run: Step['run'] = async (tx) => {
      if (existing) await roles.update(name, wanted, {}, tx);
      else await roles.create({ name, ...wanted }, {}, tx);
    };
    plan.steps.push({ kind: existing ? 'change' : 'create', section: 'roles', name, fields, run });
  }
  for (const { name, source } of left.values()) {
    if (source !== 'file') continue;
    const run: Step['run'] = (tx) => roles.remove(name, {}, tx);
    plan.steps.push({ kind: 'delete', section: 'roles', name, fields: [], run });
  }
  return plan;
}

// Plans the codes with which people sign up: the file's declarations against the stored ones.

async function planSignUpCodes(
  declared: readonly DeclaredSignUpCode[],
  codes: SignUpCodes,
  { hidesSecrets = false }: PlanOptions = {},
): Promise<Planned> {
  const plan = nothingPlanned();
  const stored = new Map((await codes.list()).map((code) => [code.name, code]));
  for (const [index, entry] of declared.entries()) {
    const { name, code } = entry;
    const before = stored.get(name);
    stored.delete(name);
    if (!before && code === undefined) {
      plan.warnings.push(`sign-up code ${name} is left out: the file has no code for it, and none is stored`);
      continue;
    }
    const wanted = {
      name,
      code,
      maxUses: entry.max_uses,
      expiresAt: entry.expires_at ? new Date(entry.expires_at) : null,
    };
    const secret: FieldChange[] = [];
    if (code !== undefined && hidesSecrets) secret.push(secretSet('code'));
    else if (code !== undefined) {
      const comparison = await codes.compare(name, code);
      if (comparison === 'taken') plan.faults.push(fault(['sign_up_codes', index, 'code'], 'code-taken'));
      if (comparison !== 'same') secret.push(secretChange('code'));
    }
    const fields = [
      ...differences(before ? fieldsOf(before) : {}, fieldsOf(wanted)),
      ...secret,
      ...(before ? takeOver(before.source) : []),
    ];
    if (fields.length === 0) plan.unchanged += 1;
    else {
      const kind = before ? 'change' : 'create';
      plan.steps.push({ kind, section: 'sign_up_codes', name, fields, run: (tx) => codes.declare(wanted, tx) });
    }
  }
  for (const { name, source } of stored.values()) {
    if (source !== 'file') continue;
    const run: Planned['steps'][number]['run'] = (tx) => codes.removeDeclared(name, tx);
    plan.steps.push({ kind: 'delete', section: 'sign_up_codes', name, fields: [], run });
  }
  return plan;
}

function fieldsOf({ maxUses, expiresAt }: Pick<SignUpCode, 'maxUses' | 'expiresAt'>) {
  return { max_uses: maxUses, expires_at: expiresAt?.toISOString() };
}
