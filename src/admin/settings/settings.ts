// Settings: those of the configuration file are read-only, secrets are written and never read back, and each change is audited with the value
// before and after. /api/admin/settings, and /api/admin/configuration: everything as a configuration file.
import { z } from 'zod';
import { imageLimits } from '../../applications/brand/limits.ts';
import { isPicturePath, pictureNames, picturesIn, withStoredPictures } from '../../applications/brand/pictures.ts';
import { forbidden, invalidInput } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { inNetworks } from '../../base/network/networks.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { at, type Fault, fault } from '../../base/texts/faults.ts';
import { differingTexts, type TextValues, textFaults } from '../../base/texts/overrides.ts';
import { t } from '../../base/texts/text.ts';
import type { Plan } from '../../config-file/config-file.ts';
import { exportConfiguration, exportedConfiguration } from '../../config-file/export.ts';
import type { Declared } from '../../config-file/schema.ts';
import type { Actor } from '../../core/audit/audit.ts';
import {
  type SettingEntry,
  type SettingName,
  type SettingValues,
  settingNames,
  settingSchemas,
  withoutSecrets,
  withStoredSecrets,
} from '../../core/settings/settings.ts';
import { termsFaults, termsSettings } from '../../people/accounts/terms.ts';
import type { Authority } from '../../people/rbac/authority.ts';
import { oneOf } from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { patchOf } from '../api/parts.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { settingPermission } from './setting-tabs.ts';

const READS_EVERY_SECTION = [
  'gatehouse.settings:read',
  'gatehouse.applications:read',
  'gatehouse.connections:read',
  'gatehouse.roles:read',
  'gatehouse.users:read',
] as const;

/** The first is the default. */
const EXPORTS = ['application/yaml', 'application/json'] as const;

const setting = z
  .object({ name: z.string(), value: z.json(), source: z.enum(['default', 'local', 'file']) })
  .meta({ id: 'Setting' });
const settingList = z.object({ items: z.array(setting) });

const step = z.object({
  section: z.string(),
  name: z.string(),
  fields: z.array(z.object({ field: z.string(), from: z.json().optional(), to: z.json().optional() })),
});
const plan = z.object({
  create: z.array(step),
  change: z.array(step),
  delete: z.array(step),
  unchanged: z.int(),
  warnings: z.array(z.string()),
});

/** /settings. */
export function settingEndpoints(settings: SettingAdmin): Endpoint[] {
  const listed = (items: Awaited<ReturnType<SettingAdmin['list']>>) => ({
    body: {
      items: items.map((entry) => ({ ...entry, value: (entry.value ?? null) as z.output<typeof setting>['value'] })),
    },
    version: items,
  });

  return [
    endpoint('listSettings', 'GET /settings', {
      tag: 'Settings',
      needs: ['gatehouse.settings:read'],
      summary: 'Every setting and its source',
      response: settingList,
      versioned: 'shows',
      handle: async () => listed(await settings.list()),
    }),
    endpoint('updateSettings', 'PATCH /settings', {
      tag: 'Settings',
      needs: [oneOf('gatehouse.settings:write', 'gatehouse.settings:write-security')],
      summary: 'Changes the given settings; null resets one to its default',
      description:
        'A secret that is left out stays as it is, unless the URL that it belongs to has another origin. Settings that protect the server take gatehouse.settings:write-security, the others gatehouse.settings:write. Send a picture of the brand as a data URL; responses have the name under which it is stored.',
      body: patchOf(z.strictObject(settingSchemas)),
      maxBodyBytes: imageLimits.requestBytes,
      response: settingList,
      versioned: 'changes',
      handle: async ({ body, by, version }) => listed(await settings.update(body as SettingChanges, by, version)),
    }),
  ];
}

/** /configuration and /configuration/plan. */
export function configurationEndpoints(configuration: ConfigurationAdmin): Endpoint[] {
  return [
    endpoint('planConfiguration', 'POST /configuration/plan', {
      tag: 'Settings',
      // The plan compares every section with the file, also one that the file leaves out: what the file owned would be deleted.
      needs: ['gatehouse.settings:write', ...READS_EVERY_SECTION],
      summary: 'What applying a configuration file would change; changes nothing',
      description: 'Of a password, hash, TOTP secret, client secret or token it says only that it would be set.',
      accepts: 'application/yaml',
      body: z.string(),
      maxBodyBytes: limits.configuration.bodyBytes,
      response: plan,
      streams: ['application/json'],
      handle: async ({ body }) => ({
        stream: planText(await configuration.plan(body)),
        type: 'application/json; charset=utf-8',
      }),
    }),
    endpoint('exportConfiguration', 'GET /configuration', {
      tag: 'Settings',
      needs: READS_EVERY_SECTION,
      summary: 'Everything as a configuration file, secrets left out',
      description: 'YAML unless the Accept header prefers JSON. Gatehouse reads a file of either form.',
      streams: EXPORTS,
      async handle({ ctx }) {
        ctx.vary('Accept');
        // A caller that accepts neither gets the default (RFC 9110 12.4.1).
        const isJson = ctx.accepts(...EXPORTS) === 'application/json';
        return {
          stream: asStream(isJson ? configuration.exportJson : configuration.export),
          type: isJson ? 'application/json; charset=utf-8' : 'application/yaml',
          fileName: isJson ? 'gatehouse.json' : 'gatehouse.yaml',
        };
      },
    }),
  ];
}

/** The plan as JSON of the schema above, a few steps at a time: that of thousands of users has megabytes. */
async function* planText({ steps, unchanged, warnings }: Plan): AsyncGenerator<string> {
  yield '{';
  for (const kind of ['create', 'change', 'delete'] as const) {
    let separator = `"${kind}":[`;
    for await (const { section, name, fields } of inTurns(steps.filter((one) => one.kind === kind))) {
      yield `${separator}${JSON.stringify({ section, name, fields })}`;
      separator = ',';
    }
    yield separator === ',' ? '],' : `${separator}],`;
  }
  yield `"unchanged":${unchanged},"warnings":${JSON.stringify(warnings)}}`;
}

async function* asStream(make: () => Promise<string>): AsyncGenerator<string> {
  yield await make();
}

// The configuration file through the API: the plan of applying one, and the export of the server as one.

type ConfigurationAdmin = ReturnType<typeof createConfigurationAdmin>;

/** Plans and exports; never applies a file. */
export function createConfigurationAdmin(services: AdminServices) {
  return {
    export: () => exportConfiguration(services),
    /** Hands entries of the file back. */
    release: services.configFile.release,
    /** The same as JSON. */
    exportJson: async (): Promise<string> => JSON.stringify(await exportedConfiguration(services)),

    /** Hides secrets (`PlanOptions`). Throws invalid_input with the line and column of every fault. */
    async plan(text: string): Promise<Plan> {
      const parsed = await services.fileReader.read(text);
      const named = filesNamedIn(parsed.declared);
      const faults = named.length > 0 ? await parsed.locate(named) : parsed.faults;
      if (faults.length > 0) throw invalidInput(faults);
      const result = await services.configFile.plan({ ...parsed, path: '' }, { hidesSecrets: true });
      if (result.ok) return result.plan;
      throw invalidInput(result.faults);
    },
  };
}

/** A fault for each file that the configuration names: the plan would read it on this server. */
function filesNamedIn({ settings, ...declared }: Declared): Fault[] {
  const faults: Fault[] = [];
  for (const section of ['service_providers', 'connections'] as const)
    for (const [at, entry] of declared[section].entries())
      if ('metadata_file' in entry && entry.metadata_file !== undefined)
        faults.push(fault([section, at, 'metadata_file'], 'no-metadata-file'));
  for (const section of ['clients', 'service_providers', 'proxied_applications'] as const)
    for (const [at, { provision }] of declared[section].entries())
      if (provision?.token_file !== undefined)
        faults.push(fault([section, at, 'provision', 'token_file'], 'for-file', { key: 'token' }));
  for (const [at, { token_file: file }] of declared.scim.entries())
    if (file !== undefined) faults.push(fault(['scim', at, 'token_file'], 'for-file', { key: 'token' }));
  for (const [at, { secret_file: file }] of declared.event_streams.entries())
    if (file !== undefined) faults.push(fault(['event_streams', at, 'secret_file'], 'for-file', { key: 'secret' }));
  for (const { path, value } of picturesIn(structuredClone(settings)))
    if (isPicturePath(value)) faults.push(fault(['settings', ...path], 'picture-path'));
  return faults;
}

const MAX_FAULTS = 20;

export type SettingAdmin = ReturnType<typeof createSettingAdmin>;

export type SettingChanges = { [Name in SettingName]?: SettingValues[Name] | null };

/** Changes throw StepUpNeeded, forbidden, owned_by_file for a setting of the configuration file, and precondition_failed for another version. */
export function createSettingAdmin(services: AdminServices) {
  const { db, audit, settings, authority, brandImages, inactivity } = services;

  async function change(name: SettingName, before: SettingEntry, value: unknown, by: Actor, tx: Tx): Promise<void> {
    if (before.source === 'file') {
      throw forbidden('owned_by_file', { message: t('console.settings.in-file', { name }) });
    }
    const after = withStoredSecrets(name, before.value, value);
    if (JSON.stringify(after) === JSON.stringify(before.value)) return;
    if (name === 'mail_server') assertPassword(after as SettingValues['mail_server'] | null);
    assertFreshProof(by, 'settings.change');
    if (after === null) await settings.unset(name, tx);
    else await settings.set<SettingName>(name, after as SettingValues[SettingName], { tx });
    const data = name === 'texts' ? changedTexts(before.value, after) : valuesForAudit(name, before.value, after);
    await audit.record({ ...by, type: 'setting.changed', outcome: 'success', data: { setting: name, ...data } }, tx);
  }

  return {
    list: (): Promise<SettingEntry[]> => settings.list(),

    /** Lets so many unused accounts be warned, disabled and deleted as the last run found. */
    async approveUnused(by: Actor): Promise<void> {
      await assertMayChange(authority, 'inactive_after_days', by);
      assertFreshProof(by, 'settings.change');
      await inactivity.approve(by);
    },

    /** null resets a setting to its default. A secret that is left out of a value stays, unless its URL has another origin. */
    async update(wanted: SettingChanges, by: Actor, expected: Expected = 'any'): Promise<SettingEntry[]> {
      // Also for a value that is the stored one: the answer must not tell whether a guessed secret is right.
      for (const name of settingNames) if (wanted[name] !== undefined) await assertMayChange(authority, name, by);
      assertOwnAddressAllowed(wanted, by);
      assertUsableTexts(wanted, await settings.get('texts'));
      const {
        values: changes,
        images,
        faults,
      } = await withStoredPictures(wanted, brandImages, pictureNames(await settings.reload()));
      if (faults.length > 0) throw invalidInput(faults);
      await transaction(db, async (tx) => {
        // A lock: the version that is compared must be the one that is changed.
        await settings.lock(tx);
        assertVersion(expected, await settings.list());
        for (const { image } of images) await brandImages.save(tx, image);
        const stored = await settings.list({ withSecrets: true });
        assertTerms(stored, changes);
        for (const name of settingNames) {
          const [value, before] = [changes[name], stored.find((entry) => entry.name === name)];
          if (value !== undefined && before) await change(name, before, value, by, tx);
        }
      });
      await settings.reload();
      return settings.list();
    },
  };
}

const valuesForAudit = (name: SettingName, before: unknown, after: unknown) => ({
  before: withoutSecrets(name, before),
  after: withoutSecrets(name, after),
});

/** Only the texts that differ: all of them are too many for each entry. */
function changedTexts(before: unknown, after: unknown) {
  const [old, now] = [(before ?? {}) as TextValues, (after ?? {}) as TextValues];
  return { before: differingTexts(old, now), after: differingTexts(now, old) };
}

function assertUsableTexts({ texts }: SettingChanges, before: TextValues): void {
  const faults = textFaults(texts ?? {}, before).slice(0, MAX_FAULTS);
  if (faults.length > 0) throw invalidInput(at(['texts'], faults));
}

/** A server with a user name and without the password rejects all mail. The configuration file may leave it out (config-file/export.ts). */
function assertPassword(server: SettingValues['mail_server'] | null): void {
  if (server?.username === undefined || server.password !== undefined) return;
  throw invalidInput([fault(['mail_server', 'password'], 'mail-password')]);
}

function assertTerms(stored: readonly SettingEntry[], changes: SettingChanges): void {
  if (termsSettings.every((name) => changes[name] === undefined)) return;
  const after = stored.map(({ name, value }) => [
    name,
    (changes[name] === undefined ? value : changes[name]) ?? undefined,
  ]);
  const faults = termsFaults(Object.fromEntries(after) as SettingValues);
  if (faults.length > 0) throw invalidInput(faults);
}

async function assertMayChange(authority: Authority, name: SettingName, by: Actor) {
  const permission = settingPermission(name);
  if ((await authority.extent(by, permission)) === 'all') return;
  throw forbidden('forbidden', {
    message: t('console.settings.missing-permission', { name, permission }),
    detail: { missing: permission },
  });
}

/** An administrator who denies their own address could not undo it. */
function assertOwnAddressAllowed({ denied_networks: networks }: SettingChanges, { request }: Actor): void {
  if (!networks || !request || !inNetworks(networks)(request.address)) return;
  throw invalidInput([fault(['denied_networks'], 'own-address', { address: request.address })]);
}
