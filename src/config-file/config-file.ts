// Plans and applies the configuration file. The file owns what it declares: rows that it no longer declares are deleted;
// rows created elsewhere stay unless it declares them, too. Applying it twice changes nothing.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { UnreadableApplication } from '../applications/application.ts';
import { unknownBrandApplications } from '../applications/brand/unknown-applications.ts';
import { ConfigError } from '../base/config/config-error.ts';
import { AppError } from '../base/http/errors.ts';
import { sha256 } from '../base/platform/random.ts';
import { isUniqueConstraintError, type Tx, transaction } from '../base/storage/database.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { AuditEventType } from '../core/audit/events.ts';
import type { Core } from '../core/core.ts';
import { defaultSettings, type SettingName, type SettingValues } from '../core/settings/settings.ts';
import { namedAsClaims } from '../people/accounts/attributes.ts';
import { isApplied, rememberApplied, stateOf } from './applied.ts';
import {
  type ConfigFileServices,
  isTakeOver,
  type Planned,
  type Planning,
  type PlanOptions,
  type Step,
} from './planning.ts';
import type { ConfigurationFile } from './read-file.ts';
import { clientOf, entriesOfFile, type FileEntry, releaseEntries } from './release.ts';
import { planClients, planServiceProviders, planWebsites } from './sections/applications.ts';
import { planConnections } from './sections/connections.ts';
import { forgetDeleted } from './sections/declared-credentials.ts';
import { planEventStreams } from './sections/event-streams.ts';
import { groupNamesAfter, planGroups } from './sections/groups.ts';
import { planResources } from './sections/resources.ts';
import { planRoles } from './sections/roles.ts';
import { planScim } from './sections/scim.ts';
import { planSettings } from './sections/settings.ts';
import { planSignUpCodes } from './sections/sign-up-codes.ts';
import { planUsers } from './sections/users.ts';
import type { FileFault } from './yaml.ts';

export type ConfigFile = ReturnType<typeof createConfigFile>;
export type Plan = { steps: Step[]; unchanged: number; warnings: string[] };
export type PlanResult = { ok: true; plan: Plan } | { ok: false; faults: FileFault[] };

/** In the order of the plan. */
const planners = [
  planSettings,
  planRoles,
  planGroups,
  planResources,
  planClients,
  planServiceProviders,
  planWebsites,
  planConnections,
  planUsers,
  planSignUpCodes,
  planScim,
  planEventStreams,
];

const ATTEMPTS = 4;
// Thousands of users are one transaction.
const APPLY = { timeout: 300_000 };

/** Planning and applying a file that was read. */
export function createConfigFile(services: ConfigFileServices) {
  return {
    /** What applying the file would do; changes nothing. */
    plan: (file: ConfigurationFile, options?: PlanOptions): Promise<PlanResult> => planFile(services, file, options),
    /** The same, and throws what applying it would throw: the steps run in a transaction that is rolled back. */
    tryOut: (file: ConfigurationFile): Promise<PlanResult> => tryOut(services, file),
    /** Plans and applies in one transaction; retries when another instance did the same in between. */
    apply: (file: ConfigurationFile): Promise<PlanResult> => applyFile(services, file),
    /** Everything that the file owns. */
    entries: (): Promise<FileEntry[]> => entriesOfFile(services),
    /** Hands these back, all or none. Throws not_found for one that the file does not own. */
    release: (entries: readonly FileEntry[], by: Actor): Promise<void> => releaseEntries(services, entries, by),
    /** Whether applying the file at this path would change nothing, without reading it. False where only a plan can tell. */
    isApplied: (file: string): Promise<boolean> => isApplied(services, file),
  };
}

async function planFile(
  services: ConfigFileServices,
  file: ConfigurationFile,
  { hidesSecrets = false, onRead }: PlanOptions = {},
): Promise<PlanResult> {
  if (file.faults.length > 0) return { ok: false, faults: file.faults };
  const { applications, connections, roles, settings } = services;
  const { declared, locate } = file;
  const { applications: stored, unreadable } = await applications.readable();
  const skipped = skippedApplications(unreadable, file);
  const ofSettings = new Map((await settings.list()).map((entry) => [entry.name, entry]));
  const planning: Planning = {
    ...services,
    declared,
    stored,
    hidesSecrets,
    roleNames: namesAfter(await roles.list(), declared.roles, ({ name }) => name),
    groupNames: await groupNamesAfter(services, declared.groups),
    connectionIds: namesAfter(await connections.list(), declared.connections, ({ id }) => id),
    applicationIds: namesAfter(stored, [], ({ clientId }) => clientId),
    settingAfter<Name extends SettingName>(name: Name) {
      const before = ofSettings.get(name);
      const rest = before && before.source !== 'file' ? before.value : defaultSettings[name];
      return (declared.settings[name] ?? rest) as SettingValues[Name];
    },
    readFile: fileReader(file.path, onRead),
  };
  const sections: Planned[] = [];
  for (const plan of planners) sections.push(await plan(planning));

  const faults = sections.flatMap((planned) => planned.faults);
  if (faults.length > 0) return { ok: false, faults: await locate(faults) };
  const isApplication = (id: string) => planning.applicationIds.has(id) || applications.isReserved(id);
  return {
    ok: true,
    plan: {
      steps: inOrder(sections.flatMap(({ steps }) => steps)),
      unchanged: sections.reduce((sum, { unchanged }) => sum + unchanged, 0),
      warnings: [
        ...skipped,
        ...sections.flatMap(({ warnings }) => warnings),
        ...unknownBrandApplications(declared.settings.brand_applications, isApplication),
        ...namedAsClaims(declared.settings.user_attributes ?? {}),
      ],
    },
  };
}

/** The names that there will be: those that the file declares, and those that it did not declare before. */
function namesAfter<Stored extends { source: string }, Entry>(
  stored: readonly Stored[],
  declared: readonly Entry[],
  nameOf: (one: Stored | Entry) => string,
): Set<string> {
  return new Set([...stored.filter(({ source }) => source !== 'file'), ...declared].map(nameOf));
}

/** Damaged applications that the file has nothing to do with, as warnings. Throws ConfigError for one that it would change or delete. */
function skippedApplications(unreadable: readonly UnreadableApplication[], { declared }: ConfigurationFile): string[] {
  const names = new Set([
    ...declared.clients.map(({ client_id }) => client_id),
    ...declared.service_providers.map(({ entity_id }) => entity_id),
    ...declared.proxied_applications.map(({ url }) => url),
  ]);
  const needed = unreadable.filter(({ source, clientId }) => source === 'file' || names.has(clientId));
  if (needed.length > 0) throw new ConfigError(needed.map(({ message }) => message));
  return unreadable.map(({ message }) => message);
}

/** Reads what the configuration file at `from` names. One that was sent to the API has no path, and reads no file of the server. */
function fileReader(from: string, onRead: PlanOptions['onRead']): Planning['readFile'] {
  return async (name, reject) => {
    if (from === '') throw reject(name, new Error('sent over HTTP'));
    const file = path.resolve(path.dirname(from), name);
    const bytes = await readFile(file).catch((cause: unknown) => {
      const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'not readable';
      throw reject(`${file} (${reason})`, cause);
    });
    onRead?.(file, bytes);
    return bytes;
  };
}

// Deleted users and applications free names and addresses for new ones; what other rows refer to is deleted last.
function inOrder(steps: readonly Step[]): Step[] {
  const rank = ({ kind, section }: Step) => {
    if (kind === 'delete') {
      if (section === 'resources') return 3;
      return section === 'groups' || section === 'roles' || section === 'settings' ? 4 : 0;
    }
    return section === 'users' ? 2 : 1;
  };
  return [...steps].sort((a, b) => rank(a) - rank(b));
}

async function applyFile(services: ConfigFileServices, file: ConfigurationFile): Promise<PlanResult> {
  for (let attempt = 1; ; attempt += 1) {
    const planned = await planAndRemember(services, file);
    if (!planned.ok) return planned;
    if (planned.plan.steps.length === 0) {
      await services.settings.reload(); // another instance may have just applied the file
      return planned;
    }
    try {
      await runSteps(services, planned.plan);
      if (file.text !== undefined) await planAndRemember(services, file); // finds nothing left to do
      return planned;
    } catch (error) {
      // Another instance or an administrator created one of these rows since the plan was made: plan again.
      if (!isConcurrentChange(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Plans the file, and remembers it when nothing is left to do and nothing is to be said about it at each start. */
async function planAndRemember(services: ConfigFileServices, file: ConfigurationFile): Promise<PlanResult> {
  const { text, path } = file;
  if (text === undefined) return planFile(services, file);
  const state = await stateOf(services.db);
  const files: Record<string, string> = {};
  const planned = await planFile(services, file, {
    onRead(name, bytes) {
      files[name] = sha256(bytes);
    },
  });
  const isDone = planned.ok && planned.plan.steps.length === 0 && planned.plan.warnings.length === 0;
  if (isDone) await rememberApplied(services, { text, path }, { files, state });
  return planned;
}

async function runSteps(services: Core, { steps }: Plan): Promise<void> {
  const { db, audit, settings } = services;
  const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  await transaction(
    db,
    async (tx) => {
      await changeAll(services, steps, tx);
      const data = {
        created: count('create'),
        changed: count('change'),
        deleted: count('delete'),
        settings: steps.flatMap(({ section, name, kind, fields }) =>
          section === 'settings' ? [{ name, kind, fields }] : [],
        ),
      };
      await audit.record({ type: 'configuration.applied', outcome: 'success', data }, tx);
    },
    APPLY,
  );
  await settings.reload();
}

async function changeAll({ audit }: Core, steps: readonly Step[], tx: Tx): Promise<void> {
  for (const step of steps) {
    await step.run(tx);
    const { section, name } = step;
    const isChange = step.kind === 'change';
    const data = { section, name, by: 'file' };
    if (isChange && step.fields.some(isTakeOver))
      await audit.record({ type: 'configuration.taken-over', outcome: 'success', ...clientOf(step), data }, tx);
    const type = isChange && step.fields.every(isTakeOver) ? undefined : eventOf(step);
    if (type) await audit.record({ type, outcome: 'success', data: { name, by: 'file' } }, tx);
  }
  const phases = Math.max(0, ...steps.map(({ afterwards = [] }) => afterwards.length));
  for (let phase = 0; phase < phases; phase += 1) for (const step of steps) await step.afterwards?.[phase]?.(tx);
  await forgetDeleted(tx);
}

async function tryOut(services: ConfigFileServices, file: ConfigurationFile): Promise<PlanResult> {
  const planned = await planFile(services, file);
  // What is only created takes nothing from anybody.
  if (!planned.ok || planned.plan.steps.every(({ kind }) => kind === 'create')) return planned;
  const rollback = new Error('rolled back');
  const rolledBack = transaction(
    services.db,
    async (tx) => {
      await changeAll(services, planned.plan.steps, tx);
      throw rollback;
    },
    APPLY,
  );
  await rolledBack.catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
  await services.settings.reload(); // it may have read a value that was rolled back
  return planned;
}

// The other sections are audited by the domains that change them.
function eventOf({ section, kind }: Step): AuditEventType | undefined {
  if (section === 'settings') return 'setting.changed';
  if (section === 'resources')
    return ({ create: 'resource.created', change: 'resource.updated', delete: 'resource.deleted' } as const)[kind];
  if (section === 'sign_up_codes') {
    const types = { create: 'sign-up-code.created', change: 'sign-up-code.updated', delete: 'sign-up-code.revoked' };
    return types[kind] as AuditEventType;
  }
  return undefined;
}

function isConcurrentChange(error: unknown): boolean {
  if (error instanceof AppError)
    return [404, 409].includes(error.status) && !['last_admin', 'group_sensitive'].includes(error.code);
  return isUniqueConstraintError(error) || (error instanceof Error && 'code' in error && error.code === 'P2025'); // gone
}
